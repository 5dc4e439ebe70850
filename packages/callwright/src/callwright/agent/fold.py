"""The state of a run, folded from what a conversation shows: the messages of a client, or the
journal of a run of our own.

Both are read into the same entries: what the user said, which calls a reply made, what came back.
Messages do not tell slots, approvals or budgets, and a client may have trimmed them. What is
unknown may only reduce what is done: a write without a clear outcome counts as one that may have
happened, and no approval is ever inferred.

A *turn* is what follows from one message of the user. A text behind results, or behind other words
of the user, all of whose lines the user's messages held before is a reminder that the client
injects, and opens no turn: clients send it alone or beside other words. So is one behind results
that is wrapped whole in elements, such as the time and the open files of an editor.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple, TypeAlias

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
from callwright.repair.empty_result import tell_done
from callwright.repair.outcome import is_unknown, with_outcome

NO_RESULT = "[no result: it is not known whether this call was carried out]"
"""What a client's request is given in the place of a result that it lacks: a model that is told of
a write that it was not made makes it again.
"""
LOST = "Earlier tool result"
"""How a result without its call begins, told in the user's turn."""
_ELEMENT = re.compile(r"\s*<([a-z]+(?:[_-][a-z]+)+)>")
_NUMBERED = re.compile(r"r([0-9]{1,18})")
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
    is_behind_results = False  # or behind calls whose results are not shown
    for message in messages:
        if message.role in ("tool", "assistant"):
            is_behind_results = message.role == "tool" or bool(message.tool_calls)
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
    conversation, the request, the calls with what they returned, the answer.

    Calls stand in the order of their ids, those that were on their way together in one entry. Of a
    call that was sent several times the last sending counts; where that left and nothing came back,
    the call has no result. A run that was resumed is read as one run.
    """
    reading = _JournalReading()
    for place, event in enumerate(events):
        if event.kind == "run.start" and not reading.is_resumed_by(event.data):
            yield from reading.entries()
            reading = _JournalReading()
        reading.take(place, event)
    yield from reading.entries()


@dataclass(slots=True)
class _Sent:
    """A call of a journal as it was last sent. ``begun`` and ``ended`` are places in the journal:
    where the call was first named, and where its result came.
    """

    call: ToolCall
    begun: int
    attempt: int = 1
    returned: Mapping[str, Any] | None = None
    ended: float = inf


@dataclass(slots=True)
class _JournalReading:
    """Reads the events of one run, in one or several processes."""

    start: Mapping[str, Any] | None = None
    begun: dict[str, int] = field(default_factory=dict)
    calls: dict[str, _Sent] = field(default_factory=dict)
    answer: str = ""

    def is_resumed_by(self, start: Mapping[str, Any]) -> bool:
        """Return True if this start goes on with the run that is being read."""
        if self.start is None:
            return False
        run = start.get("run", "")
        return bool(start.get("resumed") or (run and run == self.start.get("run")))

    def take(self, place: int, event: Event) -> None:
        data = event.data
        match event.kind:
            case "run.start":
                self.start = self.start or data
                for call in self.calls.values():  # nothing more comes of what was under way
                    call.ended = min(call.ended, place)
            case "call.raw":
                self.begun.setdefault(data["id"], place)
            case "intent":
                call = self._call(place, data)
                call.attempt, call.returned, call.ended = data.get("attempt", 1), None, inf
            case "result":
                self._return(place, data)
            case "resolution":
                self._resolve(place, data)
            case "answer":
                self.answer = data["text"]

    def _call(self, place: int, data: Mapping[str, Any]) -> _Sent:
        """The call of an event, with the arguments that are sent now. It takes the place of the
        call of an earlier segment for which it stands.
        """
        id_ = data["id"]
        if data.get("earlier", id_) != id_:
            self.calls.pop(data["earlier"], None)
        made = ToolCall(id_, data["tool"], data["arguments"])
        begun = self.begun.setdefault(id_, place)
        known = self.calls.setdefault(id_, _Sent(made, begun))
        known.call = made
        return known

    def _return(self, place: int, data: Mapping[str, Any]) -> None:
        """Note a result. A replay records once more what is known; a later sending stays open."""
        known, attempt = self.calls.get(data["id"]), data.get("attempt", 1)
        if known is not None and attempt < known.attempt:
            return
        call = self._call(place, data)
        if call.returned is None or attempt > call.attempt:
            call.ended = place
        call.attempt, call.returned = attempt, data

    def _resolve(self, place: int, data: Mapping[str, Any]) -> None:
        """Note what was found out about a sending without a result."""
        call = self.calls.get(data["id"])
        if call is None or call.returned is not None or call.attempt != data.get("attempt", 1):
            return
        if data["outcome"] == "not_done":
            del self.calls[data["id"]]
            return
        failure = {"message": data["message"]} if data["outcome"] == "failed" else None
        call.returned = {"content": data.get("content"), "failure": failure}
        call.ended = min(call.ended, place)

    def entries(self) -> Iterator[Entry]:
        """The entries of the events so far."""
        if self.start is not None:
            told = map(_read_recorded_message, self.start["conversation"])
            yield from read_messages([*told, Message("user", self.start["query"])])
        for group in self._groups():
            yield Called(tuple(one.call for one in group))
            for one in group:
                if one.returned is not None:
                    yield Returned(one.call.id, _render_content(one.returned), one.call.tool)
        if self.answer.strip():
            yield Said(self.answer)

    def _groups(self) -> Iterator[list[_Sent]]:
        """The calls, those that were on their way together in one list. A reply's calls are: no
        result of one comes before the next is named.
        """
        group: list[_Sent] = []
        ended = inf
        for one in sorted(self.calls.values(), key=_get_number):
            if group and one.begun >= ended:
                yield group
                group, ended = [], inf
            group.append(one)
            ended = min(ended, one.ended)
        if group:
            yield group


def _get_number(sent: _Sent) -> float:
    """The number in the id of a call: the order in which calls were written, whoever was faster."""
    found = _NUMBERED.fullmatch(sent.call.id)
    return int(found[1]) if found is not None else inf


def _read_recorded_message(told: Mapping[str, Any]) -> Message:
    """A message of the conversation that a run's start records."""
    calls = (ToolCall(c["id"], c["tool"], c["arguments"]) for c in told.get("tool_calls", ()))
    name, answered = told.get("name", ""), told.get("tool_call_id", "")
    return Message(told["role"], told["content"], tuple(calls), answered, name)


def fold_entries(entries: Iterable[Entry], tools: Sequence[Tool] = ()) -> RunState:
    """The facts that these entries tell. ``results`` are those of the present turn, ``earlier``
    those before it; calls are numbered ``r1``, ``r2``, … in the order in which they were written,
    whatever ids they had.
    """
    return _fold(entries, tools).state(tuple(tools))


def list_returned(entries: Iterable[Entry]) -> list[tuple[ToolCall, ToolResult]]:
    """The calls of the present turn that returned something, in call order, each with that."""
    folding = _fold(entries, ())
    made = folding.past[folding.begins :]
    return [(one.call, one.result) for one in made if one.result is not None]


def _fold(entries: Iterable[Entry], tools: Sequence[Tool]) -> _Folding:
    folding = _Folding({tool.name: tool for tool in tools})
    for entry in entries:
        folding.take(entry)
    return folding


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
    lines: set[str] = field(default_factory=set)  # of the user's texts
    past: list[_Past] = field(default_factory=list)
    waiting: dict[str, _Past] = field(default_factory=dict)
    twins: dict[str, deque[_Past]] = field(default_factory=dict)  # under an id that already waits
    begins: int = 0  # calls before the present turn
    is_unanswered: bool = False  # whether no words of the assistant came since the user's

    def take(self, entry: Entry) -> None:
        match entry:
            case Spoke(text):
                self._speak(text)
            case Said(text, role):
                self.behind.append(Message("system" if role == "system" else "assistant", text))
                self.is_unanswered = self.is_unanswered and role == "system"
            case Called(calls):
                self._call(calls)
            case Returned():
                self._return(entry)

    def _speak(self, text: str) -> None:
        lines = {line.strip() for line in text.splitlines()} - {""}
        if not lines or (self.is_unanswered and lines <= self.lines):
            return
        if self.query:
            self.said.append(Message("user", self.query))
        self.said += self.behind
        self.behind = []
        self.lines |= lines
        self.query, self.begins, self.is_unanswered = text, len(self.past), True

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
            self.waiting[call.id or f"\0{number}"] = one  # no id of a client is of this form
            begun.add(call.id)
        self.is_unanswered = True

    def _return(self, entry: Returned) -> None:
        one = self.waiting.pop(entry.id, None) if entry.id else None
        if self.twins.get(entry.id):  # calls of one id are answered in their order
            self.waiting[entry.id] = self.twins[entry.id].popleft()
        if one is None and not entry.id:
            named = (k for k, w in self.waiting.items() if entry.tool in ("", w.call.tool))
            key = next(named, None)
            one = self.waiting.pop(key) if key is not None else None
        self.is_unanswered = True
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
        if failure is None:
            content = tell_done(content, effects)
        else:
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
    """A recorded result as a client shows it to its model. Where only our reading made a failure of
    it, that is what was delivered.
    """
    failure = data.get("failure")
    if isinstance(failure, dict) and not data.get("judged"):
        return to_canonical_json({"error": failure.get("message", "")})
    content = data.get("content")
    return content if isinstance(content, str) else to_canonical_json(content)
