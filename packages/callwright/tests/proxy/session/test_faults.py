"""Faults of the proxy itself, made by real seams that fail and by hostile schemas and replies."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.types import CheckedCall, JsonObject, ToolCall
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.proxy.apis.adapters import FRONTS, Writer
from callwright.proxy.apis.anthropic import Anthropic
from callwright.proxy.server.budget import Budget
from callwright.proxy.session.context import Toolset, Toolsets
from callwright.proxy.session.events import (
    CloseUpstream,
    Faulted,
    Finish,
    Probed,
    UpstreamFailed,
)
from callwright.proxy.session.faults import OverBudget, UpstreamTape, build_fault
from callwright.proxy.session.phases.passing import pass_on
from callwright.proxy.session.settings import Settings
from callwright.repair.gate import Gate
from tests.proxy.playbook import (
    JSON,
    SEND,
    USER,
    WEATHER,
    Playbook,
    assembled,
    body,
    call,
    native_stream,
    text_stream,
    whole,
)
from tests.proxy.upstream import Asked, Reply, proxy, upstream

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
WRONG = (
    '<tool_call>\n{"name": "getWeather", "arguments": {"city": "Paris", "days": "2"}}\n</tool_call>'
)


class Fuse:
    """Fails at its ``left``-th use and at every one after it."""

    def __init__(self, left: int, error: BaseException | None = None) -> None:
        self.left = left
        self.error = error or RuntimeError("on purpose")

    def use(self) -> None:
        self.left -= 1
        if self.left <= 0:
            raise self.error


class BlownOffer(ToolVocabulary):
    """An offer any use of which may fail."""

    def __init__(self, tools: Any, fuse: Fuse) -> None:
        super().__init__(tools)
        self._fuse = fuse

    def __getattribute__(self, name: str) -> Any:
        if name in ("means", "again", "tools", "longest", "scripts", "odd", "bracketed", "unknown"):
            object.__getattribute__(self, "_fuse").use()
        return super().__getattribute__(name)


class BlownGate(Gate):
    def __init__(self, tools: Any, fuse: Fuse) -> None:
        super().__init__(tools)
        self._fuse = fuse

    def check(self, call: ToolCall, *given: Any, **more: Any) -> CheckedCall | Any:
        self._fuse.use()
        return super().check(call, *given, **more)


class BlownToolsets(Toolsets):
    """Tool lists whose reading, parsing or checking fails."""

    def __init__(self, fuse: Fuse, *where: str) -> None:
        super().__init__()
        self._fuse, self._where = fuse, where

    def get(self, raw: Any) -> Toolset:
        if "get" in self._where:
            self._fuse.use()
        made = super().get(raw)
        if "offer" in self._where:
            made = replace(made, offer=BlownOffer(made.tools, self._fuse))
        return (
            replace(made, gate=BlownGate(made.tools, self._fuse)) if "gate" in self._where else made
        )


class BlownWriter:
    """A translation that fails from its ``after``-th piece on."""

    keep_alive = b""

    def __init__(self, inner: Writer, fuse: Fuse) -> None:
        self._inner, self._fuse = inner, fuse

    def head(self, status: int, headers: dict[str, str]) -> dict[str, str]:
        return self._inner.head(status, headers)

    def feed(self, data: bytes) -> bytes:
        self._fuse.use()
        return self._inner.feed(data)

    def end(self) -> bytes:
        self._fuse.use()
        return self._inner.end()


class BlownFront(Anthropic):
    def __init__(self, reading: Fuse, writing: Fuse) -> None:
        self._reading, self._writing = reading, writing

    def request(self, body: JsonObject) -> JsonObject:
        self._reading.use()
        return super().request(body)

    def writer(self, body: JsonObject) -> Writer:
        return BlownWriter(super().writer(body), self._writing)


def fused(error: BaseException | None = None, *where: str, after: int = 1) -> BlownToolsets:
    return BlownToolsets(Fuse(after, error), *where)


# without I/O


@pytest.mark.parametrize(
    "error",
    [
        RecursionError("deep"),
        MemoryError(),
        ExceptionGroup("two", [ValueError(), KeyError()]),
        OverBudget("x"),
    ],
)
def test_a_fault_over_the_request_sends_it_as_it_came(error: Exception) -> None:
    raw = json.dumps(body(False), indent=2).encode()
    book = Playbook(toolsets=fused(error, "get")).ask(raw)
    assert book.asked[0].body == raw
    answer = whole(f"Sure. {HERMES}")
    book.answer(answer, {**JSON, "content-length": str(len(answer))})
    assert book.out == answer
    assert book.head is not None
    marks = dict(book.head.headers)
    kind = "over-budget" if isinstance(error, OverBudget) else type(error).__name__
    assert (marks["x-callwright-outcome"], marks["x-callwright-fault"]) == ("passed", kind)
    assert marks["content-length"] == str(len(answer))
    assert (book.record.outcome, book.record.fault) == ("passed", kind)
    assert [f.kind for f in book.faults] == [kind]
    assert len(book.logs) == 1
    assert book.finished == Finish()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_what_ends_the_process_goes_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        Playbook(toolsets=fused(error, "get")).ask(body())


def test_a_fault_over_the_history_leaves_the_history_alone() -> None:
    unpaired = [
        USER,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("get_weather", {"city": "Oslo"})],
        },
    ]
    raw = json.dumps(body(messages=unpaired)).encode()
    book = Playbook(toolsets=fused(None, "get")).ask(raw)
    assert book.asked[0].body == raw
    assert not book.record.edits


@pytest.mark.parametrize("native", [False, True])
def test_a_fault_over_a_whole_answer_hands_it_on_as_it_came(native: bool) -> None:
    calls = [call("getWeather", {"city": "Paris", "days": "2"})] if native else []
    answer = whole(None if native else WRONG, calls)
    for cut in (None, 40):
        book = Playbook(toolsets=fused(None, "gate")).ask(body(False))
        book.answer(answer, {**JSON, "content-length": str(len(answer))}, cut=cut)
        assert book.out == answer
        assert book.finished == Finish()
        assert len(book.faults) == len(book.logs) == 1


@pytest.mark.parametrize("where", ["offer", "gate"])
@given(
    pieces=st.lists(st.sampled_from(["It ", "rains", "<tool", "{", "```json\n", "\n"]), max_size=6),
    after=st.integers(1, 40),
    cut=st.integers(1, 900),
    native=st.booleans(),
)
def test_a_fault_anywhere_in_a_stream_lets_go_of_what_was_held(
    where: str, pieces: list[str], after: int, cut: int, native: bool
) -> None:
    text = [*pieces, *(WRONG[i : i + 9] for i in range(0, len(WRONG), 9))]
    stream = (
        native_stream(("c1", "getWeather", '{"city": "Paris"}')) if native else text_stream(*text)
    )
    book = Playbook(toolsets=fused(None, where, after=after)).ask(body())
    book.answer(stream, cut=cut)
    assert book.finished == Finish()
    if book.faults:
        assert book.out == stream
        assert book.record.fault == "RuntimeError"
        assert len(book.logs) == 1
    else:
        assert assembled(book.out)["calls"]


@given(after=st.integers(1, 60), cut=st.integers(1, 2500))
def test_calls_that_had_been_taken_out_of_the_text_are_said_again(after: int, cut: int) -> None:
    text = f"First {HERMES} then {HERMES} and that is all of it."
    stream = text_stream(*(text[i : i + 5] for i in range(0, len(text), 5)))
    book = Playbook(toolsets=fused(None, "offer", after=after)).ask(body()).answer(stream, cut=cut)
    if book.faults:
        said = book.message["text"]
        assert said.count("<tool_call>") == said.count("</tool_call>") == 2
        assert len(said) == len(text)
    assert book.finished == Finish()


@pytest.mark.parametrize("streamed", [False, True])
def test_a_fault_after_a_question_hands_on_the_first_answer(streamed: bool) -> None:
    stream = text_stream(
        '<tool_call>\n{"name": "get_weather", "arguments": {"days": 2}}\n</tool_call>'
    )
    answer = stream if streamed else whole(None, [call("get_weather", {"days": 2})])
    seen = 0
    for after in range(1, 12):
        asked = body(
            streamed, messages=[{"role": "user", "content": "And what about the weather?"}]
        )
        book = Playbook(toolsets=fused(None, "gate", after=after)).ask(asked)
        book.answer(answer, None if streamed else JSON)
        if len(book.asked) == 1:
            continue
        book.answer(whole('{"city": "Paris", "days": 2}'), {**JSON, "x-of": "the question"})
        assert book.head is not None
        assert "x-of" not in dict(book.head.headers)
        assert book.finished == Finish()
        if book.faults:
            seen += 1
            assert book.out == answer
    assert seen


def test_a_fault_over_a_guided_answer_asks_as_the_client_did() -> None:
    raw = json.dumps(body(False)).encode()
    book = Playbook(Settings(guided="auto"), toolsets=fused(None, "gate")).ask(raw)
    book.tell(Probed(native=False, schema=True))
    made = {
        "wishes": ["weather"],
        "calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}],
    }
    book.answer(whole(json.dumps(made)), JSON)
    assert book.faults
    assert book.asked[-1].body == raw
    book.answer(whole("It rains."), JSON)
    assert book.out == whole("It rains.")
    assert book.record.fault == "RuntimeError"


def test_an_upstream_that_breaks_off_after_a_fault_is_still_told() -> None:
    from callwright.nouns.errors import Failure

    book = Playbook(toolsets=fused(None, "get")).ask(body(False))
    book.tell(UpstreamFailed(Failure("unavailable", "the connection was refused")))
    assert book.head is not None
    assert book.head.status == 502
    assert b"refused" in book.out


MESSAGES = {
    "model": "m",
    "max_tokens": 5,
    "messages": [USER],
    "tools": [{"name": "f", "input_schema": {}}],
}


@pytest.mark.parametrize("where", ["get", "offer", "gate"])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_fault_over_another_api_is_still_translated(where: str, streamed: bool) -> None:
    book = Playbook(path="/v1/messages", toolsets=fused(None, where)).ask(
        {**MESSAGES, "stream": streamed}
    )
    assert book.asked[0].path == "/v1/chat/completions"
    text = '<tool_call>\n{"name": "F", "arguments": {}}\n</tool_call>'
    book.answer(text_stream(text) if streamed else whole(text), None if streamed else JSON)
    assert book.faults
    assert b"message_stop" in book.out if streamed else json.loads(book.out)["type"] == "message"
    assert json.dumps(text)[1:-1].encode() in book.out
    assert book.finished == Finish()


def test_a_request_that_cannot_be_translated_goes_on_in_its_own_api() -> None:
    fronts = {**FRONTS, "/v1/messages": BlownFront(Fuse(1), Fuse(1))}
    book = Playbook(path="/v1/messages", fronts=fronts).ask(raw := json.dumps(MESSAGES).encode())
    assert (book.asked[0].path, book.asked[0].body) == ("/v1/messages", raw)
    book.answer(b'{"type": "message"}', JSON)
    assert book.out == b'{"type": "message"}'


def test_an_answer_that_cannot_be_translated_goes_out_untranslated() -> None:
    fronts = {**FRONTS, "/v1/messages": BlownFront(Fuse(99), Fuse(1))}
    book = Playbook(path="/v1/messages", fronts=fronts).ask(MESSAGES)
    book.answer(whole("It rains."), JSON)
    assert book.out == whole("It rains.")
    assert len(book.faults) == 2
    assert book.finished == Finish()


def test_a_stream_whose_translation_fails_in_the_middle_shows_that_it_broke_off() -> None:
    fronts = {**FRONTS, "/v1/messages": BlownFront(Fuse(99), Fuse(2))}
    book = Playbook(path="/v1/messages", fronts=fronts).ask({**MESSAGES, "stream": True})
    book.answer(text_stream("It ", "rains", ".", "!"), cut=400)
    assert book.finished == Finish(broken=True)
    assert book.closed == 1
    assert len(book.logs) == 1


def test_after_the_answer_a_fault_changes_nothing() -> None:
    book = Playbook().ask(body(False)).answer(whole("It rains."), JSON)
    steps = pass_on(book.session._transaction, RuntimeError(), UpstreamFailed(None))  # type: ignore[arg-type]
    told, *commands = next(steps)
    assert isinstance(told, Faulted)
    assert all(isinstance(c, CloseUpstream) for c in commands)


@given(st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 30))))
def test_a_tape_holds_the_end_of_what_came(steps: list[tuple[bytes, int]]) -> None:
    tape, left = UpstreamTape(), b""
    for data, size in steps:
        tape.add(data)
        left += data
        tape.keep(size)
        left = left[max(0, len(left) - size) :]
        assert tape.rest() == left


def test_a_fault_is_told_without_what_a_client_sent() -> None:
    try:
        raise KeyError("sk-canary")
    except KeyError as error:
        told = build_fault(error, "r1")
    assert (told.request, told.kind) == ("r1", "KeyError")
    assert "test_faults.py" in told.detail
    assert "sk-canary" not in told.detail.replace('raise KeyError("sk-canary")', "")


# the real proxy

SCHEMAS: dict[str, Any] = {
    "a pattern of JavaScript": {"properties": {"p": {"type": "string", "pattern": r"^[\w-\.]+$"}}},
    "a pattern of Python": {"properties": {"p": {"type": "string", "pattern": r"\A[a-z]+\Z"}}},
    "no pattern": {"properties": {"p": {"type": "string", "pattern": "*"}}},
    "a definition that is not there": {"properties": {"p": {"$ref": "#/definitions/X"}}},
    "an address": {"properties": {"p": {"$ref": "https://example.com/s.json"}}},
    "6,000 properties": {"properties": {f"p{i}": {"type": "string"} for i in range(6_000)}},
}


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(Egress.any()) as client:
        yield client


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", SCHEMAS)
async def test_a_right_call_arrives_whatever_the_schemas_of_the_list(
    http: HttpClient, name: str, streamed: bool
) -> None:
    answer = (
        native_stream(("c1", "find", '{"p": "x"}'))
        if streamed
        else whole(None, [call("find", {"p": "x"})])
    )
    tool = {
        "type": "function",
        "function": {"name": "find", "parameters": {"type": "object", **SCHEMAS[name]}},
    }

    def says(asked: Asked) -> Reply:
        assert asked.json["tools"][0] == tool
        return Reply(
            [answer[:60], answer[60:]],
            headers={"content-type": "text/event-stream"} if streamed else JSON,
        )

    patient = Settings(guided="off", budget=Budget(worker_wait_seconds=60, worker_seconds=30))
    async with upstream(says) as up, proxy(up.url, patient) as (address, _):
        sent = json.dumps(body(streamed, tools=[tool])).encode()
        given = await http.request("POST", f"{address}/v1/chat/completions", data=sent)
    assert isinstance(given, HttpResponse)
    assert given.status == 200
    calls = (
        assembled(given.body)["calls"]
        if streamed
        else json.loads(given.body)["choices"][0]["message"]["tool_calls"]
    )
    assert len(calls) == 1
    assert "find" in json.dumps(calls)


async def test_a_reply_that_the_proxy_fails_over_is_handed_on_and_seen(http: HttpClient) -> None:
    answer = whole(WRONG)
    async with (
        upstream(lambda _: Reply([answer], headers=JSON)) as up,
        proxy(up.url) as (address, made),
    ):
        made.toolsets = fused(RecursionError("deep"), "gate")
        for _ in range(2):
            sent = json.dumps(body(False, tools=[WEATHER, SEND])).encode()
            given = await http.request("POST", f"{address}/v1/chat/completions", data=sent)
            assert isinstance(given, HttpResponse)
            assert (given.status, given.body) == (200, answer)
            assert given.headers["x-callwright-outcome"] == "passed"
            assert given.headers["x-callwright-fault"] == "RecursionError"
        page = await http.request("GET", f"{address}/callwright")
        counted = await http.request("GET", f"{address}/metrics")
    assert isinstance(page, HttpResponse)
    assert isinstance(counted, HttpResponse)
    assert b"fault: RecursionError" in page.body
    assert b'callwright_faults_total{kind="RecursionError"} 2' in counted.body


async def test_to_fail_in_counting_or_keeping_takes_nothing_from_the_client(
    http: HttpClient,
) -> None:
    class Full:
        def take(self, _: Any) -> None:
            raise OSError("no space left on device")

    async with (
        upstream(lambda _: Reply([whole(WRONG)], headers=JSON)) as up,
        proxy(up.url, keeper=Full()) as (address, made),
    ):
        sent = json.dumps(body(False)).encode()
        given = await http.request("POST", f"{address}/v1/chat/completions", data=sent)
    assert isinstance(given, HttpResponse)
    assert json.loads(given.body)["choices"][0]["message"]["tool_calls"]
    assert made.counters.faults["OSError"] == 1
