"""The facts of a run, folded from its journal: which calls were made and what they returned, which
writes are in doubt, what was refused, how far ids were counted.

A run that goes on with other prompts or another version begins a new *segment* of its journal. The
facts of all segments before it are the state that it begins with; no recorded question and no
recorded reply is part of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from callwright.nouns.errors import Failure
from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import Effects, JsonObject, Skip, ToolResult
from callwright.repair.outcome import is_unknown

_NUMBERED = re.compile(r"r(\d+)")
_UNDER_WAY = Failure(
    "cancelled", "the process ended while the call was under way", outcome_unknown=True
)


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """A call of an earlier segment. ``result``: what it returned, which an identical call returns
    again. None: it may have left, and an identical call is sent with its ``key``.
    """

    id: str
    tool: str
    arguments: JsonObject
    key: str = ""
    result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class RecordedFacts:
    """The facts of a journal's segments, in call order.

    ``results`` succeeded and count; ``doubtful`` are writes that may have happened. ``calls`` are
    those that an identical call stands for. ``blocked``: tool -> the doubtful write for which it is
    not called. ``stale_writes``: ids of writes that rested on results which no longer count.
    ``numbered``: the highest number of a call.
    """

    results: tuple[ToolResult, ...] = ()
    doubtful: tuple[ToolResult, ...] = ()
    calls: tuple[EarlierCall, ...] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)
    skips: tuple[Skip, ...] = ()
    stale_writes: frozenset[str] = frozenset()
    plan: Plan | None = None
    numbered: int = 0


def fold_facts(events: Iterable[Event]) -> RecordedFacts:
    """The facts that these events tell: those of all earlier segments of a run, and the resolutions
    of their calls.
    """
    folding = _Folding()
    for event in events:
        folding.take(event)
    return folding.facts()


def result_of(data: Mapping[str, Any]) -> ToolResult:
    """The result that an event of this kind holds, as it was judged. Fields of other versions are
    left out.
    """
    failure = data.get("failure")
    made: Failure | None = load_known(Failure, failure) if failure else None
    names = ("id", "tool", "arguments", "content", "seconds", "slot", "attempt", "simulated")
    return ToolResult(**{name: data[name] for name in names if name in data}, failure=made)


def load_known(kind: type[Any], told: Mapping[str, Any]) -> Any:
    """An object of its stored form; what its type does not know is left out."""
    known = {f.name for f in fields(kind)}
    return kind(**{key: value for key, value in told.items() if key in known})


@dataclass(slots=True)
class _Call:
    """The facts of one call so far. ``intent``: of its last sending, if it may write."""

    intent: Mapping[str, Any] | None = None
    result: ToolResult | None = None

    @property
    def effects(self) -> Effects | None:
        told = self.intent["effects"] if self.intent else {}
        found: Effects | None = load_known(Effects, told) if told else None
        return found


@dataclass(slots=True)
class _Folding:
    calls: dict[str, _Call] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    stale_writes: set[str] = field(default_factory=set)
    skips: dict[tuple[str, str], Skip] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)  # tools whose call was just refused by somebody
    plan: Plan | None = None
    numbered: int = 0
    is_sandbox: bool = False

    def take(self, event: Event) -> None:
        data = event.data
        found = _NUMBERED.fullmatch(str(data.get("id", "")))
        self.numbered = max(self.numbered, int(found[1])) if found else self.numbered
        note = getattr(self, f"_note_{event.kind.replace('.', '_')}", None)
        if note is not None:
            note(data)

    def _note_run_start(self, data: Mapping[str, Any]) -> None:
        self.is_sandbox = data.get("sandbox", False)

    def _note_plan(self, data: Mapping[str, Any]) -> None:
        self.plan = Plan.from_slots(data["slots"], data["revision"])

    def _note_intent(self, data: Mapping[str, Any]) -> None:
        """A sending that nothing is known of yet; also of a call that was sent before."""
        call = self._call(data)
        call.intent, call.result = data, None

    def _note_result(self, data: Mapping[str, Any]) -> None:
        """Note a result. A replay records again what is known; a later sending stays open."""
        call = self._call(data)
        if call.intent is None or data.get("attempt", 1) >= call.intent["attempt"]:
            call.result = result_of(data)

    def _call(self, data: Mapping[str, Any]) -> _Call:
        """The call of an event. One that stands for a call of an earlier segment takes its
        place."""
        if (earlier := data.get("earlier", "")) and earlier != data["id"] and earlier in self.calls:
            self.calls = {
                (data["id"] if id_ == earlier else id_): call for id_, call in self.calls.items()
            }
        return self.calls.setdefault(data["id"], _Call())

    def _note_resolution(self, data: Mapping[str, Any]) -> None:
        call = self.calls.get(data["id"])
        if call is None or call.intent is None or call.result is not None:
            return
        if data["attempt"] != call.intent["attempt"]:
            return
        if data["outcome"] == "not_done":
            del self.calls[data["id"]]
            return
        failure = None
        if data["outcome"] == "failed":
            failure = Failure("tool_error", data["message"], not_done=True)
            said = f"{data['id']} failed: {data['message']}"
            self.skips[call.intent["tool"], said] = Skip(call.intent["tool"], said, refused=True)
        call.result = ToolResult(
            data["id"],
            call.intent["tool"],
            call.intent["arguments"],
            data.get("content"),
            failure,
            attempt=data["attempt"],
        )

    def _note_stale(self, data: Mapping[str, Any]) -> None:
        self.stale |= {*data["results"]}
        self.stale_writes |= {*data["written"]}

    def _note_approval(self, data: Mapping[str, Any]) -> None:
        if not data["granted"]:
            self.denied.add(data["tool"])

    def _note_skip(self, data: Mapping[str, Any]) -> None:
        """Keep what was refused: a call that somebody did not approve, or one that was not made."""
        refused = data.get("refused", False) or data["tool"] in self.denied
        self.denied.discard(data["tool"])
        if refused:
            skip = Skip(data["tool"], data["reason"], refused=True)
            self.skips[skip.tool, skip.reason] = skip

    def facts(self) -> RecordedFacts:
        """The facts that were folded so far."""
        known = [self._known(id_, call) for id_, call in self.calls.items()]
        results = [one for one in known if one is not None and one.ok]
        doubtful = [one for one in known if one is not None and not one.ok]
        done = {result.tool for result in results}
        blocked: dict[str, str] = {}
        for result in doubtful:
            effects = self.calls[result.id].effects
            if effects is None or not effects.idempotent:
                blocked.setdefault(result.tool, result.id)
        return RecordedFacts(
            results=tuple(r for r in results if r.id not in self.stale),
            doubtful=tuple(doubtful),
            calls=tuple(filter(None, map(self._standing, known))),
            blocked=blocked,
            skips=tuple(skip for skip in self.skips.values() if skip.tool not in done),
            stale_writes=frozenset(self.stale_writes),
            plan=self.plan,
            numbered=self.numbered,
        )

    def _known(self, id_: str, call: _Call) -> ToolResult | None:
        """The result of a call that succeeded, or that may have; None for one that did nothing."""
        if call.result is None:
            told = call.intent
            if told is None or self.is_sandbox:
                return None
            return ToolResult(id_, told["tool"], told["arguments"], None, _UNDER_WAY)
        result = replace(call.result, id=id_, slot="")
        if result.failure is None:
            return result
        may_be_done = call.effects is not None and is_unknown(result.failure, call.effects)
        return result if may_be_done and not self.is_sandbox else None

    def _standing(self, result: ToolResult | None) -> EarlierCall | None:
        """The call that an identical one stands for. A read that no longer counts is none."""
        if result is None:
            return None
        call = self.calls[result.id]
        if result.id in self.stale and call.intent is None:
            return None
        key = call.intent["key"] if call.intent else ""
        told = EarlierCall(result.id, result.tool, result.arguments, key)
        is_sent_again = call.effects is not None and call.effects.may_repeat and not result.ok
        return told if is_sent_again else replace(told, result=result)
