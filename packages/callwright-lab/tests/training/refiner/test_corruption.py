"""Errors made on purpose: every kind, by seed, with what a perfect repairer would hand on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool, ToolCall
from callwright_lab.training.refiner.corruption import ERRORS, KINDS, corrupt, iter_corruptions
from tests.training.corruption_case import CALLS, QUERY, TOOLS


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_made_and_changes_something(kind: str) -> None:
    made = corrupt(CALLS, TOOLS, kind, 1, query=QUERY)
    assert made is not None
    assert (made.kind, made.level in ("calls", "text", "stream"), bool(made.note)) == (
        kind,
        True,
        True,
    )
    if made.level == "calls":
        assert made.calls != made.expected
    assert made.calls or made.text or made.deltas


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_makes_the_same_error(kind: str) -> None:
    assert corrupt(CALLS, TOOLS, kind, 7) == corrupt(CALLS, TOOLS, kind, 7)
    assert corrupt(CALLS, TOOLS, kind, random.Random(7)) == corrupt(
        CALLS, TOOLS, kind, random.Random(7)
    )


def test_calls_that_cannot_have_the_error_give_none() -> None:
    call = (ToolCall("", "weather", {"place": "Lyon"}),)
    kinds = {made.kind for made in iter_corruptions(call, TOOLS)}
    assert not kinds & {
        "enum_case",
        "boolean_as_text",
        "out_of_order",
        "run_together",
        "merged",
        "not_a_number",
    }
    assert "placeholder" in kinds
    assert list(iter_corruptions((), TOOLS)) == []


def test_an_unknown_kind_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no corruption 'sabotage'"):
        corrupt(CALLS, TOOLS, "sabotage")


def test_the_papers_three_errors_are_made_of_known_kinds() -> None:
    assert set(ERRORS) == {"format", "name", "content"}
    assert {kind for kinds in ERRORS.values() for kind in kinds} <= set(KINDS)


def test_a_lost_value_can_be_known_only_where_the_query_gives_it() -> None:
    calls = (ToolCall("", "weather", {"place": "Lyon"}),)
    for kind in ("placeholder", "schema_echo_lost"):
        with_query, without = (
            corrupt(calls, TOOLS, kind, 0, query=q) for q in (QUERY, "what is it like out?")
        )
        assert with_query is not None
        assert without is not None
        assert (with_query.answerable, without.answerable) == (True, False)


@settings(max_examples=60)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["city", "nights", "tags", "kind", "other"]),
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False)
            | st.text()
            | st.lists(st.text()),
        ),
        max_size=3,
    ),
    st.integers(0, 99),
)
def test_any_calls_and_tools_are_taken(arguments: list[dict[str, object]], seed: int) -> None:
    tools = (*TOOLS, Tool("odd", input_schema={"type": "object", "properties": {"city": True}}))
    calls = [
        ToolCall("", name, a)
        for a, name in zip(arguments, ("travel.find_hotel", "odd", "gone"), strict=False)
    ]
    for made in iter_corruptions(calls, tools, seed):
        assert len(made.expected) == len(calls)
        assert made.kind in KINDS
