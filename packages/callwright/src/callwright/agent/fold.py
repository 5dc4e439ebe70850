"""The state of a run, folded from what a conversation shows: the messages of a client, or the
journal of a run of our own.

Both are read into the same entries: what the user said, which calls a reply made, what came back.
Messages do not tell slots, approvals or budgets, and a client may have trimmed them. What is
unknown may only reduce what is done: a write without a clear outcome counts as one that may have
happened, and no approval is ever inferred.

A *turn* is what follows from one message of the user. A text that recurs word for word behind
results is a reminder that the client injects, and opens no turn; so is one that is wrapped whole in
elements, such as the time and the open files of an editor.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from callwright.agent.state import Asked, OpenCalls, RunState
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import Failure
from callwright.nouns.trace import Event
from callwright.nouns.types import (
    UNKNOWN,
    Effects,
    Json,
    JsonObject,
    Message,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.repair.diagnose import failure_in
from callwright.repair.outcome import is_unknown, with_outcome

NO_RESULT = "[no result: it is not known whether this call was carried out]"
"""What a client's request is given in the place of a result that it lacks: a model that is told of a
write that it was not made makes it again.
"""
LOST = "Earlier tool result"
"""How a result without its call begins, told in the user's turn."""
_ELEMENT = re.compile(r"\s*<([a-z]+(?:[_-][a-z]+)+)>")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


class Spoke(NamedTuple):
    """Words of the user."""

    text: str


class Said(NamedTuple):
    """An answer in words, or the words that the system was told first (``role``)."""

    text: str
    role: str = "assistant"


class Called(NamedTuple):
    """The calls of one reply."""

    calls: tuple[ToolCall, ...]


class Returned(NamedTuple):
    """The result of one call, as the model is shown it. ``id`` may be missing, ``tool`` too."""

    id: str
    content: str
    tool: str = ""


Entry: TypeAlias = Spoke | Said | Called | Returned


def read_messages(messages: Iterable[Message]) -> Iterator[Entry]:
    """The entries of a conversation, in order."""
    is_behind_results = False
    for message in messages:
        is_behind_results = message.role == "tool" or (
            is_behind_results and message.role != "assistant"
        )
        if message.role == "tool":
            yield Returned(message.tool_call_id, message.content, message.name)
        elif message.role == "user":
            if not message.content.startswith(LOST):
                text = _REMINDER.sub("", message.content).strip()
                yield Spoke("" if is_behind_results and _is_wrapped(text) else text)
        else:
            if message.content.strip():
                yield Said(message.content, message.role)
            if message.tool_calls:
                yield Called(message.tool_calls)


def _is_wrapped(text: str) -> bool:
    """Return True if a text is nothing but elements with compound names. Behind results that is
    what a client adds by itself: ``<environment_details>…</environment_details>``.
    """
    at = 0
    while (opened := _ELEMENT.match(text, at)) is not None:
        closed = f"</{opened[1]}>"
        end = text.find(closed, opened.end())
        if end < 0:
            return False
        at = end + len(closed)
    return at > 0 and not text[at:].strip()


def read_journal(events: Iterable[Event]) -> Iterator[Entry]:
    """The entries that a run's journal shows to a reader who sees what its model saw: the
    conversation, the request, the last attempt of each call with what it returned, the answer.
    """
    recorded = [*events]
    last = {e.data["id"]: e for e in recorded if e.kind == "result"}
    for event in recorded:
        data = event.data
        if event.kind == "run.start":
            said = (Message(m["role"], m["content"]) for m in data["conversation"])
            yield from read_messages(said)
            yield Spoke(data["query"])
        elif event.kind == "result" and event is last[data["id"]]:
            yield Called((ToolCall(data["id"], data["tool"], data["arguments"]),))
            yield Returned(data["id"], _render_content(data), data["tool"])
        elif event.kind == "answer" and data["text"].strip():
            yield Said(data["text"])


def fold_entries(entries: Iterable[Entry], tools: Sequence[Tool] = ()) -> RunState:
    """The facts that these entries tell. ``results`` are those of the present turn, ``earlier``
    those before it; calls are numbered ``r1``, ``r2``, … in the order in which they were written,
    whatever ids they had.
    """
    folding = _Folding({tool.name: tool for tool in tools})
    for entry in entries:
        folding.take(entry)
    return folding.state(tuple(tools))


@dataclass(slots=True)
class _Past:
    """A call of the conversation: its number, and what it returned, if it did."""

    call: ToolCall
    result: ToolResult | None = None
    is_lost: bool = False  # the conversation has no result for it, and says so


@dataclass(slots=True)
class _Folding:
    tools: Mapping[str, Tool]
    query: str = ""
    said: list[Message] = field(default_factory=list)  # before the request
    behind: list[Message] = field(default_factory=list)  # since, where the turn goes on
    texts: set[str] = field(default_factory=set)  # of the user
    past: list[_Past] = field(default_factory=list)
    waiting: dict[str, _Past] = field(default_factory=dict)
    twins: dict[str, deque[_Past]] = field(default_factory=dict)  # under an id that already waits
    begins: int = 0  # calls before the present turn
    is_behind_results: bool = False

    def take(self, entry: Entry) -> None:
        match entry:
            case Spoke(text):
                self._speak(text)
            case Said(text, role):
                self.behind.append(Message("system" if role == "system" else "assistant", text))
                self.is_behind_results = self.is_behind_results and role == "system"
            case Called(calls):
                self._call(calls)
            case Returned():
                self._return(entry)

    def _speak(self, text: str) -> None:
        if not text or (self.is_behind_results and text in self.texts):
            return
        if self.query:
            self.said.append(Message("user", self.query))
        self.said += self.behind
        self.behind = []
        self.texts.add(text)
        self.query, self.begins, self.is_behind_results = text, len(self.past), False

    def _call(self, calls: Sequence[ToolCall]) -> None:
        self.twins.clear()
        begun: set[str] = set()
        for call in calls:
            number = f"r{len(self.past) + 1}"
            one = _Past(replace(call, id=number, arguments=_read_arguments(call.arguments)))
            self.past.append(one)
            if call.id and call.id in begun:
                self.twins.setdefault(call.id, deque()).append(one)
                continue
            # an id that comes again is that of the later call: its result follows
            self.waiting[call.id or number] = one
            begun.add(call.id)
        self.is_behind_results = True

    def _return(self, entry: Returned) -> None:
        one = self.waiting.pop(entry.id, None) if entry.id else None
        if self.twins.get(entry.id):  # calls of one id are answered in their order
            self.waiting[entry.id] = self.twins[entry.id].popleft()
        if one is None and not entry.id:
            named = (k for k, w in self.waiting.items() if entry.tool in ("", w.call.tool))
            key = next(named, None)
            one = self.waiting.pop(key) if key is not None else None
        self.is_behind_results = True
        if one is None:
            return
        if entry.content == NO_RESULT:
            one.is_lost = True
        else:
            one.result = self._result(one.call, entry.content)

    def _result(self, call: ToolCall, text: str) -> ToolResult:
        effects = self._effects(call.tool)
        content = _read_content(text)
        failure = failure_in(content)
        if failure is not None and failure.kind == "empty":
            failure = None  # that there is nothing is a result
        if failure is not None:
            failure = with_outcome(failure, effects)
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        return ToolResult(call.id, call.tool, arguments, content, failure)

    def _effects(self, tool: str) -> Effects:
        known = self.tools.get(tool)
        return known.effects if known is not None else UNKNOWN

    def state(self, tools: tuple[Tool, ...]) -> RunState:
        results = [one.result for one in self.past if one.result is not None]
        before = frozenset(one.call.id for one in self.past[: self.begins])
        state = RunState(
            Asked(
                self.query,
                tuple(self.said),
                earlier=tuple(r for r in results if r.id in before),
                unanswered=before - {r.id for r in results},
            ),
            tools,
            results=tuple(r for r in results if r.id not in before),
            open=OpenCalls(in_flight=tuple(o.call for o in self.past if o.result is None)),
        )
        for result in (*results, *map(self._lost, self.past)):
            if result is not None and result.failure is not None:
                effects = self._effects(result.tool)
                if is_unknown(result.failure, effects):
                    state = state.with_doubt(result, blocks=False)
        return state

    def _lost(self, one: _Past) -> ToolResult | None:
        """A call of which the conversation shows no result. It may have been carried out."""
        if one.result is not None:
            return None
        arguments = one.call.arguments if isinstance(one.call.arguments, dict) else {}
        unknown = Failure("cancelled", "its result is not shown", outcome_unknown=True)
        return ToolResult(one.call.id, one.call.tool, arguments, failure=unknown)


def _read_arguments(arguments: JsonObject | str) -> JsonObject | str:
    if isinstance(arguments, str):
        try:
            found = parse(arguments or "{}")
        except JsonError:
            return arguments
        return found if isinstance(found, dict) else arguments
    return arguments


def _read_content(text: str) -> Json:
    """The value that a result's text is, where it is JSON; strictly, for repairing a long reply
    takes longer than it is worth.
    """
    try:
        return parse(text)
    except JsonError:
        return text


def _render_content(data: Mapping[str, object]) -> str:
    """A recorded result as a client shows it to its model."""
    failure = data.get("failure")
    if isinstance(failure, dict):
        return to_canonical_json({"error": failure.get("message", "")})
    content = data.get("content")
    return content if isinstance(content, str) else to_canonical_json(content)
