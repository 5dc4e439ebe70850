"""One round of a turn: questions until a call is made, whoever makes it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.turn import take_round, take_up
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.safety.repeats import asks_for_nothing
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, Replied, Returned
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.testing import FixedPlan
from tests.agent.leading.rounds import (
    FIND,
    LAMPS,
    NOTHING,
    ORDER,
    ROOMS,
    TEXT,
    calls,
    led,
    left,
    lit,
    off,
    play,
)


def held(code: str, pieces: int, *missing: str, meant: tuple[str, ...] = ()) -> Returned:
    call = ToolCall("", "order", {"code": code, "pieces": pieces})
    return Returned([], [HeldCall(call, "unstated_value", "not said", False, meant, missing)])


def test_a_round_ends_with_its_calls_whether_their_results_are_there_or_not() -> None:
    order = calls(("order", {"code": "A-100", "pieces": 5}))
    for came in (left("order"), Returned([ToolResult("r1", "order", {}, "ok")])):
        made = led("Order 5 of A-100.")
        assert play(made, [order], came)[0]
        assert made.wishes == ("it",)


def test_a_round_without_a_call_says_so() -> None:
    assert not play(led("Order 5 of A-100."), [NOTHING, NOTHING])[0]


def test_where_nothing_was_made_the_policy_goes_on() -> None:
    order = calls(("order", {"code": "A-100", "pieces": 5}))
    made = led("Order some A-100.")
    is_made, sent, _ = play(made, [order, NOTHING, NOTHING], held("A-100", 5, "pieces"))
    assert (is_made, len(sent), len(made.held)) == (False, 1, 1)


@pytest.mark.parametrize(
    ("query", "meant", "enum"),
    [("Order two dozen A-100.", ("24",), "24"), ("Order 5 of A-100.", (), "")],
)
def test_a_misread_value_is_asked_for_once_more(
    query: str, meant: tuple[str, ...], enum: str
) -> None:
    wrong, right = (calls(("order", {"code": "A-100", "pieces": n})) for n in (90, 24))
    came = held("A-100", 90, "pieces", meant=meant), left("order")
    is_made, sent, asked = play(led(query), [wrong, right], *came)
    assert is_made
    assert sent[-1] == 'order{"code": "A-100", "pieces": 24}'
    assert "not said" in asked[-1]


def test_nothing_is_asked_twice_for_the_same_mistake() -> None:
    wrong = calls(("order", {"code": "A-100", "pieces": 90}))
    came = [held("A-100", 90, "pieces")] * 2
    is_made, sent, _ = play(led("Order 5 of A-100."), [wrong, wrong, NOTHING, NOTHING], *came)
    assert (is_made, len(sent)) == (False, 2)


PEOPLE = [{"code": "E-1", "title": "Plan"}, {"code": "E-2", "title": "Review"}]


LISTED = ToolResult("r1", "find_part", {"name": "x"}, PEOPLE)


def test_a_write_to_another_record_than_the_named_one_is_asked_about_first() -> None:
    made = led("Order the Review, 3 pieces", LISTED)
    wrong, right = (calls(("order", {"code": code, "pieces": 3})) for code in ("E-1", "E-2"))
    is_made, sent, asked = play(made, [wrong, right], left("order"))
    assert (is_made, sent) == (True, ['order{"code": "E-2", "pieces": 3}'])
    assert "The request names" in asked[-1]
    again = led("Order the Review, 3 pieces", LISTED)
    assert play(again, [wrong, NOTHING], left("order"))[1] == ['order{"code": "E-1", "pieces": 3}']


def test_a_write_that_was_put_right_and_held_lets_the_wrong_one_not_go() -> None:
    made = led("Order the Review, some pieces", LISTED)
    wrong, right = (calls(("order", {"code": code, "pieces": 9})) for code in ("E-1", "E-2"))
    came = held("E-2", 9, "pieces")
    is_made, sent, _ = play(made, [wrong, right, NOTHING, NOTHING], came)
    assert (is_made, sent) == (False, ['order{"code": "E-2", "pieces": 9}'])


@pytest.mark.parametrize(
    ("query", "before", "expected"),
    [
        ("Good morning!", "", True),
        ("Thanks!", "It is done.", True),
        ("Thanks!", "Shall I order it?", False),
        ("Order it", "", False),
    ],
)
def test_a_greeting_asks_for_nothing_and_thanks_only_where_nothing_was_offered(
    query: str, before: str, expected: bool
) -> None:
    talk = [Message("assistant", before)] if before else []
    assert asks_for_nothing(query, talk) is expected


DROP = Tool("drop", "Drops a part.", {"properties": {"code": TEXT}}, effects=DESTRUCTIVE)


THREE = [*PEOPLE, {"code": "E-3", "title": "Budget"}]


def drop(*codes: str) -> str:
    return calls(*(("drop", {"code": code}) for code in codes))


def carry_out(
    query: str,
    *replies: str,
    records: list[dict[str, str]] = PEOPLE,
    before: str = "",
    **effects: bool,
) -> tuple[list[HeldCall], list[str]]:
    """The calls that were held, and what was called."""
    tools = (FIND, replace(DROP, effects=replace(DESTRUCTIVE, **effects)))
    listed = replace(LISTED, content=records)
    talk = (Message("user", "Hello"), Message("assistant", before)) if before else ()
    facts = RunFacts(RunState(Asked(query), tools, results=(listed,)))
    made = LedContext(
        query=query,
        tools=tools,
        planner=FixedPlan([]),
        facts=facts,
        mode="schema",
        conversation=talk,
    )
    _, sent, _ = play(made, [*replies, NOTHING, NOTHING], left("drop"))
    return made.held, sent


def test_another_record_than_the_named_one_is_not_destroyed_unasked() -> None:
    (one,), sent = carry_out("Drop the Review", drop("E-1"), drop("E-1"))
    assert (sent, one.is_for_user, one.is_unstated, one.missing) == ([], True, False, ("code",))
    assert '"title":"Plan"' in one.reason
    assert '"title":"Review"' in one.reason
    assert carry_out("Drop the Review", drop("E-1"), drop("E-2")) == (
        [],
        ['drop{"code": "E-2"}'],
    )
    assert carry_out("Drop the Review", drop("E-1"), NOTHING, declared=False)[0] == []
    assert carry_out("Drop the Review", drop("E-1"), NOTHING, destructive=False)[0] == []


@pytest.mark.parametrize(
    ("query", "codes", "before"),
    [
        ("Drop E-1, keep the Review", ["E-1"], ""),  # it was named as well
        ("Yes, go on", ["E-1"], ""),  # no record is named
        ("Drop all except the Review", ["E-1", "E-3"], ""),
        ("Drop all except the Review", ["E-1"], ""),
        ("Lösch alles außer dem Review", ["E-3"], ""),
        ("The other one, not the Review", ["E-1"], "Which one shall I drop?"),
    ],
)
def test_what_may_well_be_meant_is_not_held(query: str, codes: list[str], before: str) -> None:
    replies = [drop(*codes), drop(*codes)]
    held, sent = carry_out(query, *replies, records=THREE, before=before)
    assert held == []
    assert sent == [" ".join(f'drop{{"code": "{code}"}}' for code in codes)]


@pytest.mark.parametrize(
    ("before", "is_held"),
    [
        ("Hello. Is there anything else that I can help you with?", True),
        ("Which of them shall I drop?", False),
        ("Do you mean the Plan or the Review?", False),
        ("Gibt es sonst noch etwas, das ich für Sie tun kann?", False),  # not read
    ],
)
def test_a_question_about_something_else_frees_no_deletion(before: str, is_held: bool) -> None:
    replies = [drop("E-1"), drop("E-1")]
    held, _ = carry_out("Drop the Review", *replies, records=THREE, before=before)
    assert bool(held) is is_held


def test_a_lamp_that_is_called_by_its_room_is_switched_by_its_id() -> None:
    made = lit("Switch the hall lamp off", ROOMS)
    _, sent, _ = play(made, [off("the hall lamp")], left("switch_lamp"))
    assert sent == ['switch_lamp{"lamp_id": "L-2", "on": false}']


def test_an_identifier_that_no_lookup_returned_is_asked_about_with_those_it_returned() -> None:
    made = lit("Mach das Licht im Flur aus", ROOMS)
    _, sent, asked = play(made, [off("Wohnzimmer"), off("L-2")], left("switch_lamp"))
    assert sent == ['switch_lamp{"lamp_id": "L-2", "on": false}']
    assert "It returned L-1, L-2." in asked[-1]


@pytest.mark.parametrize(("share", "expected"), [(0.9, ["list_lamps{}"]), (0.5, [])])
def test_a_lookup_that_a_stated_wish_waits_for_is_made_behind_a_write(
    share: float, expected: list[str]
) -> None:
    done = ToolResult("r0", "order", {"code": "A-1", "pieces": 2}, {"order": 1})
    tools = (*LAMPS, ORDER)
    facts = RunFacts(RunState(Asked("q"), tools, results=[done]))
    made = LedContext(query="q", tools=tools, planner=FixedPlan([]), facts=facts, mode="schema")
    made.stated = ("order 2 of A-1", "switch the hall lamp off")
    steps, sent, letters = take_round(LeadPolicy(), made), [], []
    try:
        action = next(steps)
        while True:
            event: Any = left("list_lamps")
            if isinstance(action, Ask):
                letters += [action.request.messages[-1].content] * action.request.top_logprobs
                event = Replied(Reply(NOTHING, first_token={"B": share, "D": 1 - share}))
            else:
                assert isinstance(action, Execute)
                sent += [f"{c.tool}{json.dumps(c.arguments)}" for c in action.calls]
            action = steps.send(event)
    except StopIteration:
        pass
    assert sent == expected
    assert "Request: switch the hall lamp off" in letters[0]
    made.stated = ("order 2 of A-1",)
    assert play(made, [NOTHING, NOTHING])[1] == [], "each wish had its call"


@pytest.mark.parametrize(
    ("query", "codes", "expected"),
    [
        ("Order the Review, 3 pieces", ["E-1", "E-2", "E-3"], ["E-2"]),
        ("只订 预算会议，三个", ["E-1", "E-4"], ["E-4"]),
        ("Order all of them, 3 pieces each", ["E-1", "E-2", "E-3"], ["E-1", "E-2", "E-3"]),
        ("Order all but the Review, 3 pieces each", ["E-1", "E-3"], ["E-1", "E-3"]),
    ],
)
def test_writes_to_records_that_are_not_named_wait_beside_the_one_that_is(
    query: str, codes: list[str], expected: list[str]
) -> None:
    listed = ToolResult(
        "r1", "find_part", {"name": "x"}, [*THREE, {"code": "E-4", "title": "预算会议"}]
    )
    made = led(query, listed)
    reply = calls(*[("order", {"code": code, "pieces": 3}) for code in codes])
    _, sent, _ = play(made, [reply, *[NOTHING] * 3], left(*["order"] * len(expected)))
    assert sent == [" ".join(f'order{{"code": "{code}", "pieces": 3}}' for code in expected)]
    assert [one.rule for one in made.held] == ["unasked_write"] * (len(codes) - len(expected))


READING = (LAMPS[0], replace(LAMPS[1], effects=READ))


@pytest.mark.parametrize(("share", "expected"), [(0.6, ["switch_lamp"]), (0.4, [])])
def test_a_call_that_words_mean_is_asked_for_where_a_letter_tells_its_tool(
    share: float, expected: list[str]
) -> None:
    made, policy = lit("Mach das Licht L-204 aus"), LeadPolicy()
    policy.tools = READING
    steps, sent, asked = take_up("turn_off(L-204)", policy, made), [], []
    try:
        action = next(steps)
        while True:
            event: Any = left("switch_lamp")
            if isinstance(action, Ask):
                asked.append(action.request.messages[-1].content)
                likely = {"B": share, "A": 0.3, "C": 0.3} if action.request.top_logprobs else {}
                event = Replied(Reply(off("L-204"), first_token=likely))
            else:
                assert isinstance(action, Execute)
                sent += [call.tool for call in action.calls]
            action = steps.send(event)
    except StopIteration as end:
        is_made = end.value
    assert (is_made, sent) == (bool(expected), expected)
    assert any("turn_off(L-204)" in text for text in asked) is bool(expected)


def test_what_the_call_that_words_mean_lacks_is_looked_up_first() -> None:
    made, policy = lit("Mach das Licht im Flur aus"), LeadPolicy()
    policy.tools = READING
    steps, sent = take_up("turn_off(Flur)", policy, made), []
    try:
        action = next(steps)
        while True:
            event: Any = left("list_lamps")
            if isinstance(action, Ask):
                likely = {"B": 0.9} if action.request.top_logprobs else {}
                event = Replied(Reply(off("L-9"), first_token=likely))
            else:
                assert isinstance(action, Execute)
                sent += [call.tool for call in action.calls]
            action = steps.send(event)
    except StopIteration as end:
        is_made = end.value
    assert (is_made, sent) == (True, ["list_lamps"])


def test_nothing_is_asked_of_words_where_no_tool_was_chosen() -> None:
    with pytest.raises(StopIteration) as end:
        next(take_up("turn_off(L-2)", LeadPolicy(), lit("Mach das Licht L-2 aus")))
    assert end.value.value is False
