"""What a request lacks is said, surely where nobody could take it back, else as a suspicion; what
can be got from another tool is not lacking.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import JsonObject, Tool
from callwright_lab.verify.feasibility import Feasibility, assess_feasibility
from callwright_lab.verify.requests import Asked


def a_tool(
    called: str,
    description: str,
    output: JsonObject | None = None,
    source: str = "",
    **parameters: str,
) -> Tool:
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    returned = {"type": "object", "properties": output} if output else None
    return Tool(called, description, schema, returned, source=source)


FIND = a_tool(
    "find_employee", "Find employees by name.", {"employee_id": {"type": "string"}}, name="string"
)
TRIPS = a_tool(
    "list_trips",
    "All trips of one employee.",
    {"trip_id": {"type": "string"}},
    employee_id="string",
)
PAGE = a_tool(
    "page_speed", "Analyse the speed of a web page.", {"score": {"type": "number"}}, url="string"
)
RATIO = a_tool(
    "kd_ratio", "The ratio of kills and deaths.", {"ratio": {"type": "number"}}, kills="integer"
)


def judged(
    query: str, *tools: Tool, needed: tuple[str, ...] = (), unknown: tuple[str, ...] = ()
) -> Feasibility:
    return assess_feasibility(Asked("x", query, tools, needed, unknown))


def test_what_another_tool_gives_is_not_lacking() -> None:
    found = judged(
        "Which trips does Ann Lee make?", FIND, TRIPS, needed=("find_employee", "list_trips")
    )
    assert found.problems == ()
    assert found.criteria.score >= 8


def test_an_identifier_that_nothing_gives_is_surely_missing() -> None:
    found = judged("Which trips are there?", TRIPS, needed=("list_trips",))
    assert found.against is not None
    assert (found.against.rule, found.criteria.solvability) == ("missing information", 1)
    assert "'employee_id': neither the request nor another tool gives it" in found.against.why


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("Which trips did E101 and E102 make?", TRIPS),
        ("How fast is www.example.com?", PAGE),
        ("What is the ratio of 20 kills?", RATIO),
    ],
)
def test_what_has_its_form_is_there_even_where_it_cannot_be_read(query: str, tool: Tool) -> None:
    assert judged(query, tool, needed=(tool.name,)).problems == ()


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("How fast is my page?", PAGE),
        ("Analyse the speed of a list of URLs.", PAGE),
        ("Ratio of kills?", RATIO),
    ],
)
def test_an_address_or_a_number_that_nobody_said_is_surely_missing(query: str, tool: Tool) -> None:
    assert judged(query, tool, needed=(tool.name,)).against is not None


def test_the_id_of_something_named_is_only_a_suspicion() -> None:
    found = judged("Which trips did 'Ann Lee' make?", TRIPS, needed=("list_trips",))
    assert (found.against, len(found.problems)) == (None, 1)
    assert found.criteria.score < 8


def test_a_number_may_come_from_another_needed_tool() -> None:
    found = judged(
        "Ratio of the kills in my note?",
        RATIO,
        a_tool("read_note", "Read a note."),
        needed=("kd_ratio", "read_note"),
    )
    assert found.problems == ()


def test_an_id_may_come_from_a_tool_of_the_same_source_that_does_not_say_what_it_returns() -> None:
    listing = a_tool("everybody", "All.", source="office")
    trips = replace(TRIPS, source="office")
    assert judged("Which trips are there?", trips, listing, needed=("list_trips",)).problems == ()
    other = replace(listing, source="elsewhere")
    assert (
        judged("Which trips are there?", trips, other, needed=("list_trips",)).against is not None
    )


def test_a_tool_that_is_not_offered_and_no_tool_at_all_are_against_it() -> None:
    for found in (
        judged("Rain in Oslo today?", FIND, unknown=("weather",)),
        judged("Rain in Oslo today?"),
    ):
        assert found.against is not None
        assert found.against.rule == "tools"
    assert any(
        not p.certain and p.rule == "tools" for p in judged("Rain over Oslo?", PAGE).problems
    )


def test_a_key_that_nobody_gave_may_be_the_servers_own() -> None:
    tool = a_tool(
        "quote", "Stock quote.", {"price": {"type": "number"}}, symbol="string", api_key="string"
    )
    found = judged("Stock quote of AAPL, please.", tool, needed=("quote",))
    assert found.against is None
    assert "a key that nobody gave" in found.problems[0].why


def test_where_nobody_says_which_tool_is_needed_one_that_can_be_called_suffices() -> None:
    found = judged("Which employees are called Ann Lee?", FIND, TRIPS)
    assert found.against is None


def test_a_vague_request_and_a_contradiction_are_said() -> None:
    vague = judged("Find a specific employee.", FIND, needed=("find_employee",))
    assert vague.criteria.score < 8
    wrong = judged("Employees from 5 May 2026 to 3 May 2026, called Ann Lee", FIND)
    assert wrong.against is not None
    assert wrong.against.rule == "contradiction"


@given(query=st.text(max_size=200), needed=st.booleans())
def test_every_request_gets_a_verdict_with_reasons_and_scores_within_bounds(
    query: str, needed: bool
) -> None:
    found = judged(query, FIND, TRIPS, PAGE, RATIO, needed=("list_trips",) if needed else ())
    criteria = found.criteria
    scores = (
        criteria.solvability,
        criteria.clarity,
        criteria.completeness,
        criteria.difficulty,
        criteria.compatibility,
    )
    assert all(1 <= score <= 10 for score in scores)
    assert min(scores) <= criteria.score <= max(scores)
    assert all(problem.why for problem in found.problems)
    assert (found.against is not None) <= (criteria.solvability == 1)
