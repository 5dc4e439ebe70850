from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.tools.openapi.names import argument_name, tool_name


def test_names_come_from_the_operation_id_or_method_and_path() -> None:
    assert (
        tool_name("get", "/x", {"operationId": "repos/get-content"}, set()) == "repos_get-content"
    )
    assert tool_name("get", "/movie/{id}/keywords", {}, set()) == "get_movie_id_keywords"
    assert tool_name("get", "/", {"operationId": "  "}, set()) == "get"


def test_names_that_collide_are_numbered_in_the_documents_order() -> None:
    taken: set[str] = set()
    ids = ["a/b", "a.b", "a_b"]
    assert [tool_name("get", "/", {"operationId": i}, taken) for i in ids] == [
        "a_b",
        "a_b_2",
        "a_b_3",
    ]


def test_long_names_that_differ_at_their_end_stay_different() -> None:
    taken: set[str] = set()
    names = [tool_name("get", "/", {"operationId": "x" * 80 + end}, taken) for end in "ab"]
    assert len(set(names)) == 2
    assert not any(n.endswith("_2") for n in names)


@settings(deadline=None)
@given(st.lists(st.text(max_size=90), max_size=20))
def test_every_name_is_valid_and_unique(ids: list[str]) -> None:
    taken: set[str] = set()
    names = [tool_name("get", "/p", {"operationId": i}, taken) for i in ids]
    assert len(set(names)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", n) for n in names)


@settings(deadline=None)
@given(st.lists(st.text(max_size=90), max_size=20))
def test_every_argument_name_is_valid_and_unique(given_names: list[str]) -> None:
    taken: dict[str, int] = {}
    for name in given_names:
        taken[argument_name(name, "query", taken)] = 1
    assert len(taken) == len(given_names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", n) for n in taken)
