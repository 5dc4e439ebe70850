"""What the guard is told to do, and what of it the client, the page and the counts get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.agent.safety.held_call import HeldCall
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.models.probe import Memory
from callwright.models.write_record import WriteRecord, WriteRecords
from callwright.nouns.types import ToolCall
from callwright.proxy.server.app import UpstreamFacts
from callwright.proxy.server.budget import Budget
from callwright.proxy.session.events import UpstreamData, UpstreamEnd, UpstreamHead
from callwright.proxy.session.guarding import Guarding, choose_mode
from callwright.proxy.session.settings import GuardMode, GuardSetting, Settings
from tests.proxy.playbook import (
    JSON,
    SSE,
    Playbook,
    assembled,
    body,
    call,
    chunk,
    native_stream,
    text_stream,
    whole,
)
from tests.proxy.upstream import Asked, Reply, proxy, upstream

ORDER = {
    "type": "function",
    "function": {
        "name": "place_order",
        "description": "Orders pieces.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "quantity": {"type": "integer"}},
            "required": ["code", "quantity"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
}
MADE = {"code": "A-100", "quantity": 3}
USER = {"role": "user", "content": "Order 3 pieces of A-100."}
AGAIN: list[Any] = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [call("place_order", MADE)]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"order": "O-1", "status": "placed"}'},
]
UNSTATED = {"code": "A-100", "quantity": 7_777}


@pytest.mark.parametrize(
    ("setting", "is_trusted", "mode"),
    [
        ("auto", False, "act"),
        ("auto", True, "report"),
        ("on", True, "act"),
        ("report", False, "report"),
        ("off", False, "off"),
    ],
)
def test_auto_acts_unless_the_model_is_trusted(
    setting: GuardSetting, is_trusted: bool, mode: GuardMode
) -> None:
    assert choose_mode(setting, is_trusted=is_trusted) == mode


def test_calls_kept_back_and_calls_only_reported_are_told_apart() -> None:
    one = HeldCall(ToolCall("a", "t", {}), "repeated_write", "made already")
    two = HeldCall(ToolCall("b", "t", {}), "repeated_write", "made already", is_sent=True)
    made = Guarding("act", [one, two])
    assert (made.kept_back, made.reported) == ([one], [two])


def asked(guard: GuardSetting, messages: list[Any], answer: bytes, **more: Any) -> Playbook:
    settings = Settings(guided="off", guard=guard, reasks=0)
    book = Playbook(settings, **more)
    stream = answer.startswith(b"data:")
    request = {**body(stream, tools=[ORDER]), "messages": messages}
    return book.ask(request).answer(answer, SSE if stream else JSON)


REPEATED_ANSWER = whole(None, [call("place_order", MADE, "c7")], "tool_calls")
UNSTATED_ANSWER = whole(None, [call("place_order", UNSTATED, "c7")], "tool_calls")
RIGHT_ANSWER = whole(None, [call("place_order", MADE, "c7")], "tool_calls")


@pytest.mark.parametrize(
    ("messages", "answer", "rule"),
    [
        (AGAIN, REPEATED_ANSWER, "repeated_write"),
        ([USER], UNSTATED_ANSWER, "unstated_value"),
        (AGAIN, native_stream(("c7", "place_order", json.dumps(MADE))), "repeated_write"),
        ([USER], native_stream(("c7", "place_order", json.dumps(UNSTATED))), "unstated_value"),
    ],
)
def test_a_trusted_models_answers_pass_to_the_byte_and_what_speaks_against_them_is_told(
    messages: list[Any], answer: bytes, rule: str
) -> None:
    book = asked("auto", messages, answer, is_trusted=True)
    assert book.out == answer
    assert book.record.outcome == "untouched"
    (held,) = book.record.guarding.held
    assert (held.rule, held.is_sent, held.call.tool) == (rule, True, "place_order")
    assert held.reason
    assert dict(book.head.headers)["x-callwright-guard"] == "report"  # type: ignore[union-attr]
    kept_back = asked("auto", messages, answer)
    assert kept_back.out != answer
    assert b"c7" not in kept_back.out
    (held,) = kept_back.record.guarding.held
    assert (held.rule, held.is_sent) == (rule, False)


def test_right_answers_pass_to_the_byte_in_every_mode() -> None:
    for guard in ("auto", "on", "report", "off"):
        for answer in (RIGHT_ANSWER, native_stream(("c7", "place_order", json.dumps(MADE)))):
            book = asked(guard, [USER], answer)
            assert book.out == answer
            assert book.record.guarding.held == []


def test_the_headers_say_what_was_kept_back() -> None:
    headers = {
        guard: dict(asked(guard, AGAIN, REPEATED_ANSWER).head.headers)  # type: ignore[arg-type,union-attr]
        for guard in ("on", "report", "off")
    }
    assert {
        guard: (told["x-callwright-guard"], told["x-callwright-held"])
        for guard, told in headers.items()
    } == {"on": ("act", "1"), "report": ("report", "0"), "off": ("off", "0")}
    assert "x-callwright-guided" not in headers["on"]


def test_a_call_that_was_asked_for_in_place_of_another_is_held_and_told_too() -> None:
    request = {**body(False, tools=[ORDER], tool_choice="required"), "messages": AGAIN}
    book = Playbook(Settings(guided="off", reasks=1)).ask(request)
    book.answer(REPEATED_ANSWER, JSON).answer(REPEATED_ANSWER, JSON)
    assert [one.rule for one in book.record.guarding.held] == ["repeated_write"] * 2
    assert book.head is not None
    assert dict(book.head.headers)["x-callwright-held"] == "2"


@pytest.mark.parametrize("size", [0, 300_000], ids=["event loop", "worker process"])
async def test_what_doctor_recorded_counts_at_once_wherever_a_request_is_read(
    size: int, tmp_path: Path
) -> None:
    memory = tmp_path / "m.json"
    messages = [{"role": "system", "content": "x" * size}, *AGAIN]
    request = {**body(False, tools=[ORDER]), "messages": messages}
    patient = Budget(worker_wait_seconds=60, worker_seconds=30)

    def answer(_: Asked) -> Reply:
        return Reply([REPEATED_ANSWER], headers=JSON)

    settings = Settings(guided="off", reasks=0, budget=patient)
    async with (
        upstream(answer) as up,
        proxy(up.url, settings, facts=UpstreamFacts(memory=memory)) as (address, _),
        HttpClient(Egress.any()) as client,
    ):

        async def ask() -> HttpResponse:
            url = f"{address.removesuffix('/v1')}/v1/chat/completions"
            given = await client.request("POST", url, json=request)
            assert isinstance(given, HttpResponse)
            return given

        given = await ask()
        assert (given.headers["x-callwright-guard"], given.headers["x-callwright-held"]) == (
            "act",
            "1",
        )
        WriteRecords(up.url, Memory(memory)).put("m", WriteRecord(29, 29, "2026-11-24"))
        given = await ask()
        assert given.headers["x-callwright-guard"] == "report"
        assert given.body == REPEATED_ANSWER
        assert len(up.asked) == 2, "nobody is asked for what is on record"


def test_the_words_in_place_of_a_call_that_is_kept_back_flow_as_they_are_written() -> None:
    book = Playbook(Settings(guided="off", guard="on")).ask(
        {**body(True, tools=[ORDER]), "messages": [USER]}
    )
    book.answer(native_stream(("c7", "place_order", json.dumps(UNSTATED))))
    assert json.loads(book.asked[1].body)["stream"] is True
    book.tell(UpstreamHead(200, SSE))
    words = ["How ", "many", " pieces", "?", "<|im_end|>"]
    seen = []
    for word in words:
        book.tell(UpstreamData(chunk({"content": word})))
        seen.append(assembled(book.out)["text"])
    assert seen == ["How", "How many", "How many pieces", "How many pieces?", "How many pieces?"]
    book.tell(UpstreamEnd())
    message = assembled(book.out)
    assert (message["text"], message["calls"]) == ("How many pieces?", [])
    assert message["finish"] == "stop"


def test_text_beside_such_a_call_stands_before_those_words() -> None:
    stream = native_stream(("c7", "place_order", json.dumps(UNSTATED)))
    first, _, rest = stream.partition(b"\n\n")
    book = Playbook(Settings(guided="off", guard="on")).ask(
        {**body(True, tools=[ORDER]), "messages": [USER]}
    )
    book.answer(first + b"\n\n" + chunk({"content": "I order. "}) + rest)
    book.answer(text_stream("How many?"))
    assert assembled(book.out)["text"] == "I order. How many?"
