"""The four outcomes of Table 4, each with its proof; conservative where it would hurt."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.probing.verdict import is_about, is_transient, judge_result
from callwright.nouns.errors import Failure
from callwright.nouns.types import READ, Json, Tool, ToolResult

QUERY = "Which hotels are there in Oslo?"
HOTELS = Tool("find_hotels", "Find hotels in a city.", effects=READ)


def verdict(
    content: Json = None, failure: Failure | None = None, tool: Tool = HOTELS, **arguments: Any
) -> Any:
    return judge_result(
        ToolResult("1", tool.name, arguments or {"city": "Oslo"}, content, failure), tool, QUERY
    )


def test_a_reply_that_serves_is_a_functional_success() -> None:
    found = verdict({"hotels": [{"name": "Bristol"}]})
    assert (found.outcome, found.kind) == ("functional_success", "")
    assert 'city="Oslo"' in found.proof


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        [],
        "",
        "[]",
        {"results": []},
        {"count": 0, "hotels": []},
        {"city": "Oslo", "hotels": None},
        {"data": {"items": [], "total": 0}},
        [{}, {}],
        "No results found",
        "Sorry, there are no matching hotels data.",
    ],
    ids=str,
)
def test_executed_and_empty_is_a_semantic_mismatch(content: Json) -> None:
    found = verdict(content)
    assert (found.outcome, found.kind) == ("semantic_mismatch", "empty")


@pytest.mark.parametrize(
    "content",
    [
        0,
        False,
        {"count": 0},
        {"available": False},
        {"price": 0, "extras": []},
        ["Oslo"],
        "No.",
        {"a": [0]},
    ],
)
def test_a_small_answer_is_not_an_empty_one(content: Json) -> None:
    assert verdict(content).outcome == "functional_success"


def test_an_error_in_a_body_with_status_200_is_a_semantic_mismatch() -> None:
    found = verdict({"error": "the city could not be parsed"})
    assert (found.outcome, found.kind) == ("semantic_mismatch", "error_payload")
    assert "could not be parsed" in found.proof


def test_a_missing_key_told_in_a_body_with_status_200_is_an_execution_failure() -> None:
    assert verdict({"error": "Unauthorized: invalid API key"}).outcome == "execution_failure"


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (Failure("auth", "401", status=401), "execution_failure"),
        (Failure("unavailable", "500", status=500, retryable=True), "execution_failure"),
        (Failure("timeout", "no answer", retryable=True), "execution_failure"),
        (Failure("egress", "not allowed"), "execution_failure"),
        (Failure("tool_error", "GET /x answered 404: no route", status=404), "execution_failure"),
        (Failure("tool_error", "GET /x answered 410", status=410), "execution_failure"),
        (Failure("tool_error", "400: stars must be a number", status=400), "parameter_mismatch"),
        (Failure("tool_error", "404: no hotel is called Oslo", status=404), "parameter_mismatch"),
        (Failure("not_executable", "schema only"), None),
    ],
)
def test_a_failure_is_put_where_table_4_puts_it(failure: Failure, outcome: str | None) -> None:
    assert verdict(failure=failure).outcome == outcome


@pytest.mark.parametrize(
    ("failure", "transient"),
    [
        (Failure("timeout", "no answer", retryable=True), True),
        (Failure("rate_limit", "429", retryable=True, status=429), True),
        (
            Failure("unavailable", "the connection broke", retryable=True, outcome_unknown=True),
            True,
        ),
        (Failure("unavailable", "cannot connect: refused", retryable=True), False),
        (Failure("unavailable", "503", retryable=True, outcome_unknown=True, status=503), False),
        (Failure("timeout", "504", retryable=True, status=504), False),
        (Failure("auth", "401", status=401), False),
        (Failure("tool_error", "404", status=404), False),
    ],
)
def test_only_what_says_nothing_of_the_tool_is_transient(failure: Failure, transient: bool) -> None:
    assert is_transient(failure) is transient


def test_a_reply_about_another_thing_is_irrelevant() -> None:
    found = verdict({"city": "Paris", "hotels": ["Ritz"]})
    assert (found.outcome, found.kind) == ("semantic_mismatch", "irrelevant")


@pytest.mark.parametrize("told", ["oslo", "Oslo, Norway", "OSL", "Ösló"])
def test_another_spelling_of_the_same_thing_is_not(told: str) -> None:
    assert verdict({"city": told, "hotels": ["Bristol"]}).outcome == "functional_success"


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ({"status": "open"}, {"status": "success", "orders": [{"id": 1}]}),
        ({"title": "Dune"}, {"title": "Search results", "items": [{"title": "Dune"}]}),
        ({"country": "Germany"}, {"country": "DE", "hotels": 7}),
        ({"language": "German"}, {"language": "de", "text": "Hotel"}),
        ({"city": "Munich"}, {"city": "München", "hotels": ["Mandarin"]}),
    ],
    ids=str,
)
def test_a_frame_a_code_and_another_script_name_no_other_thing(
    asked: dict[str, Any], content: Json
) -> None:
    assert verdict(content, **asked).outcome == "functional_success"


def test_another_code_is_another_thing() -> None:
    assert verdict({"currency": "USD", "rate": 11}, currency="NOK").kind == "irrelevant"


def test_a_web_page_is_no_data_unless_pages_are_what_the_tool_is_for() -> None:
    page = "<!DOCTYPE html><html><body>Please log in</body></html>"
    assert verdict(page).kind == "irrelevant"
    assert (
        verdict(page, tool=Tool("fetch_page", "Fetch a web page.", effects=READ)).outcome
        == "functional_success"
    )


def test_a_long_reply_without_one_word_in_common_is_irrelevant() -> None:
    apples = (
        "Granny Smith apple orchard yield harvest pruning blossom cider ripeness rootstock graft"
        " fertiliser juice"
    )
    assert verdict({"article": apples}, city="Oslo").kind == "irrelevant"
    assert verdict({"article": f"{apples} oslo"}, city="Oslo").outcome == "functional_success"


def test_a_reply_without_one_documented_member_deviates() -> None:
    told = Tool(
        "find_hotels",
        "Find hotels.",
        output_schema={"type": "object", "properties": {"hotels": {}, "count": {}}},
        effects=READ,
    )
    assert verdict({"weather": "rain", "wind": 3}, tool=told).kind == "deviates"
    assert verdict({"hotels": ["Bristol"]}, tool=told).outcome == "functional_success"


def test_an_answer_without_a_body_is_empty_for_a_tool_that_reads() -> None:
    assert verdict({"status": 204}).kind == "empty"


GENRES = Tool("list_genres", "All genres of movies.")


@pytest.mark.parametrize(
    ("arguments", "content", "about"),
    [
        ({"language": "xx"}, {"genres": ["Drama", "Comedy"]}, False),
        ({"with_cast": "Wes Anderson"}, {"genres": ["Drama"]}, True),
        ({}, {"genres": [{"name": "Drama", "by": "Anderson"}]}, True),
    ],
)
def test_a_list_of_everything_is_about_no_request(
    arguments: dict[str, Json], content: Json, about: bool
) -> None:
    assert (
        is_about("Which genres of movies did Wes Anderson direct?", GENRES, arguments, content)
        is about
    )


def test_a_request_that_says_no_more_than_the_tool_does_misses_nothing() -> None:
    assert is_about("All genres of movies", GENRES, {}, {"genres": ["Drama"]})
