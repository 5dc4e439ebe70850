"""What the rules find wrong with a trajectory's rounds, and what they leave alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import READ, WRITE, Tool, ToolCall, ToolResult
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.verify.steps import RULES, is_write_tool, step_faults


def tool(name: str, *keys: str, effects: Any = READ, **parts: Any) -> Tool:
    properties = {key: {"type": "string", **parts} for key in keys}
    schema = {"type": "object", "properties": properties, "required": list(keys)}
    return Tool(name, f"Does {name}.", schema, effects=effects)


FIND = tool("find_person", "name")
ORDERS = tool("get_orders", "person_id")
LISTING = tool("list_books")
NOTE = tool("add_note", "text", effects=WRITE)
TOOLS = (FIND, ORDERS, LISTING, NOTE)
NOT_FOUND = Failure("tool_error", "no such person")
BUSY = Failure("rate_limit", "too many requests", retryable=True)


def trajectory(
    *made: tuple[str, Any, Any], query: str = "What did Ada order?", answer: str | None = None
) -> Trajectory:
    """Rounds of one call each: tool, arguments, and what came back (a Failure, or content)."""
    steps = []
    for number, (name, arguments, came) in enumerate(made):
        call = ToolCall(f"c{number}", name, arguments)
        failure, content = (came, None) if isinstance(came, Failure) else (None, came)
        steps.append(
            Step(
                calls=(call,),
                results=(ToolResult(call.id, name, call.arguments, content, failure),),
            )
        )
    return Trajectory("t", query, TOOLS, tuple(steps), answer)


def kinds(of: Trajectory) -> list[tuple[str, int]]:
    return [(fault.kind, fault.step) for fault in step_faults(of)]


GOOD = trajectory(
    ("find_person", {"name": "Ada"}, {"person_id": "p-4711"}),
    ("get_orders", {"person_id": "p-4711"}, [{"item": "lamp", "price": 18.37}]),
    answer="Ada ordered a lamp for 18.37.",
)


def test_nothing_is_wrong_with_a_trajectory_that_is_right() -> None:
    assert kinds(GOOD) == []


def test_a_tool_that_nobody_offered() -> None:
    assert kinds(trajectory(("seek", {}, None))) == [("unknown_tool", 0)]


@pytest.mark.parametrize(
    "arguments", [{}, {"nam": "Ada"}, {"name": "Ada", "age": 3}, "no object", {"name": None}]
)
def test_arguments_that_the_schema_does_not_know_or_refuses(arguments: Any) -> None:
    assert kinds(trajectory(("find_person", arguments, {"person_id": "p-1"}))) == [
        ("wrong_arguments", 0)
    ]


def test_arguments_that_convert_without_loss_are_not_wrong() -> None:
    assert kinds(trajectory(("find_person", '{"name": "Ada"}', {"person_id": "p-1"}))) == []


def test_an_identifier_that_nothing_contains() -> None:
    (found,) = step_faults(trajectory(("get_orders", {"person_id": "p-12345"}, [])))
    assert (found.kind, found.step, found.call) == ("identifier_from_nowhere", 0, "c0")
    assert '"p-12345"' in found.reason


@pytest.mark.parametrize(
    "before",
    [
        {"query": "Orders of p-12345, please."},
        {"content": {"rows": [{"key": "p-12345"}]}},
        {"failure": Failure("tool_error", "did you mean p-12345?")},
        {"shown": "p-12345 stands in what was printed"},
        {"example": {"examples": ["p-12345"]}},
        {"example": {"default": "p-12345"}},
        {"example": {"example_value": "p-12345"}},
        {"example": {"description": "as p-12345"}},
    ],
)
def test_an_identifier_that_something_before_contains_is_from_there(before: dict[str, Any]) -> None:
    first = before.get("failure", before.get("content", {"found": 1}))
    made = trajectory(
        ("find_person", {"name": "Ada"}, first),
        ("get_orders", {"person_id": "p-12345"}, [{"item": "lamp"}]),
        query=before.get("query", "What did Ada order?"),
    )
    orders = tool("get_orders", "person_id", **before.get("example", {}))
    made = replace(made, tools=(FIND, orders))
    made = replace(
        made, steps=(replace(made.steps[0], shown=before.get("shown", "")), made.steps[1])
    )
    assert step_faults(made, ["identifier_from_nowhere"]) == ()


FLIGHTS = tool("find_flights", "to", "day")


def flown(query: str, *before: tuple[str, Any, Any]) -> Trajectory:
    call = ("find_flights", {"to": "Rome", "day": "2023-04-01"}, {"flight": "AZ 1"})
    return replace(trajectory(*before, call, query=query), tools=(*TOOLS, FLIGHTS))


def test_a_date_where_nobody_has_spoken_of_any_day() -> None:
    asked = "Which flights go to Rome, and how many days do they take, first and last day included?"
    (found,) = step_faults(flown(asked), ["day_from_nowhere"])
    assert (found.step, found.call) == (0, "c0")
    assert '"2023-04-01"' in found.reason


@pytest.mark.parametrize(
    "query",
    [
        "Which flights go to Rome tomorrow?",
        "Which flights go to Rome on the 1st?",
        "Flights to Rome on Saturday",
        "Flights to Rome in April",
        "Flights to Rome, 01.04., please",
        "Are there flights to Rome this week?",
        "Welche Flüge gibt es morgen nach Rom?",
        "¿Qué vuelos hay mañana a Roma?",
        "明天有去 Rome 的航班吗？",
        "ما هي الرحلات إلى Rome غداً؟",
        "Quels vols y a-t-il demain pour Rome ?",
    ],
)
def test_a_date_that_may_have_been_worked_out_is_no_finding(query: str) -> None:
    assert step_faults(flown(query), ["day_from_nowhere"]) == ()


def test_a_date_after_a_result_that_speaks_of_one_may_have_been_worked_out() -> None:
    before = ("find_person", {"name": "Ada"}, {"trip": {"starts": "2023-03-30", "nights": 2}})
    assert step_faults(flown("Which flights go to Rome?", before), ["day_from_nowhere"]) == ()


def test_an_identifier_that_comes_later_is_from_nowhere() -> None:
    made = trajectory(
        ("get_orders", {"person_id": "p-12345"}, []),
        ("find_person", {"name": "Ada"}, {"person_id": "p-12345"}),
    )
    assert kinds(made) == [("identifier_from_nowhere", 0)]


def test_a_date_counted_from_a_today_that_nobody_told() -> None:
    asked = "Which flights go to Rome from today up to 4 April 2023?"
    (found,) = step_faults(flown(asked), ["guessed_today"])
    assert "2023-04-01" in found.reason
    clock = ("list_books", {}, {"today": "2023-04-01"})
    for told in (
        flown(asked, clock),
        flown(f"{asked} Today is a Saturday."),
        flown("Flights to Rome in April"),
    ):
        assert step_faults(told, ["guessed_today"]) == ()


SAME = ("list_books", {}, ["Ruth", "Job"])


def test_the_same_call_again() -> None:
    assert kinds(
        trajectory(SAME, ("find_person", {"name": "Ada"}, {"person_id": "p-1"}), SAME)
    ) == [("repeated_call", 2)]


def test_equal_arguments_are_equal_however_they_are_written() -> None:
    made = trajectory(
        ("find_person", {"name": "Ada"}, {"id": 1}), ("find_person", '{"name":"Ada"}', {"id": 1})
    )
    assert kinds(made) == [("repeated_call", 1)]


@pytest.mark.parametrize(
    "made",
    [
        (SAME, ("add_note", {"text": "x"}, {"done": 1}), SAME),  # the world may have changed
        (SAME, ("list_books", {}, ["Ruth"])),  # it has changed
        (("list_books", {}, BUSY), SAME),  # the failure called for it
        (("find_person", {"name": "Ada"}, {"id": 1}), ("find_person", {"name": "Bob"}, {"id": 2})),
    ],
)
def test_a_call_that_had_to_be_made_again_is_no_repetition(made: Any) -> None:
    assert (
        step_faults(
            trajectory(*made, query="Books of Ada and Bob"), ["repeated_call", "trial_and_error"]
        )
        == ()
    )


def test_the_same_failing_call_is_a_repetition() -> None:
    failing = ("find_person", {"name": "Eve"}, NOT_FOUND)
    assert kinds(trajectory(failing, failing)) == [("repeated_call", 1)]


def test_a_call_without_result_is_repeated_only_where_nothing_in_between_may_write() -> None:
    def calls(*names: str) -> Trajectory:
        steps = [Step(calls=(ToolCall(str(n), name, {}),)) for n, name in enumerate(names)]
        offered = (tool("find_it"), tool("frobnicate", effects=Tool("").effects))
        return Trajectory("t", "q", offered, tuple(steps))

    assert kinds(calls("find_it", "find_it")) == [("repeated_call", 1)]
    assert kinds(calls("find_it", "frobnicate", "find_it")) == []


def test_of_what_nobody_wrote_down_nothing_is_concluded() -> None:
    """A result that is not there may have given the identifier; arguments that stop may have been
    cut.
    """
    find, orders = (
        ToolCall("a", "find_person", {"name": "Ada"}),
        ToolCall("b", "get_orders", {"person_id": "p-12345"}),
    )
    assert kinds(Trajectory("t", "q", TOOLS, (Step(calls=(find,)), Step(calls=(orders,))))) == []
    half = ToolCall("c", "find_person", '{"name": "A')
    again = Trajectory("t", "q", TOOLS, (Step(calls=(half,)), Step(calls=(half,))))
    assert kinds(again) == []


def test_a_call_that_only_ends_the_run_is_no_call() -> None:
    assert kinds(trajectory(("Finish", {"return_type": "give_up_and_restart"}, None))) == []


def test_a_failed_call_after_which_its_tool_succeeded_was_a_trial() -> None:
    made = trajectory(
        ("find_person", {"name": "Adda"}, NOT_FOUND),
        ("find_person", {"name": "Ada"}, {"person_id": "p-1"}),
        query="What did Ada order?",
    )
    assert kinds(made) == [("trial_and_error", 0)]
    assert "no such person" in step_faults(made)[0].reason


def test_a_status_200_with_an_error_inside_is_a_failure_too() -> None:
    made = trajectory(
        ("find_person", {"name": "Adda"}, {"error": "Invalid name", "response": ""}),
        ("find_person", {"name": "Ada"}, {"error": "", "response": "{'person_id': 'p-1'}"}),
    )
    assert kinds(made) == [("trial_and_error", 0)]


def test_two_things_that_were_both_asked_for_are_no_trial() -> None:
    made = trajectory(
        ("find_person", {"name": "Eve"}, NOT_FOUND),
        ("find_person", {"name": "Ada"}, {"person_id": "p-1"}),
        query="Who are Eve and Ada?",
    )
    assert kinds(made) == []


def test_a_failure_that_nothing_made_good_is_no_trial() -> None:
    assert (
        step_faults(trajectory(("find_person", {"name": "Eve"}, NOT_FOUND)), ["trial_and_error"])
        == ()
    )


def test_a_result_of_which_nothing_is_used() -> None:
    made = trajectory(
        ("list_books", {}, ["Genesis", "Exodus"]),
        ("find_person", {"name": "Ada"}, {"person_id": "p-4711"}),
        answer="Ada is p-4711.",
    )
    assert kinds(made) == [("unused_result", 0)]


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (["Genesis", "Exodus"], "The first is Genesis."),
        (["Genesis", "Exodus", "Leviticus"], "There are 3 books."),
        (["Genesis", "Exodus", "Leviticus"], "There are three books."),
        ({"degrees": 18.37}, "It is 18.4 degrees."),
        ({"degrees": 18.37}, "It is about 18 degrees."),
        ({"response": "{'Output': 'As a number of attempts'}"}, "The verse speaks of attempts."),
        ({"open": True}, "Yes, it is open."),  # a yes or no can be said in any words
        ({"asked": "Ada"}, "I looked."),  # it says nothing that was not known
        ([], "There are none."),
        (
            {"error": "", "response": "{'ads': [], 'results': [], 'ts': 1.24, 'total': None}"},
            "I found nothing of it.",
        ),
        (NOT_FOUND, "I found nothing."),
    ],
)
def test_a_result_is_used_if_anything_of_it_is(content: Any, answer: str) -> None:
    made = trajectory(("list_books", {}, content), query="Tell me of Ada", answer=answer)
    assert step_faults(made, ["unused_result"]) == ()


def test_what_a_call_changed_is_its_use() -> None:
    made = trajectory(("add_note", {"text": "milk"}, {"number": 99}), answer="Done.")
    assert step_faults(made, ["unused_result"]) == ()


@pytest.mark.parametrize("ending", [{"answer": None}, {"answer": "I cannot.", "given_up": True}])
def test_nothing_is_said_of_use_where_nothing_was_answered(ending: dict[str, Any]) -> None:
    made = trajectory(("list_books", {}, ["Genesis", "Exodus"]))
    assert (
        step_faults(replace(made, **ending), ["unused_result", "contradiction", "unsupported"])
        == ()
    )


@pytest.mark.parametrize(
    ("query", "answer", "kind"),
    [
        ("How warm is it in Oslo?", "It is 13 degrees Celsius in Oslo.", "contradiction"),
        ("How warm is it in Oslo?", "It is 24 degrees Celsius in Oslo.", "attribution"),  # Rome's
        (
            "Is it 13 degrees in Oslo?",
            "It is 13 degrees Celsius in Oslo.",
            "attribution",
        ),  # the request's
        ("How warm is it in Oslo?", "It is 12 degrees Celsius in Oslo.", None),
    ],
)
def test_an_answer_that_says_other_than_its_result(
    query: str, answer: str, kind: str | None
) -> None:
    """Proved is only what nobody says: what stands elsewhere may be there by right."""
    made = [
        ("get_weather", {"city": c}, {"city": c, "celsius": n})
        for c, n in (("Oslo", 12), ("Rome", 24))
    ]
    judged = replace(
        trajectory(*made, query=query, answer=answer), tools=(tool("get_weather", "city"),)
    )
    found = step_faults(judged, ["contradiction", "attribution", "unsupported"])
    assert [(f.kind, f.step, f.call) for f in found] == ([(kind, -1, "")] if kind else [])


def test_an_answer_that_says_what_no_result_contains() -> None:
    made = replace(
        GOOD,
        answer="Ada ordered a lamp for 18.37. It was sent by Zorblatt Couriers on order QX-99812.",
    )
    assert {f.kind for f in step_faults(made)} == {"unsupported"}


def test_findings_stand_in_the_order_of_the_rounds_and_may_be_chosen() -> None:
    made = trajectory(
        ("seek", {}, None),
        ("get_orders", {"person_id": "p-1"}, [1]),
        ("get_orders", {"person_id": "p-1"}, [1]),
    )
    found = step_faults(made)
    assert [f.step for f in found] == sorted(f.step for f in found)
    assert {f.kind for f in step_faults(made, ["repeated_call"])} == {"repeated_call"}


def test_what_a_tool_declares_counts_before_its_name() -> None:
    unknown = Tool("").effects
    assert is_write_tool(tool("get_x", effects=WRITE)) is True
    assert is_write_tool(tool("delete_x", effects=READ)) is False
    assert is_write_tool(Tool("delete_x", effects=unknown)) is True
    assert is_write_tool(Tool("search_x", effects=unknown)) is False
    assert is_write_tool(Tool("languages_for_quotes", effects=unknown)) is None
    assert is_write_tool(None) is None


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
CALLS = st.tuples(
    st.sampled_from(["find_person", "get_orders", "list_books", "add_note", "seek"]),
    st.dictionaries(st.sampled_from(["name", "person_id", "x"]), VALUES, max_size=2)
    | st.text(max_size=5),
    VALUES | st.sampled_from([NOT_FOUND, BUSY]),
)


@given(st.lists(CALLS, max_size=5), st.text(max_size=30) | st.none())
def test_any_trajectory_is_judged_and_every_finding_points_at_a_call_in_it(
    made: Any, answer: str | None
) -> None:
    judged = trajectory(*made, answer=answer)
    calls = {(step, call.id) for step, call, _ in judged.pairs()} | {(-1, "")}
    found = step_faults(judged)
    assert found == step_faults(judged)
    assert all((f.step, f.call) in calls and f.reason and f.kind in RULES for f in found)


def test_tools_of_a_record_that_declare_nothing_are_judged_by_the_verb_of_their_names() -> None:
    """A list is read twice, a report, whatever that does, in between: the same came back."""
    listed, reported = (tool_from_wire({"name": name}) for name in ("list_books", "report"))
    made = trajectory(
        ("list_books", {}, ["Genesis"]),
        ("report", {}, {"seen": "Ada"}),
        ("list_books", {}, ["Genesis"]),
        answer="I saw Ada.",
    )
    made = replace(made, tools=(listed, reported))
    found = [(f.kind, f.step) for f in step_faults(made, ["repeated_call", "unused_result"])]
    assert sorted(found) == [("repeated_call", 2), ("unused_result", 0), ("unused_result", 2)]
