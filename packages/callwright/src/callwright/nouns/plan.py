"""A plan is a DAG of slots. A slot is one tool, to be called zero or more times; layers are a
view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from callwright.nouns.errors import PlanError
from callwright.nouns.types import Json, JsonObject

OPEN = "${?}"
_REFERENCE = re.compile(r"\$\{([^{}\n]{1,200})\}")
_PATH = re.compile(r"(?:\.[^.\[\]]+|\[(?:\d+|\*)\])*")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\*)\]")


@dataclass(frozen=True, slots=True)
class Slot:
    """One tool of a plan. ``after`` are the slots that must be finished first; ``reason`` says why
    it waits.

    ``arguments`` are those of its one call where the plan says them: JSON, in whose texts
    ``${slot}`` and ``${slot.key[0]}`` stand for what other slots return (:class:`Ref`). None: they
    are filled when it is its turn, as is a single one that is :data:`OPEN`.
    """

    id: str
    tool: str
    after: frozenset[str] = frozenset()
    reason: str = ""
    probabilities: tuple[float, ...] = ()  # P(layer = k), where a predictor gave them
    arguments: JsonObject | None = field(default=None, hash=False)

    @property
    def is_open(self) -> bool:
        """Return True if any part of its call remains to be filled at run time."""
        return self.arguments is None or OPEN in self.arguments.values()


@dataclass(frozen=True, slots=True)
class Ref:
    """A text that stands for what a slot returns, or for a part of it: ``${slot}``,
    ``${slot.key[0]}``.

    ``path`` are keys and places in lists; ``"*"`` is every member of a list. ``whole``: nothing
    else stands in the text, and the value takes its place as it is; otherwise it is written into
    the text.
    """

    slot: str
    path: tuple[str | int, ...]
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem that makes a plan unusable. It is a ``cycle``, a ``dangling`` dependency or
    reference, an ``unknown_tool`` or a ``duplicate`` id.
    """

    kind: str
    slots: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Slots in an order that names their dependencies. ``revision`` grows when a running plan is
    changed.
    """

    slots: tuple[Slot, ...] = ()
    revision: int = 0

    @classmethod
    def from_layers(cls, layers: Sequence[Sequence[str]]) -> Plan:
        """Tools by layer. Every slot waits for the whole layer before it. Empty layers are
        dropped.
        """
        slots: list[Slot] = []
        before: frozenset[str] = frozenset()
        ids = SlotIds()
        for layer in layers:
            made = [Slot(ids.next(tool), tool, before) for tool in layer]
            slots += made
            before = frozenset(s.id for s in made) or before
        return cls(tuple(slots))

    @classmethod
    def from_edges(cls, tools: Iterable[str], edges: Iterable[tuple[str, str]]) -> Plan:
        """Tools and (from, to) dependencies between them. Tools must be distinct. Raises PlanError
        on a cycle.
        """
        names = list(tools)
        before: dict[str, set[str]] = {name: set() for name in names}
        for source, target in edges:
            if source not in before or target not in before:
                raise PlanError(
                    f"edge {source!r} -> {target!r} names a tool that is not in the plan"
                )
            before[target].add(source)
        plan = cls(tuple(Slot(name, name, frozenset(before[name])) for name in names))
        plan.require_sound()
        return plan

    @classmethod
    def from_slots(cls, slots: Iterable[Mapping[str, Any]], revision: int = 0) -> Plan:
        """A plan from its slots' JSON form, as ``plan`` events hold it."""
        return cls(
            tuple(
                Slot(
                    s["id"],
                    s["tool"],
                    frozenset(s["after"]),
                    s["reason"],
                    tuple(s["probabilities"]),
                    s.get("arguments"),  # journals of earlier versions do not say
                )
                for s in slots
            ),
            revision,
        )

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(from, to) pairs of slot ids, in slot order."""
        return tuple(
            (before, s.id) for s in self.slots for before in sorted(s.after, key=self._place)
        )

    @property
    def layers(self) -> tuple[tuple[Slot, ...], ...]:
        """Slots by longest path from a source: layer k waits only for layers < k. Raises PlanError
        on a cycle.
        """
        depth = self._depths()
        if len(depth) < len(self.slots):
            raise PlanError(
                "the plan has a cycle or a dangling dependency", hint="see Plan.problems()"
            )
        count = max(depth.values(), default=-1) + 1
        rows: list[list[Slot]] = [[] for _ in range(count)]
        for slot in self.slots:
            rows[depth[slot.id]].append(slot)
        return tuple(tuple(row) for row in rows)

    def ready(self, finished: Iterable[str]) -> tuple[Slot, ...]:
        """The unfinished slots all of whose dependencies are finished, in slot order."""
        done = set(finished)
        return tuple(s for s in self.slots if s.id not in done and s.after <= done)

    def problems(self, tools: Iterable[str] | None = None) -> tuple[Problem, ...]:
        """Everything wrong with the plan; empty means it can run. ``tools`` are the names that
        exist.
        """
        found: list[Problem] = []
        ids = [s.id for s in self.slots]
        for twice in sorted({i for i in ids if ids.count(i) > 1}):
            found.append(
                Problem("duplicate", (twice,), f"slot {twice!r} stands more than once in the plan")
            )
        known = set(ids)
        for slot in self.slots:
            for before in sorted(slot.after - known):
                found.append(
                    Problem(
                        "dangling",
                        (slot.id, before),
                        f"{slot.id!r} waits for {before!r}, which is not there",
                    )
                )
        if tools is not None:
            names = set(tools)
            for slot in self.slots:
                if slot.tool not in names:
                    found.append(
                        Problem("unknown_tool", (slot.id,), f"there is no tool {slot.tool!r}")
                    )
        found += self._unfounded(known)
        depth = self._depths(known)
        stuck = tuple(s.id for s in self.slots if s.id not in depth and s.id in self.behind([s.id]))
        if stuck:
            found.append(
                Problem("cycle", stuck, "these slots wait for each other: " + ", ".join(stuck))
            )
        return tuple(found)

    def require_sound(self, tools: Iterable[str] | None = None) -> None:
        """Raise PlanError naming the first problem."""
        for problem in self.problems(tools):
            raise PlanError(problem.message, hint=f"problem kind: {problem.kind}")

    def grown(self, *slots: Slot) -> Plan:
        """The same plan with more slots, as the next revision."""
        return replace(self, slots=self.slots + slots, revision=self.revision + 1)

    def revised(self, finished: Container[str], fresh: Plan) -> Plan:
        """The finished slots as they are and, behind them, ``fresh`` instead of all others: the
        next revision.

        A tool may be offered again; the slots of ``fresh`` are then named ``name#2``, ``name#3`` …
        What ``fresh`` waits for or refers to and does not hold itself is one of the finished slots.
        """
        kept = tuple(s for s in self.slots if s.id in finished)
        ends = frozenset(s.id for s in kept).difference(*(s.after for s in kept))
        ids = SlotIds(s.id for s in kept)
        named = {s.id: ids.next(s.tool) for s in fresh.slots}
        made = tuple(
            replace(
                s,
                id=named[s.id],
                after=frozenset(named.get(b, b) for b in s.after) or ends,
                arguments=rename_references(s.arguments, named),
            )
            for s in fresh.slots
        )
        return Plan((*kept, *made), self.revision + 1).wired()

    def wired(self) -> Plan:
        """The same plan in which every slot waits for those it refers to."""
        ids = {s.id for s in self.slots}
        feeds = {
            s.id: {r.slot for r in find_references(s.arguments, ids)} & ids for s in self.slots
        }
        return replace(
            self, slots=tuple(replace(s, after=s.after | feeds[s.id]) for s in self.slots)
        )

    def behind(self, slots: Iterable[str]) -> frozenset[str]:
        """All that waits for one of these slots, however far behind; these only where they wait for
        each other.
        """
        followers: dict[str, list[str]] = {}
        for slot in self.slots:
            for before in slot.after:
                followers.setdefault(before, []).append(slot.id)
        found: set[str] = set()
        front = list(slots)
        while front:
            new = set(followers.get(front.pop(), ())) - found
            found |= new
            front += new
        return frozenset(found)

    def critical_path(self, seconds: Mapping[str, float] | None = None) -> tuple[str, ...]:
        """The chain of slots that takes longest; each takes its ``seconds``, or 1 where nothing is
        known.

        No run can be faster. Of equal ones the first in slot order. Raises PlanError on a cycle.
        """
        took = seconds or {}
        total: dict[str, float] = {}
        last: dict[str, str] = {}
        for slot in (slot for layer in self.layers for slot in layer):
            before = max(sorted(slot.after, key=self._place), key=lambda b: total[b], default=None)
            total[slot.id] = took.get(slot.id, 1.0) + (total[before] if before is not None else 0.0)
            if before is not None:
                last[slot.id] = before
        end = max((s.id for s in self.slots), key=lambda i: total[i], default=None)
        path: list[str] = []
        while end is not None:
            path.append(end)
            end = last.get(end)
        return tuple(reversed(path))

    def annotated(self, notes: Mapping[str, str]) -> Plan:
        """The same plan with reasons set on the slots named."""
        return replace(
            self,
            slots=tuple(replace(s, reason=notes[s.id]) if s.id in notes else s for s in self.slots),
        )

    @property
    def _place(self) -> Callable[[str], int]:
        order = {s.id: i for i, s in enumerate(self.slots)}
        return lambda id_: order.get(id_, -1)

    def _unfounded(self, known: Collection[str]) -> Iterator[Problem]:
        """References to slots that are not there, or that need not have finished."""
        for slot in self.slots:
            for ref in find_references(slot.arguments, known):
                said = f"{slot.id!r} refers to {ref.text}"
                if ref.slot not in known:
                    yield Problem(
                        "dangling", (slot.id, ref.slot), f"{said}, and there is no such step"
                    )
                elif ref.slot not in slot.after and slot.id not in self.behind([ref.slot]):
                    yield Problem(
                        "dangling", (slot.id, ref.slot), f"{said} and does not wait for it"
                    )

    def _depths(self, known: set[str] | None = None) -> dict[str, int]:
        """Longest-path depth of every slot that is in no cycle. With ``known``, dangling names are
        ignored.
        """
        before = {s.id: s.after if known is None else s.after & known for s in self.slots}
        open_count = {i: len(names) for i, names in before.items()}
        followers: dict[str, list[str]] = {}
        for i, names in before.items():
            for name in names:
                followers.setdefault(name, []).append(i)
        depth = {i: 0 for i, count in open_count.items() if not count}
        front = list(depth)
        while front:
            for i in followers.get(front.pop(), ()):
                open_count[i] -= 1
                if not open_count[i]:
                    depth[i] = 1 + max(depth[name] for name in before[i])
                    front.append(i)
        return depth


class SlotIds:
    """Slot ids from tool names: the name itself, then name#2, name#3 … ``taken`` are ids that are
    there already.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken}

    def take(self, id_: str) -> None:
        """One more id that is there already."""
        self._taken.add(id_)

    def next(self, tool: str) -> str:
        """An id that was not given before, for a slot of this tool."""
        found, number = tool, 1
        while found in self._taken:
            number += 1
            found = f"{tool}#{number}"
        self._taken.add(found)
        return found


def find_references(arguments: Json, slots: Collection[str]) -> tuple[Ref, ...]:
    """The references in a JSON value, in order. ``slots`` are the ids there are: an id may hold
    dots itself.

    To something else only a text refers that is nothing but a reference; inside a longer text it is
    left as it is.
    """
    if isinstance(arguments, str):
        return tuple(_iter_text_references(arguments, slots))
    return tuple(
        ref
        for text in _iter_reference_texts(arguments)
        for ref in _iter_text_references(text, slots)
    )


def rename_references(arguments: JsonObject | None, names: Mapping[str, str]) -> JsonObject | None:
    """The same arguments with references to other slots: old id -> new id."""

    def other(found: re.Match[str]) -> str:
        slot, rest = _split_reference(found[1].strip(), names)
        return "${" + names[slot] + rest + "}" if slot in names else found[0]

    def walk(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: walk(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner) for inner in value]
        return _REFERENCE.sub(other, value) if isinstance(value, str) else value

    return None if arguments is None else {key: walk(value) for key, value in arguments.items()}


def _iter_reference_texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if "${" in value:
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _iter_reference_texts(inner)


def _iter_text_references(text: str, slots: Collection[str]) -> Iterator[Ref]:
    for found in _REFERENCE.finditer(text):
        whole = len(found[0]) == len(text) or found[0] == text.strip()
        slot, rest = _split_reference(found[1].strip(), slots)
        if (whole and found[0] != OPEN) or slot in slots:
            yield _make_ref(slot, rest, found[0], whole)


def _parse_path(text: str) -> tuple[str | int, ...]:
    return tuple(
        key or (place if place == "*" else int(place)) for key, place in _STEP.findall(text)
    )


def _split_reference(inner: str, slots: Collection[str]) -> tuple[str, str]:
    """The longest id that ``inner`` begins with, and the path behind it; else what stands before
    the first mark.
    """
    ways = _list_splits(inner)
    for way in ways:
        if way[0] in slots:
            return way
    return ways[-1]


@lru_cache(maxsize=4_096)
def _list_splits(inner: str) -> tuple[tuple[str, str], ...]:
    """Every way to take a text as an id and a path, the longest id first; and what stands before
    its first mark.
    """
    found = []
    end = first = len(inner)
    while end > 0:
        if end == len(inner) or _PATH.fullmatch(inner, end):
            found.append((inner[:end], inner[end:]))
        first, end = end, max(inner.rfind(".", 0, end), inner.rfind("[", 0, end))
    return (*found, (inner[:first], inner[first:]))


@lru_cache(maxsize=4_096)
def _make_ref(slot: str, path: str, text: str, whole: bool) -> Ref:
    return Ref(slot, _parse_path(path), text, whole)
