"""The state of a run from a conversation: turns, calls with their results, what may have happened."""

from __future__ import annotations

import asyncio
from time import process_time
from typing import Any

import pytest

from callwright.agent.fold import (
    NO_RESULT,
    Called,
    Returned,
    Said,
    Spoke,
    fold_entries,
    list_returned,
    read_journal,
    read_messages,
)
from callwright.agent.orchestrator import Orchestrator
from callwright.agent.state import RunState
from callwright.nouns.trace import Event
from callwright.nouns.types import READ, WRITE, Message, Tool, ToolCall
from callwright.testing import FakeTool, ScriptedModel, fake_source

PAY = Tool("pay", effects=WRITE)
LOOK = Tool("look", effects=READ)
BARE = Tool("bare")


def called(name: str, number: str = "c1", **arguments: Any) -> Called:
    return Called((ToolCall(number, name, arguments),))


def fold(*entries: Any) -> RunState:
    return fold_entries(entries, (PAY, LOOK, BARE))


def test_a_message_of_the_user_opens_a_turn_and_earlier_results_stay_known() -> None:
    state = fold(
        Said("Be brief.", "system"),
        Spoke("Find Ann."),
        called("look", q="Ann"),
        Returned("c1", '{"id": 7}'),
        Said("Ann is 7."),
        Spoke("Pay her."),
        called("look", "c2", q="Bob"),
        Returned("c2", "nobody"),
    )
    assert state.asked.query == "Pay her."
    assert [(m.role, m.content) for m in state.asked.conversation] == [
        ("system", "Be brief."),
        ("user", "Find Ann."),
        ("assistant", "Ann is 7."),
    ]
    assert [(r.id, r.content) for r in state.earlier] == [("r1", {"id": 7})]
    assert [(r.id, r.arguments, r.content) for r in state.results] == [
        ("r2", {"q": "Bob"}, "nobody")
    ]


def test_a_reminder_behind_results_is_no_turn_and_the_same_request_behind_an_answer_is_one() -> (
    None
):
    reminder = Spoke("请简短回答")
    begun = [reminder, Spoke("Pay."), called("pay"), Returned("c1", "paid")]
    assert [r.id for r in fold(*begun, reminder).results] == ["r1"]
    assert fold(*begun, reminder).asked.query == "Pay."
    again = fold(*begun, Said("Done."), Spoke("Pay."))
    assert (again.results, [r.id for r in again.earlier]) == ((), ["r1"])
    assert fold(*begun, Spoke("Stop!")).asked.query == "Stop!", "new words always count"


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_reminder_that_stood_beside_the_request_opens_no_turn(between: str) -> None:
    reminders = ("请简短回答", "Use euros.")
    begun = [Spoke(between.join(["Pay.", *reminders])), called("pay"), Returned("c1", "paid")]
    for again in (*reminders, between.join(reminders)):
        state = fold(*begun, Spoke(again))
        assert ([r.id for r in state.results], state.asked.query[:4]) == (["r1"], "Pay.")
    assert fold(*begun, Spoke("Use euros. Pay.")).asked.query == "Use euros. Pay."


def test_a_reminder_behind_every_word_of_the_user_is_not_what_was_asked() -> None:
    reminder = Spoke("请简短回答")
    begun = [Spoke("Pay."), reminder, called("pay"), Returned("c1", "paid"), Said("Done.")]
    assert fold(*begun, Spoke("Pay Bob."), reminder).asked.query == "Pay Bob."
    assert fold(*begun, Spoke("Pay.")).asked.query == "Pay.", "behind an answer it is asked anew"


def test_of_the_present_turn_the_calls_are_listed_that_returned_something() -> None:
    broken = Called((ToolCall("c2", "pay", "{"), ToolCall("c3", "pay", {})))
    before = [Spoke("Look."), called("pay"), Returned("c1", "paid"), Spoke("Pay.")]
    (listed,) = list_returned([*before, broken, Returned("c2", "Error: no")])
    assert (listed[0].arguments, listed[1].ok) == ("{", False)


@pytest.mark.parametrize("ids", [("a", "b"), ("", ""), ("same", "same")])
def test_calls_are_numbered_as_they_were_written_whatever_their_ids(ids: tuple[str, str]) -> None:
    one, two = ids
    state = fold(
        Spoke("go"),
        called("look", one, q=1),
        Returned(one, "first", "look"),
        called("look", two, q=2),
        Returned(two, "second", "look"),
    )
    assert [(r.id, r.arguments["q"], r.content) for r in state.results] == [
        ("r1", 1, "first"),
        ("r2", 2, "second"),
    ]


@pytest.mark.parametrize("text", ["Error: no answer in time", NO_RESULT, None])
def test_a_write_without_a_clear_outcome_may_have_happened(text: str | None) -> None:
    back = [] if text is None else [Returned("c1", text)]
    assert [*fold(Spoke("go"), called("pay"), *back).lasting.doubts] == ["r1"]
    assert not fold(Spoke("go"), called("look"), *back).lasting.doubts
    assert not fold(Spoke("go"), called("pay"), Returned("c1", "{}")).lasting.doubts


def test_calls_in_flight_are_facts() -> None:
    state = fold(Spoke("go"), Called((ToolCall("a", "look", {}), ToolCall("b", "pay", "{}"))))
    assert [call.id for call in state.open.in_flight] == ["r1", "r2"]
    assert not fold(Spoke("go"), called("look"), Returned("c1", "x")).open.in_flight


def test_results_and_arguments_that_are_no_json_stay_text() -> None:
    state = fold(Spoke("go"), Called((ToolCall("a", "look", '{"q": '),)), Returned("a", "[1, "))
    assert (state.results[0].arguments, state.results[0].content) == ({}, "[1, ")


def test_results_of_calls_that_are_not_shown_are_left_out() -> None:
    assert not fold(Spoke("go"), Returned("x", "lost")).results


def test_results_find_their_calls_in_time_that_grows_with_their_number() -> None:
    calls = tuple(ToolCall(f"c{n}", "look", "{}") for n in range(20_000))
    results = tuple(Message("tool", "done", tool_call_id=call.id) for call in calls)
    messages = (Message("user", "go"), Message("assistant", "", calls), *results)
    began = process_time()
    assert len(fold(*read_messages(messages)).results) == 20_000
    assert process_time() - began < 5.0, "a look at every open call for every result takes longer"


async def test_a_journal_tells_the_same_as_the_messages_that_show_it() -> None:
    """Of a run of our own: what its trace tells, against the messages a client would keep of it."""

    look = FakeTool("look", {"q": {"type": "string"}}, output={"found": "OSLO"}, effects=READ)
    call = {"tool": "look", "arguments": {"q": "oslo"}}
    said = {"statements": [{"text": "OSLO was found.", "results": ["r1"]}], "missing": []}
    model = ScriptedModel({"bind": [{"useful": ["look"], "calls": [call]}], "answer": [said]})
    run = await Orchestrator([fake_source(look)], model=model).run("Find oslo")
    direct = fold_entries(read_journal(run.events), (LOOK,))
    shown = [
        Message("user", "Find oslo"),
        Message("assistant", "", (ToolCall("call_9", "look", '{"q": "oslo"}'),)),
        Message("tool", '{"found": "OSLO"}', tool_call_id="call_9"),
        Message("assistant", run.answer.text),
    ]
    assert direct == fold_entries(read_messages(shown), (LOOK,))
    assert [r.content for r in direct.results] == [{"found": "OSLO"}]


async def test_parallel_calls_of_a_journal_stand_in_the_order_in_which_they_were_written() -> None:
    held = asyncio.Event()

    async def answer(q: str) -> str:
        held.set()
        return f"{q} is fast"

    about = {"q": {"type": "string"}}
    slow = FakeTool("slow", about, output="slow", effects=READ, hold=held)
    fast = FakeTool("fast", about, output=answer, effects=READ)
    calls = [{"tool": name, "arguments": {"q": "oslo"}} for name in ("slow", "fast")]
    replies: Any = {"bind": [{"calls": calls}], "*": {"statements": [], "missing": []}}
    run = await Orchestrator([fake_source(slow, fast)], model=ScriptedModel(replies)).run("Oslo?")
    came = [event.data["tool"] for event in run.events if event.kind == "result"]
    assert came == ["fast", "slow"]
    entries = [*read_journal(run.events)]
    assert [[c.tool for c in e.calls] for e in entries if isinstance(e, Called)] == [
        ["slow", "fast"]
    ]
    state = fold_entries(entries, (slow.tool, fast.tool))
    assert [(r.id, r.tool) for r in state.results] == [("r1", "slow"), ("r2", "fast")]


async def test_a_journal_tells_the_calls_of_earlier_turns() -> None:
    conversation = (
        Message("user", "Pay Ann."),
        Message("assistant", "", (ToolCall("r1", "pay", {"whom": "Ann"}),)),
        Message("tool", '{"receipt": "A-17"}', tool_call_id="r1", name="pay"),
        Message("assistant", "Paid."),
    )
    model = ScriptedModel({"bind": [{"calls": []}], "*": {"statements": [], "missing": []}})
    orchestrator = Orchestrator([fake_source(FakeTool("pay", effects=WRITE))], model=model)
    run = await orchestrator.run("The receipt?", conversation)
    state = fold_entries(read_journal(run.events), (PAY,))
    assert state.asked.query == "The receipt?"
    assert [(r.id, r.arguments, r.content) for r in state.earlier] == [
        ("r1", {"whom": "Ann"}, {"receipt": "A-17"})
    ]


def start(query: str = "Pay.", **beside: Any) -> tuple[str, dict[str, Any]]:
    return "run.start", {"query": query, "conversation": [], "run": "one", **beside}


def raw(id_: str) -> tuple[str, dict[str, Any]]:
    return "call.raw", {"id": id_, "tool": "pay", "arguments": {}}


def intent(id_: str, attempt: int = 1, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "intent", {"id": id_, "tool": "pay", "attempt": attempt, "arguments": arguments}


def result(
    id_: str, content: Any = "paid", attempt: int = 1, **beside: Any
) -> tuple[str, dict[str, Any]]:
    told = {"id": id_, "tool": "pay", "attempt": attempt, "arguments": {}, "failure": None}
    return "result", {**told, "content": content, **beside}


def journal(*events: tuple[str, dict[str, Any]]) -> list[Any]:
    told = (Event(kind, seq, 0.0, data) for seq, (kind, data) in enumerate(events))
    return [*read_journal(told)]


def test_a_write_in_flight_is_a_call_without_a_result() -> None:
    failure = {"kind": "timeout", "message": "no answer"}
    retried = [intent("r1", n=1), result("r1", None, failure=failure), intent("r1", 2, n=2)]
    for events in ([intent("r1", n=2)], retried):
        state = fold(*journal(start(), raw("r1"), *events))
        assert state.open.in_flight == (ToolCall("r1", "pay", {"n": 2}),)
        assert [*state.lasting.doubts] == ["r1"]
        assert not state.results


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        ({"outcome": "done", "content": {"receipt": 7}}, [Returned("r1", '{"receipt":7}', "pay")]),
        ({"outcome": "failed", "message": "no"}, [Returned("r1", '{"error":"no"}', "pay")]),
        ({"outcome": "not_done"}, None),
    ],
)
def test_a_resolution_tells_what_came_of_a_write_in_flight(
    outcome: dict[str, Any], shown: list[Returned] | None
) -> None:
    found = journal(start(), intent("r1"), ("resolution", {"id": "r1", "attempt": 1, **outcome}))
    call = Called((ToolCall("r1", "pay", {}),))
    assert found == [Spoke("Pay."), *([] if shown is None else [call, *shown])]


def test_calls_are_grouped_by_the_reply_that_made_them() -> None:
    refused = raw("r3")  # a refused call, of which nobody is told
    first = [raw("r1"), raw("r2"), refused, result("r2"), result("r1")]
    found = journal(start(), *first, raw("r4"), raw("r10"), result("r10"), result("r4"))
    calls = [[call.id for call in e.calls] for e in found if isinstance(e, Called)]
    assert calls == [["r1", "r2"], ["r4", "r10"]]
    assert [e.id for e in found if isinstance(e, Returned)] == ["r1", "r2", "r4", "r10"]


def test_a_resumed_run_is_read_as_one_and_another_run_as_another() -> None:
    lost = [start(), raw("r1"), intent("r1"), raw("r2"), intent("r2"), result("r1")]
    replayed = [start(resumed="replay"), raw("r1"), result("r1"), raw("r2"), result("r2", "late")]
    answered = [*lost, *replayed, ("answer", {"text": "Done."})]
    found = journal(*answered)
    assert [type(entry) for entry in found] == [Spoke, Called, Returned, Returned, Said]
    assert [e.content for e in found if isinstance(e, Returned)] == ["paid", "late"]
    other = journal(*answered, start("Again.", run="two"), raw("r1"), result("r1", "twice"))
    assert other == [
        *found,
        Spoke("Again."),
        Called((ToolCall("r1", "pay", {}),)),
        Returned("r1", "twice", "pay"),
    ]


def test_a_call_takes_the_place_of_the_one_of_an_earlier_segment_for_which_it_stands() -> None:
    before = [start(), raw("r1"), result("r1", "known"), raw("r2"), intent("r2")]
    shown_again = [raw("r1"), result("r1", "known", earlier="r1")]
    sent = [raw("r3"), ("intent", {**intent("r3")[1], "earlier": "r2"}), result("r3", earlier="r2")]
    found = journal(*before, start(resumed="continue", segment=2), *shown_again, *sent)
    assert [[c.id for c in e.calls] for e in found if isinstance(e, Called)] == [["r1"], ["r3"]]
    assert not fold(*found).lasting.doubts


def test_a_failure_that_is_our_reading_of_a_result_is_shown_as_it_was_delivered() -> None:
    failure = {"kind": "empty", "message": "the tool returned an empty result"}
    state = fold(*journal(start(), result("r1", [], failure=failure, judged=True)))
    assert [(r.content, r.ok) for r in state.results] == [({"done": True}, True)]
    state = fold(*journal(start(), result("r1", None, failure=failure, judged=False)))
    assert [r.ok for r in state.results] == [False]


def test_a_call_without_an_id_is_not_taken_for_another_whose_id_is_its_number() -> None:
    calls = (ToolCall("r2", "look", {"q": 1}), ToolCall("", "pay", {"q": 2}))
    state = fold(Spoke("go"), Called(calls), Returned("r2", "one"), Returned("", "two"))
    assert [(r.arguments["q"], r.content) for r in state.results] == [(1, "one"), (2, "two")]


def test_what_a_client_adds_behind_a_call_without_a_result_is_no_turn() -> None:
    called_only = [Message("user", "Pay."), Message("assistant", "", (ToolCall("a", "pay", {}),))]
    added = Message("user", "<open-files>a.py</open-files>")
    assert fold(*read_messages([*called_only, added])).asked.query == "Pay."


@pytest.mark.parametrize(
    ("text", "is_spoken"),
    [
        ("<environment_details>\n12:01\n</environment_details>", False),
        (" <open-files>a.py</open-files>\n<current_time>12:01</current_time> ", False),
        ("<environment_details>12:01</environment_details> Go on.", True),
        ("<environment_details>12:01", True),
        ("<b>bold</b>", True),
        ("", False),
    ],
)
def test_what_a_client_wraps_behind_results_is_not_said_by_the_user(
    text: str, is_spoken: bool
) -> None:
    call = Message("assistant", "", (ToolCall("c1", "look", {}),))
    before = [Message("user", "Look."), call, Message("tool", "lamp", tool_call_id="c1")]
    behind = [*before, Message("user", text)]
    spoken = [e.text for e in read_messages(behind) if isinstance(e, Spoke) and e.text]
    assert spoken == ["Look.", *([text] if is_spoken else [])]
    answered = [*before, Message("assistant", "A lamp."), Message("user", text)]
    told = [e.text for e in read_messages(answered) if isinstance(e, Spoke) and e.text]
    assert told == ["Look.", *([text.strip()] if text else [])]


def test_many_wrapped_elements_are_read_at_once() -> None:
    text = "<a-b></a-b>" * 100_000 + "x"
    result = Message("tool", "ok", tool_call_id="c1")
    assert [*read_messages([result, Message("user", text)])][1] == Spoke(text)


def test_results_of_calls_that_share_an_id_come_in_their_order() -> None:
    calls = tuple(ToolCall("c", "look", {"name": name}) for name in ("Ann", "Bob"))
    state = fold_entries([Spoke("Look."), Called(calls), Returned("c", "1"), Returned("c", "2")])
    assert [(r.arguments["name"], r.content) for r in state.results] == [("Ann", 1), ("Bob", 2)]
    assert not state.open.in_flight


@pytest.mark.parametrize(("tool", "content"), [("pay", {"done": True}), ("look", "")])
def test_a_write_that_returned_nothing_is_done(tool: str, content: Any) -> None:
    state = fold_entries(
        [Spoke("x"), Called((ToolCall("c1", tool, {}),)), Returned("c1", "", tool)], (PAY, LOOK)
    )
    assert [(one.content, one.ok) for one in state.results] == [(content, True)]
