"""Guided mode as a whole, as the session's client sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, Playbook, text_stream, whole

TOOL = {
    "type": "function",
    "function": {
        "name": "deposit",
        "description": "Deposits money.",
        "parameters": {
            "type": "object",
            "properties": {"amount": {"type": "number"}},
            "required": ["amount"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [*messages], "tools": [TOOL], **more}


ASKED = {"role": "user", "content": "Deposit 75."}
CALL = '{"wishes": ["deposit"], "calls": [{"name": "deposit", "arguments": {"amount": 75}}]}'


def test_the_calls_that_the_engine_decides_on_go_to_the_client() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(whole(CALL), JSON)
    message = json.loads(book.out)["choices"][0]["message"]
    assert [c["function"]["name"] for c in message["tool_calls"]] == ["deposit"]


def test_with_the_result_the_client_gets_a_sentence() -> None:
    entry = {
        "id": "c1",
        "type": "function",
        "function": {"name": "deposit", "arguments": '{"amount": 75}'},
    }
    done = [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [entry]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"balance": 175}'},
    ]
    said = {"statements": [{"text": "The balance is 175.", "results": ["r1"]}], "missing": []}
    book = Playbook(Settings(guided="on")).ask(body(*done)).answer(whole(json.dumps(said)), JSON)
    choice = json.loads(book.out)["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (
        "The balance is 175.",
        "stop",
    )


def test_words_that_need_no_tool_flow_as_they_come() -> None:
    greeting = {"role": "user", "content": "Guten Morgen!"}
    book = Playbook(Settings(guided="on")).ask(body(greeting, stream=True))
    book.answer(whole('{"no_call": "a greeting"}'), JSON)
    stream = text_stream("Guten ", "Morgen!")
    assert book.answer(stream).out == stream


def test_an_upstream_that_cannot_be_led_is_asked_as_the_client_did() -> None:
    raw = json.dumps(body(ASKED)).encode()
    book = Playbook(Settings(guided="on")).ask(raw).answer(whole("What do you mean?"), JSON)
    assert book.asked[1].body == raw


def test_the_engine_is_loaded_where_somebody_is_led_and_nowhere_else() -> None:
    code = (
        "import sys, callwright.cli.proxy\n"
        "print('callwright.dataflow.flow' in sys.modules, 'callwright.grounding' in sys.modules)\n"
        "from callwright.proxy.session.phases.leading import load_engine\n"
        "load_engine()\n"
        "print('callwright.grounding' in sys.modules, 'numpy' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert said.stdout.split() == ["False", "False", "True", "False"]


def test_the_record_and_the_headers_say_which_parts_led_and_how_far() -> None:
    book = Playbook(Settings(guided="on", without=frozenset({"wishes"})))
    book.ask(body(ASKED)).answer(whole(CALL), JSON)
    led = book.record.led
    assert led.parts == ("select", "layers", "prerequisites", "polling", "question", "answer")
    assert led.steps == ("offered: deposit",)
    assert book.record.notes == []
    assert book.head is not None
    told = dict(book.head.headers)
    assert told["x-callwright-guided"] == "select, layers, prerequisites, polling, question, answer"
    assert (told["x-callwright-guard"], told["x-callwright-held"]) == ("act", "0")


def test_a_call_that_is_kept_back_on_the_way_is_told_with_the_words_that_follow() -> None:
    wrong = CALL.replace("75", "7777")
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(whole(wrong), JSON)
    while book.finished is None:
        book.answer(whole("Which amount?"), JSON)
    held = book.record.guarding.held
    assert {one.rule for one in held} == {"unstated_write"}
    assert not any(one.is_sent for one in held)
    assert {edit.rule for edit in book.record.edits} == {"unstated_write"}, "each change is listed"
    assert book.head is not None
    assert int(dict(book.head.headers)["x-callwright-held"]) == len(held)


def test_what_cannot_be_led_is_not_said_to_be() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(whole("What?"), JSON)
    book.answer(whole("What do you mean?"), JSON)
    assert book.record.led is None
    assert book.head is not None
    assert "x-callwright-guided" not in dict(book.head.headers)
