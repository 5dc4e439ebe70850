"""A language model that says what you wrote down, for tests without a model."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.types import Json, Reply, ToolCall, Usage

Line: TypeAlias = "str | Reply | Exception | ToolCall | dict[str, Any] | list[Any]"
"""One scripted answer: text; a whole Reply; an exception to raise; a native tool call; or a JSON
value, which is answered as JSON text.
"""

Script: TypeAlias = (
    "Sequence[Line] | Mapping[str, Line | Sequence[Line]] | Callable[[ChatRequest], Line |"
    " Awaitable[Line]]"
)

ANY = "*"


class ScriptedModel:
    """A ChatModel whose replies are scripted; records every question in ``requests``.

    ``script`` is one of

    * a list: the answers in order, whatever is asked;
    * a mapping from ``ChatRequest.purpose`` to one answer (given every time) or a list or tuple of
      answers (in order); the key ``"*"`` takes every purpose that has no key of its own. Write a
      JSON array that is one answer as text;
    * a function of the ChatRequest, plain or async.

    A question the script has no answer to raises ModelError, so a test cannot ask more than it
    planned. The reply honours ``request.stop`` and, in pieces of ``piece`` characters, ``watch``
    (finish_reason "cut"), as a real model does. Usage is estimated at four characters a token
    unless a Reply states its own::

        model = ScriptedModel({"bind": [{"calls": []}], "answer": "Nothing was found."})
        ...
        assert [r.purpose for r in model.requests] == ["bind", "answer"]
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        capabilities: Capabilities | None = None,
        piece: int = 4,
    ) -> None:
        if piece < 1 or isinstance(script, str):
            raise ConfigError(
                "piece is at least 1, and a script of one answer is a list: ScriptedModel([text])"
            )
        self._name = name
        self._capabilities = capabilities or Capabilities(json_schema=True)
        self._piece = piece
        self._script = script
        self._lines: list[Any] = list(script) if isinstance(script, Sequence) else []
        by_purpose = script if isinstance(script, Mapping) else {}
        self._by_purpose = {
            k: list(v) if isinstance(v, list | tuple) else v for k, v in by_purpose.items()
        }
        self.requests: list[ChatRequest] = []
        self.closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def exhausted(self) -> bool:
        """Return True if every listed answer was given. Assert this at the end of a test."""
        return not self._lines and not any(
            isinstance(v, list) and v for v in self._by_purpose.values()
        )

    async def capabilities(self) -> Capabilities:
        return self._capabilities

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        """The next scripted answer. Raises the scripted exception, or ModelError past the end of
        the script.
        """
        self.requests.append(request)
        line: Any = self._next(request)
        if inspect.isawaitable(line):
            line = await line
        if isinstance(line, Exception):
            raise line
        return _cut_by_watcher(
            _cut_at_stop(self._reply(line, request), request.stop), watch, self._piece
        )

    async def aclose(self) -> None:
        self.closed = True

    def _next(self, request: ChatRequest) -> Any:
        if callable(self._script):
            return self._script(request)
        if isinstance(self._script, Mapping):
            key = request.purpose if request.purpose in self._by_purpose else ANY
            answers = self._by_purpose.get(key, [])
        else:
            answers = self._lines
        if not isinstance(answers, list):
            return answers
        if not answers:
            raise ModelError(
                f"the script has no answer to question {len(self.requests)} (purpose"
                f" {request.purpose!r})",
                hint=(
                    "the code under test asked more often than the test planned, or with another"
                    " purpose"
                ),
            )
        return answers.pop(0)

    def _reply(self, line: Json, request: ChatRequest) -> Reply:
        if isinstance(line, Reply):
            reply = line
        elif isinstance(line, ToolCall):
            reply = Reply("", (line,), finish_reason="tool_calls")
        else:
            reply = Reply(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False))
        usage = reply.usage if reply.usage.total else estimate_usage(request, reply.text)
        return replace(reply, usage=usage, model=reply.model or self._name)


def estimate_usage(request: ChatRequest, text: str) -> Usage:
    """Four characters a token, at least one: steady, and near enough for a budget."""
    prompt = sum(len(m.content) for m in request.messages)
    return Usage(max(1, prompt // 4), max(1, len(text) // 4))


def _cut_at_stop(reply: Reply, stop: Sequence[str]) -> Reply:
    """Cut before the first stop sequence, as servers do."""
    places = [at for s in stop if s and (at := reply.text.find(s)) >= 0]
    return replace(reply, text=reply.text[: min(places)], finish_reason="stop") if places else reply


def _cut_by_watcher(reply: Reply, watch: Watcher | None, piece: int) -> Reply:
    """Feed the text to the watcher; where it says so, the reply ends."""
    if watch is None:
        return reply
    for start in range(0, len(reply.text), piece):
        if watch(reply.text[start : start + piece]):
            return replace(reply, text=reply.text[: start + piece], finish_reason="cut")
    return reply


def offered_tools(request: ChatRequest) -> tuple[str, ...]:
    """The names of the tools that a question allows calls of: those that its reply schema admits,
    or those that are given natively; none where the reply is free text.
    """
    if request.tools:
        return tuple(tool.name for tool in request.tools)
    return tuple(dict.fromkeys(_find_tool_names(request.schema)))


def _find_tool_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _find_tool_names(part)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    tool = properties.get("tool") if isinstance(properties, dict) else None
    if isinstance(tool, dict) and isinstance(tool.get("const"), str):
        yield tool["const"]
        return  # what stands deeper are its arguments
    for part in schema.values():
        yield from _find_tool_names(part)
