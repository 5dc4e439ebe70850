"""Histories that a client tells as text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.types import Message, ToolCall
from callwright.proxy.session.told_calls import read_told_calls, write_told_calls
from tests.proxy.playbook import JSON, Playbook, native_stream, whole
from tests.proxy.session.test_guard import (
    ASKED,
    LOOK,
    PAID,
    PAY,
    came,
    context,
    offered,
    pay,
    rules,
)
from tests.proxy.session.test_told_prompt import EXAMPLES, RULES, TOLD

SMOLAGENTS = (
    "Calling tools:\n[{'id': 'call_1', 'type': 'function', 'function': {'name': 'pay',"
    " 'arguments': {'to': 'Ann', 'amount': 50}}}]"
)
REACT = 'Thought: I pay.\nAction: pay\nAction Input: {"to": "Ann", "amount": 50}'
FORMATS = pytest.mark.parametrize("told", [SMOLAGENTS, REACT])


def turns(told: str, result: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": told}, {"role": "user", "content": result}]


@FORMATS
def test_a_write_that_was_told_as_text_is_not_made_again(told: str) -> None:
    """smolagents entered one event eight times: no call of its history was seen."""
    done = context(*turns(told, 'Observation:\n{"paid": true}'))
    assert rules(done, pay(), pay(to="Bob")) == ["repeated_write", ""]
    assert done.query == "Pay Ann 50 kroner, please.", "a result is no new wish"
    (result,) = done.state.results
    assert (result.tool, result.arguments, result.ok) == ("pay", PAID, True)
    assert result.content == {"paid": True}


@FORMATS
def test_one_that_failed_may_have_happened_and_one_that_is_asked_for_again_is_made(
    told: str,
) -> None:
    failed = context(*turns(told, "Call id: call_1\nError:\nno connection to the bank"))
    assert not failed.state.results[0].ok
    assert rules(failed, pay(), pay(to="Bob")) == ["repeated_write", ""]
    again = {"role": "user", "content": "Once more, please."}
    assert rules(context(*turns(told, "Observation: paid"), again), pay()) == [""]


def test_what_the_client_says_of_a_reply_without_a_call_opens_no_turn() -> None:
    wordy = turns("I have paid.", "Error:\nno tool call was found in your reply. Now let's retry")
    paid = turns(SMOLAGENTS, "Observation: paid")
    assert rules(context(*paid, *wordy), pay()) == ["repeated_write"]
    pasted = context(*wordy)
    assert pasted.query.startswith("Error:"), "without a call told as text it may be the user's"


def test_an_error_that_the_user_pastes_opens_a_turn() -> None:
    """A ReAct history, its answer in words, and then what somebody saw elsewhere."""
    paid = turns(REACT, "Observation: paid")
    error = "Error: disk full on host b, free some space"
    found = context(*paid, *turns("Ann was paid.", error))
    assert found.query == error


@pytest.mark.parametrize(
    ("observed", "results"),
    [
        ("paid\npaid", ["paid\npaid", "paid\npaid"]),
        ('{"fee": 1}\n{"fee": 3}', [{"fee": 1}, {"fee": 3}]),
        ('{"fee": 1}\n{"fee": 3}\n{"left": 9}', ['{"fee": 1}\n{"fee": 3}\n{"left": 9}'] * 2),
    ],
)
def test_several_calls_have_their_results_where_each_is_a_line_of_its_own(
    observed: str, results: list[Any]
) -> None:
    both = SMOLAGENTS.replace("}}}]", "}}}, " + SMOLAGENTS[len("Calling tools:\n[") :]).replace(
        "'amount': 50}}}, {", "'amount': 20}}}, {", 1
    )
    done = context(*turns(both, f"Observation:\n{observed}"))
    assert [one.arguments["amount"] for one in done.state.results] == [20, 50]
    assert [one.content for one in done.state.results] == results


@pytest.mark.parametrize(
    "messages",
    [
        [Message("user", "Observation: it rains.")],
        [Message("assistant", "Look outside."), Message("user", "Observation: it rains.")],
        [Message("assistant", REACT), Message("user", "That was right.")],
        [
            Message("assistant", "", (ToolCall("c1", "pay", {}),)),
            Message("tool", "paid", tool_call_id="c1"),
            Message("user", "Observation: it rains."),
        ],
    ],
)
def test_what_is_said_in_words_stays_said(messages: list[Message]) -> None:
    tools = context(tools=[PAY, LOOK]).toolset.tools
    assert read_told_calls(messages, tools) == tuple(messages)


def test_the_body_of_such_a_request_is_written_as_any_other() -> None:
    """What frames the words of the user and of the model is the client's notation, not theirs."""
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}
    told = [
        {"role": "system", "content": f"{EXAMPLES}\n{TOLD}\n{RULES}"},
        {"role": "user", "content": [{"type": "text", "text": "New task:\nPay Ann 50 kroner."}]},
        picture,
        *turns(f"I pay her.\n{SMOLAGENTS}", 'Observation:\n{"paid": true}'),
    ]
    tools = context(tools=[PAY, LOOK]).toolset.tools
    system, asked, shown, called, result = write_told_calls(told, tools)
    assert isinstance(called, dict)
    assert (system, asked) == (
        {"role": "system", "content": TOLD},
        {"role": "user", "content": "Pay Ann 50 kroner."},
    )
    assert shown is picture
    assert called["content"] == "I pay her."
    assert result == {"role": "tool", "content": '{"paid": true}', "tool_call_id": "told_3_0"}


def test_the_words_of_a_task_stay_where_no_such_prompt_was_told() -> None:
    told = [{"role": "user", "content": "New task:\nPay Ann 50 kroner."}]
    assert write_told_calls(told, ()) == told


def trimmed(tools: Any, told: Any, **more: Any) -> Playbook:
    """The upstream pays Ann after a result whose call the client has left out."""
    messages = [ASKED, came(json.dumps(told)) | more]
    book = Playbook().ask({"model": "m", "messages": messages, "tools": tools, "stream": True})
    return book.answer(native_stream(("n1", "pay", json.dumps(PAID))))


ECHO = {"id": "T-1", "to": "Ann", "amount": 50.0, "status": "sent"}


def test_a_write_whose_call_was_trimmed_is_not_made_again_where_its_result_tells_it() -> None:
    book = trimmed([PAY, LOOK], ECHO, name="pay")
    assert [edit.rule for edit in book.record.edits] == ["unpaired_result"]
    assert len(book.asked) == 2, "asked for words instead"
    sent = json.loads(book.asked[0].body)["messages"]
    assert [message["role"] for message in sent] == ["user", "user"], "no call is made up"
    book.answer(whole("Ann has her 50 kroner."), JSON)
    assert book.message["calls"] == []
    assert [edit.rule for edit in book.record.edits] == ["unpaired_result", "repeated_write"]


@pytest.mark.parametrize(
    ("tools", "told", "name"),
    [
        ([PAY, LOOK], {**ECHO, "to": "Bob"}, "pay"),
        ([PAY, LOOK], {"paid": True}, "pay"),
        ([PAY, LOOK], [ECHO], "pay"),
        ([PAY, LOOK], ECHO, "balance"),
        ([PAY, LOOK], ECHO, "bills"),
        ([PAY, LOOK], ECHO, ""),
        ([offered("pay", PAY["function"]["parameters"]["properties"])], ECHO, "pay"),
    ],
    ids=["another", "not told", "several", "a read", "not offered", "nameless", "undeclared"],
)
def test_it_is_made_where_that_is_not_sure(tools: Any, told: Any, name: str) -> None:
    book = trimmed(tools, told, **({"name": name} if name else {}))
    assert [one["name"] for one in book.message["calls"]] == ["pay"]


def test_a_trimmed_write_that_failed_may_have_happened() -> None:
    assert len(trimmed([PAY, LOOK], {**ECHO, "error": "timed out"}, name="pay").asked) == 2
