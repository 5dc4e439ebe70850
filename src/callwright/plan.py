"""A plan is a DAG of slots. A slot is one tool, to be called zero or more times; layers are a view."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callwright.errors import PlanError


@dataclass(frozen=True, slots=True)
class Slot:
    """One tool of a plan. ``after`` are the slots that must be finished first; ``reason`` says why it waits."""

    id: str
    tool: str
    after: frozenset[str] = frozenset()
    reason: str = ""
    probabilities: tuple[float, ...] = ()  # P(layer = k), where a predictor gave them


@dataclass(frozen=True, slots=True)
class Problem:
    """What makes a plan unusable: ``cycle``, ``dangling`` dependency, ``unknown_tool`` or ``duplicate`` id."""

    kind: str
    slots: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Slots in an order that names their dependencies. ``revision`` grows when a running plan is changed."""

    slots: tuple[Slot, ...] = ()
    revision: int = 0

    @classmethod
    def from_layers(cls, layers: Sequence[Sequence[str]]) -> Plan:
        """Tools by layer. Every slot waits for the whole layer before it. Empty layers are dropped."""
        slots: list[Slot] = []
        before: frozenset[str] = frozenset()
        ids = _Ids()
        for layer in layers:
            made = [Slot(ids.next(tool), tool, before) for tool in layer]
            slots += made
            before = frozenset(s.id for s in made) or before
        return cls(tuple(slots))

    @classmethod
    def from_edges(cls, tools: Iterable[str], edges: Iterable[tuple[str, str]]) -> Plan:
        """Tools and (from, to) dependencies between them. Tools must be distinct. Raises PlanError on a cycle."""
        names = list(tools)
        before: dict[str, set[str]] = {name: set() for name in names}
        for source, target in edges:
            if source not in before or target not in before:
                raise PlanError(f"edge {source!r} -> {target!r} names a tool that is not in the plan")
            before[target].add(source)
        plan = cls(tuple(Slot(name, name, frozenset(before[name])) for name in names))
        plan.require_sound()
        return plan

    @classmethod
    def from_slots(cls, slots: Iterable[Mapping[str, Any]], revision: int = 0) -> Plan:
        """A plan from its slots' JSON form, as ``plan`` events hold it."""
        return cls(
            tuple(
                Slot(s["id"], s["tool"], frozenset(s["after"]), s["reason"], tuple(s["probabilities"])) for s in slots
            ),
            revision,
        )

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(from, to) pairs of slot ids, in slot order."""
        order = {s.id: i for i, s in enumerate(self.slots)}
        return tuple((before, s.id) for s in self.slots for before in sorted(s.after, key=lambda b: order.get(b, -1)))

    @property
    def layers(self) -> tuple[tuple[Slot, ...], ...]:
        """Slots by longest path from a source: layer k waits only for layers < k. Raises PlanError on a cycle."""
        depth = self._depths()
        if len(depth) < len(self.slots):
            raise PlanError("the plan has a cycle or a dangling dependency", hint="see Plan.problems()")
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
        """Everything wrong with the plan; empty means it can run. ``tools`` are the names that exist."""
        found: list[Problem] = []
        ids = [s.id for s in self.slots]
        for twice in sorted({i for i in ids if ids.count(i) > 1}):
            found.append(Problem("duplicate", (twice,), f"slot {twice!r} stands more than once in the plan"))
        known = set(ids)
        for slot in self.slots:
            for before in sorted(slot.after - known):
                found.append(
                    Problem("dangling", (slot.id, before), f"{slot.id!r} waits for {before!r}, which is not there")
                )
        if tools is not None:
            names = set(tools)
            for slot in self.slots:
                if slot.tool not in names:
                    found.append(Problem("unknown_tool", (slot.id,), f"there is no tool {slot.tool!r}"))
        depth = self._depths(known)
        stuck = tuple(s.id for s in self.slots if s.id not in depth)
        if stuck:
            found.append(Problem("cycle", stuck, "these slots wait for each other: " + ", ".join(stuck)))
        return tuple(found)

    def require_sound(self, tools: Iterable[str] | None = None) -> None:
        """Raise PlanError naming the first problem."""
        for problem in self.problems(tools):
            raise PlanError(problem.message, hint=f"problem kind: {problem.kind}")

    def grown(self, *slots: Slot) -> Plan:
        """The same plan with more slots, as the next revision."""
        return replace(self, slots=self.slots + slots, revision=self.revision + 1)

    def revised(self, finished: Container[str], fresh: Plan) -> Plan:
        """The finished slots as they are and, behind them, ``fresh`` instead of all others: the next revision.

        A tool may be offered again; the slots of ``fresh`` are then named ``name#2``, ``name#3`` …
        """
        kept = tuple(s for s in self.slots if s.id in finished)
        ends = frozenset(s.id for s in kept).difference(*(s.after for s in kept))
        ids = _Ids(s.tool for s in kept)
        named = {s.id: ids.next(s.tool) for s in fresh.slots}
        made = (replace(s, id=named[s.id], after=frozenset(named[b] for b in s.after) or ends) for s in fresh.slots)
        return Plan((*kept, *made), self.revision + 1)

    def annotated(self, notes: Mapping[str, str]) -> Plan:
        """The same plan with reasons set on the slots named."""
        return replace(self, slots=tuple(replace(s, reason=notes[s.id]) if s.id in notes else s for s in self.slots))

    def _depths(self, known: set[str] | None = None) -> dict[str, int]:
        """Longest-path depth of every slot that is in no cycle. With ``known``, dangling names are ignored."""
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


class _Ids:
    """Slot ids from tool names: the name itself, then name#2, name#3 …"""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._seen: dict[str, int] = {}
        for tool in taken:
            self.next(tool)

    def next(self, tool: str) -> str:
        self._seen[tool] = self._seen.get(tool, 0) + 1
        return tool if self._seen[tool] == 1 else f"{tool}#{self._seen[tool]}"
