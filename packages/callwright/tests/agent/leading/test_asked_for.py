"""Writes that nobody asked for are left out before they are made."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.leading.asked_for import leave_out_unasked
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.turn import take_round
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, Replied, Returned
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    READ,
    WRITE,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.testing import FixedPlan
from tests.agent.leading.rounds import (
    NOTHING,
    ORDER,
    ROOMS,
    TEXT,
    calls,
    lead_with,
    left,
    lit,
    off,
    play,
)

AIM = "What does the user want?"


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


NO_DEEDS = ("Which songs are in Sport?", "哪些歌在Sport里？", "ما الأغاني الموجودة في قائمة Sport؟")


@pytest.mark.parametrize(
    ("query", "instructions", "expected"),
    [
        *((query, "", []) for query in NO_DEEDS),
        ("Show me the songs in Sport.", "", ["create_list"]),
        (NO_DEEDS[0], "Call create_list for each list that is named.", ["create_list"]),
        (NO_DEEDS[0], "You have list_songs and create_list.", []),
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
    made = lead_with(tools, query)
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
    made = lead_with(tools, query)
    likely = {"get_list": 0.9, "list_bills": 0.1}
    replies = [calls(("list_bills", {}))]
    assert play_letters(made, replies, likely, left(expected)) == [expected]


def test_a_lookup_of_what_the_request_names_is_made() -> None:
    tools = (Tool("get_part", "A part.", effects=READ), Tool("find_part", "Finds.", effects=READ))
    query = "How many B-220 do we have?"
    made = lead_with(tools, query)
    replies = [calls(("get_part", {"part_code": "B-220"}))]
    assert play_letters(made, replies, {"find_part": 0.9}, left("get_part")) == ["get_part"]


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


@pytest.mark.parametrize(
    ("query", "sent"),
    [("Switch off the lights, but not in the kitchen.", []), ("Switch off the kitchen.", ["L-1"])],
)
def test_a_write_to_what_the_request_forbids_is_held(query: str, sent: list[str]) -> None:
    made = lit(query, ROOMS)
    _, called, _ = play(made, [off("L-1"), *[NOTHING] * 3], left("switch_lamp"))
    assert [text.split('"')[3] for text in called] == sent
    assert [one.rule for one in made.held] == ["unasked_write"] * (not sent)


@pytest.mark.parametrize("is_made", [False, True])
def test_a_forbidden_write_beside_another_one_is_left_out_without_a_question(
    is_made: bool,
) -> None:
    given: dict[str, Any] = {"lamp_id": "L-2", "on": False}
    hall = ToolResult("r2", "switch_lamp", given, {**given})
    made = lit("Switch off the hall, but not the kitchen.", ROOMS, *[hall] * is_made)
    both = [("switch_lamp", {**given, "lamp_id": lamp}) for lamp in ("L-1", "L-2")]
    reply = calls(*both[: 2 - is_made])
    _, called, _ = play(made, [reply, *[NOTHING] * 3], left("switch_lamp"))
    assert ["L-1" in text for text in called] == [False] * (not is_made)
    assert made.held == []


def of_carts(*names: str) -> LedContext:
    cart = {"type": "object", "properties": {"cart_id": TEXT}}
    needs = {"properties": {"cart_id": TEXT}, "required": ["cart_id"]}
    tools = (
        Tool("create_cart", "Makes a cart.", {}, output_schema=cart, effects=WRITE),
        Tool("order_cart", "Orders a cart.", needs, effects=WRITE),
        Tool("list_carts", "Lists carts.", {}, output_schema=cart, effects=READ),
    )
    offered = tuple(tool for tool in tools if tool.name in names)
    query = "Order part A-100 for Ada"
    return lead_with(offered, query)


@pytest.mark.parametrize(
    ("names", "replied", "expected"),
    [
        (("create_cart", "order_cart"), ["create_cart"], "create_cart"),
        (("create_cart", "order_cart", "list_carts"), ["create_cart"], ""),
    ],
)
def test_a_write_that_the_right_one_needs_first_is_made(
    names: tuple[str, ...], replied: list[str], expected: str
) -> None:
    replies = [calls(*((name, {}) for name in replied)), *[NOTHING] * 4]
    likely = {"order_cart": 0.95, "create_cart": 0.01}
    made = play_letters(of_carts(*names), replies, likely, left(expected), left(expected))
    assert made == [expected] * bool(expected)


def test_of_two_writes_in_one_reply_none_stands_in_the_place_of_the_other() -> None:
    both = (ORDER, Tool("drop", "Drops.", {"properties": {"code": TEXT}}, effects=WRITE))
    query = "Order 2 of A-1 and drop B-1"
    made = lead_with(both, query)
    replies = [calls(("order", {"code": "A-1", "pieces": 2}), ("drop", {"code": "B-1"}))]
    likely = {"order": 0.95, "drop": 0.01}
    assert play_letters(made, replies, likely, left("order", "drop")) == ["order", "drop"]


SONGS = (
    Tool("get_list", "Gets a list.", {"properties": {"list_id": TEXT}}, effects=READ),
    Tool("create_list", "Creates a list.", {"properties": {"name": TEXT}}, effects=WRITE),
    Tool("add_song", "Adds a song.", {"properties": {"song": TEXT}}, effects=WRITE),
)


def leave_out(
    share: float, wanted: Any, results: list[ToolResult], *calls: ToolCall
) -> tuple[list[str], bool]:
    """The tools that are called, where add_song has this share, and if a call is held."""
    query = "Create a list 'Sunday'."
    made = lead_with(SONGS, query, *results)
    steps = leave_out_unasked(calls, wanted, made)
    try:
        action = next(steps)
        while True:
            assert isinstance(action, Ask)
            lines = action.request.messages[-1].content.splitlines()
            names = [line[3:].partition(":")[0] for line in lines if line[1:2] == ")"]
            rest = (1 - share) / (len(names) - 1) if len(names) > 1 else 1
            told = {chr(65 + at): share if n == "add_song" else rest for at, n in enumerate(names)}
            action = steps.send(Replied(Reply("A", first_token=told)))
    except StopIteration as end:
        return [call.tool for call in end.value], bool(made.held)


ADD = ToolCall("c2", "add_song", {"song": "Lanterns"})
CREATE = ToolCall("c1", "create_list", {"name": "Sunday"})
GOT = ToolResult("r0", "get_list", {"list_id": "L-1"}, {"songs": ["Lanterns"]})


@pytest.mark.parametrize(
    ("share", "wanted", "is_made", "is_held"),
    [
        (0.05, {"add_song"}, False, False),  # the model made the wish up
        (0.2, {"add_song"}, True, False),
        (0.2, (), False, True),
        (0.05, (), False, False),
    ],
)
def test_a_stated_wish_is_believed_beside_another_write_unless_nothing_asks_for_it(
    share: float, wanted: Any, is_made: bool, is_held: bool
) -> None:
    done = ToolResult("r1", "create_list", {"name": "Sunday"}, {"list_id": "L-4"})
    assert leave_out(share, wanted, [done], ADD) == (["add_song"] * is_made, is_held)


@pytest.mark.parametrize(("share", "is_made"), [(0.05, False), (0.2, True)])
def test_a_write_beside_another_one_of_the_same_reply_is_left_out_where_nothing_asks_for_it(
    share: float, is_made: bool
) -> None:
    called, is_held = leave_out(share, (), [GOT], CREATE, ADD)
    assert called == ["create_list", *["add_song"] * is_made]
    assert not is_held
