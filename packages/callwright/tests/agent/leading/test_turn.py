"""One round of a turn: questions until a call is made, whoever makes it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.turn import asks_for_nothing, take_round
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, Replied, Returned
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ,
    WRITE,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.testing import FixedPlan

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
FIND = Tool("find_part", "Finds a part.", {"properties": {"name": TEXT}}, effects=READ)
ORDER = Tool("order", "Orders.", {"properties": {"code": TEXT, "pieces": NUMBER}}, effects=WRITE)
TOOLS = (FIND, ORDER)
AIM = "What does the user want?"
NOTHING = '{"no_call": "done"}'


def led(query: str, *results: ToolResult) -> LedContext:
    facts = RunFacts(RunState(Asked(query), TOOLS, results=results))
    return LedContext(query=query, tools=TOOLS, planner=FixedPlan([]), facts=facts, mode="schema")


def calls(*pairs: tuple[str, Any]) -> str:
    rows = [{"name": name, "arguments": arguments} for name, arguments in pairs]
    return json.dumps({"wishes": ["it"], "calls": rows})


def play(
    made: LedContext, replies: list[str], *outcomes: Returned, policy: LeadPolicy | None = None
) -> tuple[bool, list[str], list[str]]:
    """Whether a call was made, what was to be called, and the last words of each question."""
    steps, left, sent, asked = take_round(policy or LeadPolicy(), made), [*outcomes], [], []
    try:
        action = next(steps)
        while True:
            event: Any
            if isinstance(action, Ask):
                asked.append("".join(m.content for m in action.request.messages[-1:]))
                event = Replied(Reply(replies.pop(0)))
            else:
                assert isinstance(action, Execute)
                sent.append(" ".join(f"{c.tool}{json.dumps(c.arguments)}" for c in action.calls))
                event = left.pop(0)
            action = steps.send(event)
    except StopIteration as end:
        return end.value, sent, asked


def left(*called: str) -> Returned:
    return Returned([], left=[ToolCall("c", name, {}) for name in called])


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


LAMPS = (
    Tool("list_lamps", "Lists all lamps.", {"properties": {}}, effects=READ),
    Tool(
        "switch_lamp",
        "Switches a lamp.",
        {
            "properties": {"lamp_id": TEXT, "on": {"type": "boolean"}},
            "required": ["lamp_id", "on"],
        },
        effects=WRITE,
    ),
)
ROOMS = ToolResult(
    "r1",
    "list_lamps",
    {},
    [{"lamp_id": "L-1", "room": "kitchen"}, {"lamp_id": "L-2", "room": "hall"}],
)


def lit(query: str, *results: ToolResult, wishes: tuple[str, ...] = ()) -> LedContext:
    facts = RunFacts(RunState(Asked(query), LAMPS, results=results))
    return LedContext(
        query=query,
        tools=LAMPS,
        planner=FixedPlan([]),
        facts=facts,
        mode="schema",
        wishes=wishes,
    )


def off(lamp: str) -> str:
    return calls(("switch_lamp", {"lamp_id": lamp, "on": False}))


def test_a_lamp_that_is_called_by_its_room_is_switched_by_its_id() -> None:
    made = lit("Switch the hall lamp off", ROOMS)
    _, sent, _ = play(made, [off("the hall lamp")], left("switch_lamp"))
    assert sent == ['switch_lamp{"lamp_id": "L-2", "on": false}']


def test_an_identifier_that_no_lookup_returned_is_asked_about_with_those_it_returned() -> None:
    made = lit("Mach das Licht im Flur aus", ROOMS)
    _, sent, asked = play(made, [off("Wohnzimmer"), off("L-2")], left("switch_lamp"))
    assert sent == ['switch_lamp{"lamp_id": "L-2", "on": false}']
    assert "It returned L-1, L-2." in asked[-1]


@pytest.mark.parametrize(
    ("query", "share", "sent", "held"),
    [
        ("Look which lamps there are.", 0.9, 1, []),
        ("Look which lamps there are.", 0.5, 0, ["unasked_write"]),
        ("Look which lamps there are.", 0.2, 0, []),
        ("Which lamps are there?", 0.9, 1, []),
        ("Which lamps are there?", 0.5, 0, []),  # who only asks is not asked back
    ],
)
def test_a_write_behind_a_lookup_is_made_asked_about_or_left_out(
    query: str, share: float, sent: int, held: list[str]
) -> None:
    made = lit(query, ROOMS, wishes=("list the lamps",))
    steps, seen = take_round(LeadPolicy(), made), []
    letters = [{"A": 1 - share, "B": share}, {"A": share, "B": 1 - share}]
    try:
        action = next(steps)
        while True:
            event: Any = left("switch_lamp")
            if isinstance(action, Ask) and AIM in action.request.messages[-1].content:
                event = Replied(Reply("A", first_token={"A": 0.5, "B": 0.5}))
            elif isinstance(action, Ask):
                likely = letters.pop(0) if action.request.top_logprobs else {}
                event = Replied(Reply("A" if likely else off("L-1"), first_token=likely))
            else:
                assert isinstance(action, Execute)
                seen.append(action.calls)
            action = steps.send(event)
    except StopIteration:
        pass
    assert len(seen) == sent
    assert [one.rule for one in made.held] == held
    assert made.has_news() is bool(held), "the lookup is told before the user is asked"


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


NO_DEEDS = ("Which songs are in Sport?", "哪些歌在Sport里？", "ما الأغاني الموجودة في قائمة Sport؟")


@pytest.mark.parametrize(
    ("query", "instructions", "expected"),
    [
        *((query, "", []) for query in NO_DEEDS),
        ("Show me the songs in Sport.", "", ["create_list"]),
        (NO_DEEDS[0], "Call create_list for each list that is named.", ["create_list"]),
        ("What would create_list be good for?", "", []),
    ],
)
def test_who_only_asks_to_be_told_something_has_nothing_written(
    query: str, instructions: str, expected: list[str]
) -> None:
    show = Tool("list_songs", "Lists songs.", effects=READ)
    create = Tool("create_list", "Creates a list.", {"properties": {"name": TEXT}}, effects=WRITE)
    results = [ToolResult("r0", "list_songs", {}, [{"song": "Blue Harbour"}])]
    facts = RunFacts(RunState(Asked(query), (show, create), results=results))
    made = LedContext(
        query=query,
        tools=(show, create),
        planner=FixedPlan([]),
        facts=facts,
        mode="schema",
        conversation=(Message("system", instructions),),
    )
    wanted = calls(("create_list", {"name": "Sport"}))
    _, sent, _ = play(made, [wanted, *[NOTHING] * 4], left("create_list"))
    assert [text.partition("{")[0] for text in sent] == expected


def play_letters(
    made: LedContext, replies: list[str], likely: dict[str, float], *outcomes: Returned
) -> list[str]:
    """The tools that are called, where each letter has the share of the tool that it stands for."""
    steps, left, sent = take_round(LeadPolicy(), made), [*outcomes], []
    try:
        action = next(steps)
        while True:
            event: Any
            if isinstance(action, Ask) and action.request.top_logprobs:
                lines = action.request.messages[-1].content.splitlines()
                names = [line[3:].partition(":")[0] for line in lines if line[1:2] == ")"]
                told = {chr(65 + at): likely.get(name, 0.01) for at, name in enumerate(names)}
                event = Replied(Reply("A", first_token=told))
            elif isinstance(action, Ask):
                event = Replied(Reply(replies.pop(0)))
            else:
                assert isinstance(action, Execute)
                sent += [call.tool for call in action.calls]
                event = left.pop(0)
            action = steps.send(event)
    except StopIteration:
        pass
    return sent


@pytest.mark.parametrize(("share", "expected"), [(0.9, ["list_dates"]), (0.5, ["add_date"])])
def test_a_write_in_the_place_of_one_that_must_wait_is_not_made(
    share: float, expected: list[str]
) -> None:
    key = {"type": "string", "pattern": "^D-[0-9]+$", "description": "Id of the date"}
    move = {"properties": {"date_id": key, "day": TEXT}, "required": ["date_id", "day"]}
    add = {"properties": {"title": TEXT, "day": TEXT}, "required": ["title", "day"]}
    tools = (
        Tool("list_dates", "Lists dates with date_id and title.", effects=READ),
        Tool("add_date", "Adds a date.", add, effects=WRITE),
        Tool("move_date", "Moves a date.", move, effects=WRITE),
    )
    query = "Move the dentist to Monday"
    made = LedContext(
        query=query,
        tools=tools,
        planner=FixedPlan([]),
        facts=RunFacts(RunState(Asked(query), tools)),
        mode="schema",
    )
    replies = [
        calls(("add_date", {"title": "dentist", "day": "Monday"})),
        calls(("move_date", {"date_id": "D-9", "day": "Monday"})),
        NOTHING,
        NOTHING,
    ]
    likely = {"move_date": share, "add_date": 1 - share}
    assert play_letters(made, replies, likely, left("list_dates")) == expected


@pytest.mark.parametrize(
    ("query", "expected"), [("What do I have to buy?", "get_list"), ("Tell me.", "list_bills")]
)
def test_the_lookup_that_a_question_asks_for_is_made(query: str, expected: str) -> None:
    tools = (Tool("list_bills", "Bills.", effects=READ), Tool("get_list", "Items.", effects=READ))
    made = LedContext(
        query=query,
        tools=tools,
        planner=FixedPlan([]),
        facts=RunFacts(RunState(Asked(query), tools)),
        mode="schema",
    )
    likely = {"get_list": 0.9, "list_bills": 0.1}
    replies = [calls(("list_bills", {}))]
    assert play_letters(made, replies, likely, left(expected)) == [expected]


@pytest.mark.parametrize(
    ("query", "deed", "expected"),
    [
        ("Switch off all of them but one.", 0.9, ["switch_lamp"]),
        ("Could you switch it off?", 0.9, ["switch_lamp"]),
        ("Is any of them on?", 0.2, []),
        ("Is any of them on? Switch it off.", 0.2, []),
    ],
)
def test_a_request_for_a_deed_is_not_doubted_behind_a_lookup(
    query: str, deed: float, expected: list[str]
) -> None:
    made = lit(query, ROOMS, wishes=("list the lamps",))
    likely = {"something to be done, sent or changed": deed, "to know something": 1 - deed}
    likely |= {"switch_lamp": 0.5, "list_lamps": 0.5}
    replies = [off("L-1"), *[NOTHING] * 4]
    assert play_letters(made, replies, likely, left("switch_lamp")) == expected
    assert [one.rule for one in made.held] == ["unasked_write"] * ("Switch it" in query)


def answer_question(
    before: str, query: str, yes: float
) -> tuple[LedContext, list[str], list[ToolCall]]:
    """The questions for one letter and the calls, where the model switches L-1 off upon an answer."""
    made = lit(query, ROOMS, wishes=("list the lamps",))
    made.conversation = (Message("user", "Hello"), Message("assistant", before))
    steps, asked, sent = take_round(LeadPolicy(), made), [], list[ToolCall]()
    try:
        action = next(steps)
        while True:
            event: Any = left("switch_lamp")
            if isinstance(action, Ask) and AIM in action.request.messages[-1].content:
                event = Replied(Reply("A", first_token={"A": 0.5, "B": 0.5}))
            elif isinstance(action, Ask) and action.request.top_logprobs:
                asked.append(action.request.messages[-1].content)
                is_first = "A) yes" in asked[-1]
                likely = {"A": yes, "B": 1 - yes} if is_first else {"A": 1 - yes, "B": yes}
                event = Replied(Reply("A", first_token=likely))
            elif isinstance(action, Ask):
                event = Replied(Reply(off("L-1") if not asked or not sent else NOTHING))
            elif isinstance(action, Execute):
                sent += action.calls
            action = steps.send(event)
    except StopIteration:
        pass
    return made, asked, sent


@pytest.mark.parametrize(
    "before", ["Hello. Anything else I can do for you?", "It is 1:05. L-12 is on. Anything else?"]
)
def test_a_question_about_something_else_is_no_question_about_a_write(before: str) -> None:
    _, asked, _ = answer_question(before, "Yes, please", 0.9)
    assert len(asked) == 2
    assert all(f"{before}\nYes, please" in text for text in asked)


@pytest.mark.parametrize(
    "before", ["Shall I call switch_lamp for the hall?", "Soll ich L-1 ausschalten?"]
)
def test_a_write_that_the_user_says_yes_to_is_made(before: str) -> None:
    made, asked, sent = answer_question(before, "Yes, please", 0.9)
    assert len(asked) == 2
    assert all(f"Assistant: {before}\nUser: Yes, please" in text for text in asked)
    assert [call.tool for call in sent] == ["switch_lamp"]
    assert not made.held


@pytest.mark.parametrize(("yes", "is_held"), [(0.2, False), (0.49, True)])
def test_a_write_that_the_user_says_no_to_is_not_made(yes: float, is_held: bool) -> None:
    made, _, sent = answer_question("Soll ich L-1 ausschalten?", "Nein, noch nicht.", yes)
    assert sent == []
    assert [one.rule for one in made.held] == ["unasked_write"] * is_held
    named, _, sent = answer_question("Soll ich L-1 ausschalten?", "Nein, nicht L-1.", yes)
    assert (sent, len(named.held)) == ([], 1), "it is named: the user is asked"


def test_a_model_without_probabilities_is_asked_for_one_letter_once() -> None:
    made = lit("Look which lamps there are.", ROOMS, wishes=("list the lamps",))
    replies = [off("L-1"), "A"]
    made_calls, sent, asked = play(made, replies, left("switch_lamp"))
    assert (made_calls, len(sent), len(asked)) == (True, 1, 2)
    assert made.is_silent


def test_a_letter_that_is_known_is_not_asked_for_again() -> None:
    first = lit("Which lamps are there?", ROOMS, wishes=("list the lamps",))
    request = ChatRequest((Message("user", "Which?"),), "letter", max_tokens=1, top_logprobs=5)
    steps = first.ask_letter(request)
    reply = Reply("A", first_token={"A": 0.9})
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(Replied(reply))
    again = lit("Which lamps are there?", ROOMS)
    again.letters = first.letters
    with pytest.raises(StopIteration) as end:
        next(again.ask_letter(request))
    assert end.value.value == reply
