"""The model sees enough of every tool and of every result, and no more than the budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.render import (
    choose_listed_tools,
    render_results,
    render_signature,
    render_type,
)
from callwright.nouns.errors import Failure
from callwright.nouns.model_profile import ModelProfile, find_profile, load_profiles
from callwright.nouns.types import Skip, Tool, ToolResult

SEARCH = Tool(
    "search",
    "Finds flights.",
    {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "IATA code"},
            "seats": {"type": "integer", "default": 1},
            "cabin": {"enum": ["economy", "business"]},
            "when": {"type": "string", "format": "date"},
            "legs": {"type": "array", "items": {"$ref": "#/$defs/Leg"}},
        },
        "required": ["to", "when"],
        "$defs": {
            "Leg": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
        },
    },
)


def test_a_signature_shows_names_types_what_is_required_and_what_is_described() -> None:
    text = render_signature(SEARCH)
    assert (
        'search(to: string, seats?: integer, cabin?: "economy" | "business", when: date, legs?: {a:'
        " string}[])" in text
    )
    assert "Finds flights." in text
    assert "to: IATA code" in text
    assert "seats: (default 1)" in text


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert "next" in render_type(node, node)


def test_a_thought_stands_above_the_result_of_its_call() -> None:
    results = [ToolResult(f"r{n}", "t", {}, content=n) for n in (1, 2)]
    assert render_results(results, 500, thoughts={"r2": "look\ntwice"}).splitlines() == [
        "r1: t() -> 1",
        "thought: look twice",
        "r2: t() -> 2",
    ]


@given(st.lists(st.text(max_size=400), max_size=8), st.integers(50, 2_000))
def test_results_stay_within_the_budget_and_each_one_is_named(
    bodies: list[str], limit: int
) -> None:
    results = [ToolResult(f"r{n}", "t", {}, content=body) for n, body in enumerate(bodies)]
    text = render_results(results, limit)
    overhead = 60 * len(results) + 20
    assert len(text) <= limit + overhead
    assert all(f"r{n}: t(" in text for n in range(len(bodies)))


def test_a_short_result_is_kept_whole_and_a_long_one_is_cut_with_a_marker() -> None:
    text = render_results(
        [ToolResult("r1", "t", {}, "short"), ToolResult("r2", "t", {}, "x" * 5_000)], 500
    )
    assert "-> short\n" in text
    assert "more characters cut]" in text


def test_the_latest_refusals_are_shown_so_that_they_are_not_made_again() -> None:
    refused = [Skip(f"t{n}", f"reason {n}", refused=True) for n in range(5)]
    text = render_results([], 500, refused)
    assert "not executed: t4: reason 4" in text
    assert "t0" not in text


def test_a_failure_is_shown_as_one() -> None:
    text = render_results(
        [ToolResult("r1", "t", {"a": 1}, failure=Failure("timeout", "too slow"))], 500
    )
    assert 'r1: t("a":1) -> FAILED (timeout): too slow' in text


def test_few_tools_stand_in_every_question_and_many_or_long_ones_in_none() -> None:
    few = tuple(Tool(f"tool_{n}", "Does it.") for n in range(12))
    assert choose_listed_tools(few) == few
    assert choose_listed_tools((*few, Tool("one_more"))) == ()
    long = {"type": "object", "properties": {f"key_{n}": {"type": "string"} for n in range(300)}}
    assert choose_listed_tools((*few[:2], Tool("long", "", long))) == ()


@pytest.mark.parametrize("profile", load_profiles().values(), ids=lambda p: p.name)
def test_descriptions_are_as_long_as_the_profile_says(profile: ModelProfile) -> None:
    long = "word " * 1_000
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": long}}}
    head, note = render_signature(Tool("t", long, schema), profile).splitlines()
    about, told = head.removeprefix("- t(a?: string): "), note.removeprefix("    a: ")
    assert profile.description_chars - len("word ") <= len(about) <= profile.description_chars
    assert profile.parameter_chars - len("word ") <= len(told) <= profile.parameter_chars


@pytest.mark.parametrize("profile", load_profiles().values(), ids=lambda p: p.name)
def test_as_many_tools_are_listed_as_the_profile_says(profile: ModelProfile) -> None:
    few = tuple(Tool(f"t{n}") for n in range(profile.listed_tools))
    assert choose_listed_tools(few, profile) == few
    assert choose_listed_tools((*few, Tool("one_more")), profile) == ()


def test_larger_profiles_list_tools_that_are_too_long_for_a_small_one() -> None:
    tools = tuple(Tool(f"t{n}", "word " * 100) for n in range(20))
    assert choose_listed_tools(tools) == ()
    assert choose_listed_tools(tools, find_profile("large")) == tools
