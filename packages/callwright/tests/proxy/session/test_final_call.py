"""Clients that demand a call in every reply and end by one of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.proxy.session.decision.decision import Decision
from callwright.proxy.session.events import UpstreamFailed
from callwright.proxy.session.final_call import FinalCall, find_final_call
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, Playbook, assembled, whole
from tests.proxy.session.phases.test_leading import write_letter
from tests.proxy.session.test_guard import (
    ASKED,
    LOOK,
    PAY,
    READ_ONLY,
    called,
    came,
    context,
    offered,
)
from tests.proxy.session.test_told_calls import SMOLAGENTS
from tests.proxy.session.test_told_prompt import EXAMPLES, RULES, TOLD

FORM = offered("final_result", {"receiver": {"type": "string"}, "fee": {"type": "number"}})
FINAL = offered("final_answer", {"answer": {"type": "string"}})
SYSTEM = {"role": "system", "content": f"{EXAMPLES}\n{TOLD}\n{RULES}"}
DONE = [
    {"role": "assistant", "content": SMOLAGENTS},
    {"role": "user", "content": 'Observation:\n{"paid": true, "fee": 3}'},
]


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    tools = [PAY, LOOK, FINAL]
    told = [SYSTEM, *messages]
    return {"model": "m", "messages": told, "tools": tools, "tool_choice": "required", **more}


def calls(reply: bytes) -> list[tuple[str, Any]]:
    message = json.loads(reply)["choices"][0]["message"]
    assert message["content"] is None
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message["tool_calls"]
    ]


def guided(*wanted: Any) -> bytes:
    return whole(json.dumps({"wishes": ["pay"], "calls": list(wanted)}))


PAYING = {"name": "pay", "arguments": {"to": "Ann", "amount": 50}}
DECLINED = '{"no_call": "why"}'
SAID = {"statements": [{"text": "Ann was paid; the fee was 3.", "results": ["r1"]}], "missing": []}


def test_such_a_client_is_led_and_gets_the_call() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(guided(PAYING), JSON)
    assert calls(book.out) == [("pay", {"to": "Ann", "amount": 50})]
    asked = book.asked[0].body.decode()
    assert "final_answer" not in asked
    assert TOLD in asked
    assert "2019" not in asked, "an example of the client's own prompt"


def test_the_answer_is_the_call_that_ends_the_loop() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED, *DONE))
    book.answer(whole(json.dumps(SAID)), JSON)
    assert calls(book.out) == [("final_answer", {"answer": "Ann was paid; the fee was 3."})]
    told = [message["role"] for message in json.loads(book.asked[0].body)["messages"]]
    assert told[:4] == ["system", "user", "assistant", "tool"]


def test_an_answer_without_words_is_made_of_the_results() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED, *DONE))
    while book.finished is None:
        book.answer(whole(""), JSON)
    ((name, given),) = calls(book.out)
    assert name == "final_answer"
    assert "pay(to: Ann, amount: 50): paid: true, fee: 3" in given["answer"]


def test_a_streamed_answer_is_a_call_too() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED, *DONE, stream=True))
    book.answer(whole(json.dumps(SAID)), JSON)
    message = assembled(book.out)
    assert message["text"] == ""
    assert [one["name"] for one in message["calls"]] == ["final_answer"]
    assert message["finish"] == "tool_calls"


def test_a_greeting_is_answered_by_it() -> None:
    book = Playbook(Settings(guided="on")).ask(body({"role": "user", "content": "Good morning!"}))
    book.answer(whole("Good morning! How can I help?<|im_end|>"), JSON)
    assert calls(book.out) == [("final_answer", {"answer": "Good morning! How can I help?"})]


def test_an_upstream_that_cannot_be_led_is_asked_as_the_client_did() -> None:
    raw = json.dumps(body(ASKED)).encode()
    book = Playbook(Settings(guided="on")).ask(raw).answer(whole("What?"), JSON)
    assert book.asked[1].body == raw


def test_an_upstream_that_fails_is_said_to_have_failed() -> None:
    book = Playbook(Settings(guided="on")).ask(body({"role": "user", "content": "Good morning!"}))
    book.tell(UpstreamFailed(Failure("unavailable", "no connection")))
    book.tell(UpstreamFailed(Failure("unavailable", "no connection")))
    assert b"no connection" in book.out
    assert book.record.outcome == "failed"


@pytest.mark.parametrize("is_meant", [True, False])
def test_words_that_are_a_call_of_no_offered_tool_are_no_answer(is_meant: bool) -> None:
    pseudo = whole('{"name": "bank_transfer", "arguments": {"sum": 50}}')
    asked = {"role": "user", "content": "How do things stand?"}
    rates = offered("rates", {}, READ_ONLY)
    begun = {**body(asked), "tools": [rates, PAY, FINAL], "model": f"meant {is_meant}"}
    book = Playbook(Settings(guided="on")).ask(begun)
    book.answer(whole(DECLINED), JSON).answer(whole(DECLINED), JSON).answer(pseudo, JSON)
    book.answer(write_letter("A" if is_meant else "C", 0.9), JSON)
    looking = {"name": "rates", "arguments": {}}
    book.answer(guided(looking) if is_meant else whole("What do you mean?"), JSON)
    said = ("final_answer", {"answer": "What do you mean?"})
    assert calls(book.out) == [("rates", {}) if is_meant else said]


def test_words_that_are_a_call_lead_to_no_write() -> None:
    pseudo = whole('{"name": "bank_transfer", "arguments": {"sum": 50}}')
    book = Playbook(Settings(guided="on")).ask({**body(ASKED), "model": "meant to write"})
    book.answer(whole('{"no_call": "why"}'), JSON).answer(pseudo, JSON)
    book.answer(write_letter("A", 0.9), JSON).answer(whole("Whom do you mean?"), JSON)
    assert calls(book.out) == [("final_answer", {"answer": "Whom do you mean?"})]


@pytest.mark.parametrize(
    ("choice", "tool"),
    [
        ("auto", FINAL),
        ({"type": "function", "function": {"name": "pay"}}, FINAL),
        ("required", LOOK),
        ("required", offered("final_answer", {"answer": {"type": "object"}})),
        ("required", offered("final_answer", {"answer": {"type": "string"}, "sure": {}})),
        ("auto", FORM),
    ],
)
def test_other_clients_have_no_such_call(choice: Any, tool: Any) -> None:
    found = context(tools=[PAY, tool], tool_choice=choice)
    assert find_final_call(found) is None


def test_calls_stay_and_text_becomes_the_answer() -> None:
    found = context(tools=[PAY, FINAL], tool_choice="required")
    final_call = find_final_call(found)
    assert final_call == FinalCall(frozenset({"final_answer"}), "answer")
    made = Decision(text=["Paid.", "", "The fee was 3."])
    final_call.end_with(made, found)
    (sent,) = made.calls
    assert json.loads(sent.arguments) == {"answer": "Paid.\nThe fee was 3."}
    assert not made.text
    final_call.end_with(made, found)
    assert made.calls == [sent]


def form_body(*messages: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "messages": [*messages],
        "tools": [PAY, LOOK, FORM],
        "tool_choice": "required",
    }


MADE = [ASKED, called("pay", {"to": "Ann", "amount": 50}), came('{"paid": true, "fee": 3}')]
RESULT = {"name": "final_result", "arguments": {"receiver": "Ann", "fee": 3}}


def test_a_result_of_the_clients_own_form_comes_last() -> None:
    """Pydantic AI's ``output_type``: else a small model fills it in before it has looked anything up."""
    book = Playbook(Settings(guided="on")).ask(form_body(ASKED))
    assert b"final_result" not in book.asked[0].body
    book.answer(guided(PAYING), JSON)
    assert calls(book.out) == [("pay", {"to": "Ann", "amount": 50})]


def test_when_all_is_done_the_form_is_filled() -> None:
    book = Playbook(Settings(guided="on")).ask(form_body(*MADE))
    assert b"balance" not in book.asked[-1].body
    book.answer(whole(json.dumps({"calls": [RESULT]})), JSON)
    assert calls(book.out) == [("final_result", {"receiver": "Ann", "fee": 3})]


def test_who_is_asked_as_before_is_not_said_to_be_led() -> None:
    asked = {**body(ASKED, *DONE), "tools": [PAY, LOOK, FORM]}
    book = Playbook(Settings(guided="on")).ask(asked)
    book.answer(whole('{"no_call": "done"}'), JSON)
    book.answer(whole("I cannot fill that."), JSON)
    assert book.record.led is None
    assert book.record.guarding.held == []


def test_a_value_that_nobody_said_is_reported_there() -> None:
    book = Playbook(Settings(guided="on")).ask(form_body(*MADE))
    wrong = {**RESULT, "arguments": {"receiver": "Ann", "fee": 17.5}}
    book.answer(whole(json.dumps({"calls": [wrong]})), JSON)
    assert calls(book.out) == [("final_result", {"receiver": "Ann", "fee": 17.5})]
    assert [one.rule for one in book.record.guarding.held] == ["unstated_value"]


def test_one_of_several_forms_is_asked_for() -> None:
    forms = ("final_result_Paid", "final_result_Refused")
    tools = [PAY, *(offered(name, {"why": {"type": "string"}}) for name in forms)]
    found = context(tools=tools, tool_choice="required")
    assert find_final_call(found) == FinalCall(frozenset(forms))
    ending = found.demand(frozenset(forms))
    assert [tool.name for tool in ending.toolset.tools] == [*forms]
    assert ending.demanded


def test_a_client_with_no_other_tool_is_asked_by_schema() -> None:
    assert find_final_call(context(tools=[FORM], tool_choice="required")) is None
