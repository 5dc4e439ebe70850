"""How far a request names sources and tools."""

from __future__ import annotations

import numpy as np

from callwright.retrieval.namings import (
    NAME_NAMINGS,
    SOURCE_NAMINGS,
    count_holding,
    name_sources,
    name_tools,
    split_name,
)
from callwright.retrieval.terms import query_terms

ORDER = np.array([0, 1, 1])


def _weigh_all_alike(terms: object) -> float:
    return float(len(set(terms)))  # type: ignore[call-overload]


def test_a_term_of_few_sources_weighs_more() -> None:
    weigh = count_holding(100, {"api": 90, "bitli": 1}.get)  # type: ignore[arg-type]
    assert weigh(["bitli"]) > 10 * weigh(["api"]) > 0
    assert weigh(["bitli", "bitli"]) == weigh(["bitli"])


def test_words_in_their_order_are_a_run() -> None:
    clause = query_terms("Show me the link shortener of this page")
    found = name_sources(
        ["hub link shortener", "hub page rank"],
        ORDER,
        frozenset(clause),
        [clause],
        _weigh_all_alike,
    )
    assert set(found) == set(SOURCE_NAMINGS)
    assert found["source_run"].tolist() == [1.0, 0.5, 0.5]
    assert found["source_named"].tolist() == [1.0, 0.5, 0.5]
    assert found["source_lead"].tolist() == [1.0, -1.0, -1.0]
    assert found["sources_named"].tolist() == [1.0, 1.0, 1.0]


def test_a_tool_is_named_by_what_its_source_does_not_say() -> None:
    clauses = [query_terms("the new titles of this week")]
    found = name_tools(
        ["new_titles_for_watch", "seasons_for_watch"], ["hub watch"] * 2, clauses, {}
    )
    assert set(found) == set(NAME_NAMINGS)
    assert found["name_named_clause"].tolist()[1] == 0.0
    assert found["name_run_terms"].tolist() == [2.0, 0.0]


def test_a_name_is_split_as_texts_are() -> None:
    assert split_name("getUserTitles") == split_name("get_user_title")
