"""Replies as a client of the proxy gets them: the proxy's own session, its upstream answered from
recorded replies.

What the session asks beyond the first reply (a second reading by schema, an answer in words, a
repair) is looked up among the recorded rows of the same task and upstream, and asked of a model
where replies are generated.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import orjson

from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import JsonObject, Usage
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    Probe,
    Probed,
    Request,
    SendBody,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings
from callwright.tools.lists import chat_messages as chat
from callwright_lab.benchmarks.refine.guided import build_body, build_guided_request
from callwright_lab.benchmarks.refine.read import read_server_calls
from callwright_lab.benchmarks.refine.replies import Pair, build_row
from callwright_lab.benchmarks.refine.task import Examination, Found, Recorded, Task
from callwright_lab.datasets.examples import read_lines
from callwright_lab.parallel import run_workers

MODE = "proxy"
UPSTREAM = Probed(native=False, schema=True)  # as the embedded model is
_JSON = {"content-type": "application/json"}
Asked: TypeAlias = tuple[str, JsonObject]  # what for, and the body
Driven: TypeAlias = Generator[Asked, JsonObject, Found]


def drive_session(examination: Examination, task: Task, settings: Settings | None = None) -> Driven:
    """One task through one session: yields what is asked upstream, is sent the assistant's
    message.
    """
    session = Session(settings or Settings(guided="text"), Toolsets())
    body = {**build_body(examination, task), "stream": False}
    waiting = list(session.handle(Request("POST", CHAT, "", (), json_bytes(body)), 0.0))
    out = b""
    while waiting:
        command = waiting.pop(0)
        if isinstance(command, Probe):
            waiting += session.handle(UPSTREAM, 0.0)
        elif isinstance(command, SendBody):
            out += command.data
        elif isinstance(command, SendUpstream):
            kind = session.asking
            message = yield kind, json_object(command.body) or {}
            reply = json_bytes(
                {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            )
            for event in (UpstreamHead(200, _JSON), UpstreamData(reply), UpstreamEnd()):
                waiting += session.handle(event, 0.0)
    choice = chat.only_choice(json_object(out) or {}) or {}
    found = read_server_calls(Recorded(task.id, "", choice.get("message") or {}), task)
    said = tuple(v.message for v in session.record.violations) + tuple(session.record.notes)
    return replace(found, edits=tuple(session.record.edits), abstained=said)


class ProxyReader:
    """Reads a free reply through the session; tokens and seconds are those of what was asked beyond
    it.
    """

    def __init__(self, pairs: Iterable[Pair], examinations: Mapping[str, Examination]) -> None:
        self._examinations = examinations
        self._rows = {(t.set, t.id, r.upstream, r.mode): r for t, r in pairs}

    def __call__(self, reply: Recorded, task: Task) -> Found:
        asking = drive_session(self._examinations[task.set], task)
        next(asking)
        message, spent, waited = reply.message, Usage(), 0.0
        missing: list[str] = []
        while True:
            try:
                kind, _ = asking.send(message)
            except StopIteration as done:
                found: Found = done.value
                return replace(
                    found, abstained=(*found.abstained, *missing), usage=spent, seconds=waited
                )
            row = self._rows.get((task.set, task.id, reply.upstream, kind))
            message = row.message if row else {"role": "assistant", "content": ""}
            missing += [] if row else [f"no recorded reply to the question '{kind}'"]
            spent, waited = (spent + row.usage, waited + row.seconds) if row else (spent, waited)


async def generate_through(
    examination: Examination,
    tasks: Sequence[Task],
    model: ChatModel,
    out: Path,
    *,
    limit_seconds: float = 0.0,
    jobs: int = 1,
    say: Callable[[str], object] = str,
) -> int:
    """Every task as the proxy asks it, ``jobs`` tasks at a time, each exchange appended to ``out``
    as a row of its kind; what is there is not asked again. Returns how many tasks were not begun for
    want of time.
    """
    asked = _Exchanges(examination, model, out, say)

    async def ask_task(task: Task) -> None:
        try:
            await asked.through(task)
        except ModelError as error:
            say(f"{task.id}: not asked: {error}")

    return await run_workers(ask_task, tasks, jobs=jobs, limit_seconds=limit_seconds)


class _Exchanges:
    """Stores a model's requests and replies in a file."""

    def __init__(
        self, examination: Examination, model: ChatModel, out: Path, say: Callable[[str], object]
    ) -> None:
        self._examination, self._model, self._out, self._say = examination, model, out, say
        rows = read_lines(out, "recorded replies") if out.exists() else ()
        self._have: dict[tuple[str, ...], JsonObject] = {
            (r["set"], r["task"], r["upstream"], r["mode"]): r["message"] for r in rows
        }
        out.parent.mkdir(parents=True, exist_ok=True)

    async def through(self, task: Task) -> None:
        asking = drive_session(self._examination, task)
        kind, body = next(asking)
        try:
            while True:
                kind, body = asking.send(await self._answer(task, kind, body))
        except StopIteration:
            return

    async def _answer(self, task: Task, kind: str, body: JsonObject) -> JsonObject:
        key = (self._examination.name, task.id, self._model.name, kind)
        if key not in self._have:
            reply = await self._model.complete(_build_request(self._examination, task, kind, body))
            row = build_row(self._examination.name, task, self._model.name, kind, reply)
            with self._out.open("ab") as file:
                file.write(orjson.dumps(row) + b"\n")
            self._have[key] = row["message"]
            self._say(
                f"{task.id} {kind}: {reply.seconds:.1f} s, {reply.usage.completion_tokens} tokens"
            )
        return self._have[key]


def _build_request(
    examination: Examination, task: Task, kind: str, body: JsonObject
) -> ChatRequest:
    """The question as one of our models is asked it."""
    if kind == "free":
        return examination.ask(task)
    if kind == "guided":
        return build_guided_request(examination, task)
    form = body.get("response_format") or {}
    schema = (form.get("json_schema") or {}).get("schema")
    return ChatRequest(chat.read_messages(body), purpose="bench", schema=schema, max_tokens=512)
