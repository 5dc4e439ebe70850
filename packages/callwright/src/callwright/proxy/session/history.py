"""Analyses the history inside a request: questions already spent, calls that keep failing, results
without calls.

Pure functions of the request's messages; the proxy itself remembers nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.agent.call_key import make_call_key
from callwright.agent.fold import LOST, NO_RESULT, list_returned, read_messages
from callwright.nouns.types import Edit, Json, JsonObject, Message
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session import ids

_OWN = ("cwp", "cwr")  # how the proxy's ids begin (:mod:`callwright.proxy.session.ids`)
_COUNTED = re.compile(r"[A-Za-z]*0{3,}[0-9]{1,4}")
_UPSTREAM_FORMS = re.compile(r"functions\.[\w.-]+:[0-9]+|tooluse_[\w-]{22}")  # Kimi's, Bedrock's


def count_questions(messages: Sequence[Any]) -> int:
    """Return how many answers among these messages of a chat request may have cost a question to
    the upstream.

    The proxy's ids tell it. Where a conversation has none of them, either no call was changed, so
    that the upstream's ids were passed on, or the client replaced the ids. Then each answer counts
    that has a call whose id no upstream draws: a missing, short or counted id, as ``call_3``. Ids
    that a client draws at random cannot be told from an upstream's, and count as such.
    """
    answers = [
        [str(entry.get("id") or "") for entry in m["tool_calls"] if isinstance(entry, dict)]
        for m in messages
        if isinstance(m, dict) and isinstance(m.get("tool_calls"), list)
    ]
    if any(called.startswith(_OWN) for answer in answers for called in answer):
        return sum(map(ids.has_question_id, answers))
    return sum(not all(map(_may_be_upstream_id, answer)) for answer in answers)


def _may_be_upstream_id(called: str) -> bool:
    """Return True if an id is random, as those that servers make are, or of a form that only an
    upstream makes. Random is a last part of eight characters or more with digits or both cases.
    """
    if _UPSTREAM_FORMS.fullmatch(called):
        return True
    part = called.replace("-", "_").rpartition("_")[2]
    if len(part) < 8 or not part.isalnum() or _COUNTED.fullmatch(part):
        return False
    return not part.isalpha() or part not in (part.lower(), part.upper())


@dataclass(frozen=True, slots=True)
class Loop:
    """A call that failed ``times`` times in a row with the same arguments, and what it was told
    last.
    """

    call: tuple[str, str]
    times: int
    said: str


def find_loops(messages: Sequence[Message], after: int) -> tuple[Loop, ...]:
    """The calls that were made and failed ``after`` times or more since somebody last said
    something new.

    A result that is no failure ends the count of its call: asking again is then the model's good
    right.
    """
    failed: dict[tuple[str, str], tuple[int, str]] = {}
    for call, result in list_returned(read_messages(messages)):
        made = make_call_key(call)
        if result.failure is None:
            failed.pop(made, None)
        else:
            failed[made] = (failed.get(made, (0, ""))[0] + 1, result.failure.message)
    return tuple(
        Loop(made, times, said)
        for made, (times, said) in failed.items()
        if after and times >= after
    )


def pair_messages(raw: Json) -> tuple[list[Json], tuple[Edit, ...]]:
    """The messages of a chat request with every call followed by its result and every result
    preceded by its call.

    A result that comes after other messages moves to its call. A call without a result is given one
    that says so; a result whose call is missing becomes a user message, so that nothing said is
    lost; of two results for one call the first stays. Edits name messages of the request.
    """
    if not isinstance(raw, list):
        return [], ()
    if not any(isinstance(m, dict) and ("tool_calls" in m or m.get("role") == "tool") for m in raw):
        return raw, ()
    work = _Pairing(raw)
    for place, message in enumerate(raw):
        work.add(place, message)
    work.answer_waiting_calls(len(raw))
    return work.made, tuple(work.edits)


class _Pairing:
    """Walks through the messages; ``waiting`` are the calls of the last assistant message without a
    result yet. ``results`` are the places of the results of each id, ``calls`` those of the
    messages that call under it.
    """

    def __init__(self, raw: list[Json]) -> None:
        self.made: list[Json] = []
        self.edits: list[Edit] = []
        self._raw = raw
        self._waiting: dict[str, int] = {}
        self._answered: set[str] = set()
        self._shared: set[str] = set()  # ids of several calls of the last assistant message
        # results of other calls, kept until this message's calls have theirs
        self._later: list[Json] = []
        self._moved: set[int] = set()
        self._results: dict[str, deque[int]] = defaultdict(deque)
        self._calls: dict[str, deque[int]] = defaultdict(deque)
        for place, message in enumerate(raw):
            if isinstance(message, dict) and message.get("role") == "tool":
                self._results[str(message.get("tool_call_id") or "")].append(place)
            for called in _list_call_ids(message):
                self._calls[called].append(place)

    def add(self, place: int, message: Json) -> None:
        if not isinstance(message, dict):
            self.made.append(message)
        elif message.get("role") == "tool":
            if place not in self._moved:
                self._result(place, message)
        else:
            self.answer_waiting_calls(place)
            self.made.append(message)
            if message.get("role") == "assistant":
                self._open(place, message)

    def answer_waiting_calls(self, at: int) -> None:
        """Give every call that still waits its result from behind this place, or one that says that
        there is none.
        """
        for called, place in self._waiting.items():
            late = self._find_late(called, at)
            if late is not None:
                self._moved.add(late)
                message = self._raw[late]
                self.made.append(message)
                self.edits.append(Edit(f"/messages/{late}", None, message, EditRules.LATE_RESULT))
                continue
            answer: JsonObject = {"role": "tool", "tool_call_id": called, "content": NO_RESULT}
            self.made.append(answer)
            self.edits.append(Edit(f"/messages/{place}", None, answer, EditRules.UNPAIRED_CALL))
        self.made += self._later
        self._waiting, self._later = {}, []

    def _find_late(self, called: str, at: int) -> int | None:
        """The place of the first result of this id from here on, before the id is used again."""
        again = _take_first_from(self._calls[called], at)
        late = _take_first_from(self._results[called], at)
        return late if late is not None and (again is None or late < again) else None

    def _open(self, place: int, message: Mapping[str, Any]) -> None:
        called = _list_call_ids(message)
        # servers that give no ids, or one for several calls, cannot be paired by them
        self._shared = {one for one, times in Counter(called).items() if times > 1}
        if all(called):
            self._waiting = dict.fromkeys((c for c in called if c not in self._shared), place)
            self._answered = set()

    def _result(self, place: int, message: Mapping[str, Any]) -> None:
        called = str(message.get("tool_call_id") or "")
        if not called or called in self._waiting or called in self._shared:
            self._waiting.pop(called, None)
            self._answered.add(called)
            self.made.append(message)
        elif called in self._answered:
            self.edits.append(
                Edit(f"/messages/{place}", dict(message), None, EditRules.REPEATED_RESULT)
            )
        else:
            kept = _to_user_message(message)
            self._later.append(kept)
            self.edits.append(
                Edit(f"/messages/{place}", dict(message), kept, EditRules.UNPAIRED_RESULT)
            )


def _list_call_ids(message: Json) -> list[str]:
    """The ids under which an assistant's message calls, in order; "" for a call without one."""
    entries = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(entries, list) or not entries:
        return []
    return [str(e.get("id") or "") for e in entries if isinstance(e, dict)]


def _take_first_from(places: deque[int], at: int) -> int | None:
    """The first of these rising places that is not before ``at``; those before it are dropped."""
    while places and places[0] < at:
        places.popleft()
    return places[0] if places else None


def _to_user_message(message: Mapping[str, Any]) -> JsonObject:
    content = message.get("content")
    name = f" of {message['name']}" if isinstance(message.get("name"), str) else ""
    if isinstance(content, list):
        return {"role": "user", "content": [{"type": "text", "text": f"{LOST}{name}:"}, *content]}
    return {"role": "user", "content": f"{LOST}{name}: {content}"}
