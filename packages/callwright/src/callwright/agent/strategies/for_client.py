"""RETO's layers for calls that somebody else carries out: begun anew with each request of a client,
over the facts that its messages tell.

Nothing is remembered between two requests. The plan is made again from request and tools; the
rounds up to the last one of which a call stands in the turn have had their question. What needs a
value that no result holds yet comes after what gives it, and a request that needs no tool ends
without a call.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.agent.select import build_request, find_mentioned, read_selection
from callwright.agent.step import BindStep, StepContext, Steps, ask, execute
from callwright.dataflow.flow import get_profile
from callwright.dataflow.prerequisites import (
    Prerequisites,
    add_producers,
    find_needs,
    is_looked_up,
)
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.pending import is_pending


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the engine that a client's agent is given; each may be left out, to see its effect.

    ``select``: the tools that a request needs are chosen first, of more than ``choose_above``.
    ``layers``: only the tools of the current round are offered. ``prerequisites``: what gives a
    needed value is chosen with what needs it.
    """

    select: bool = True
    layers: bool = True
    prerequisites: bool = True
    choose_above: int = 12


class ForClient:
    """The policy. ``chosen``: the tools that the model chose for this request before, if that is
    known.
    """

    name = "for-client"

    def __init__(
        self,
        parts: Parts | None = None,
        chosen: Iterable[str] | None = None,
        *,
        single: bool = False,
    ) -> None:
        """``single``: one call a reply, so a round has its question until it brings no call."""
        self._parts = parts or Parts()
        self.chosen = tuple(chosen) if chosen is not None else None
        self._single = single
        self._needless: frozenset[str] = frozenset()
        self._named: frozenset[str] = frozenset()  # the tools of this request

    def steps(self, context: StepContext) -> Steps[None]:
        tools = yield from self._choose(context)
        if not tools:
            context.trace.add("note", text="no tool is needed")
            return
        yield from self._plan(context, tools)
        called = {result.tool for result in context.facts.state.results}
        by_name = {tool.name: tool for tool in context.tools}
        goes_on = not any(_may_have_written(r, by_name) for r in context.facts.state.results)
        rounds = Rounds(
            context.plan, called, single=self._single, goes_on=goes_on, last=self._needless
        )
        while slots := rounds.next():
            total = max(len(context.plan.layers), rounds.number)
            context.trace.add(
                "layer", index=rounds.number, total=total, slots=[slot.id for slot in slots]
            )
            offered = tuple(by_name[slot.tool] for slot in slots)
            yield from self._offer(context, offered, BindStep("layer", rounds.number, total))
        if again := _list_pending(context):
            number = rounds.number + 1
            yield from self._offer(context, again, BindStep("layer", number, number))

    def fetch_missing(self, context: StepContext, missing: Sequence[str]) -> Steps[None]:
        """Once more the tools that were chosen, for what the answer itself says is missing. A call
        that was made since the last write has said all that it can.
        """
        tools = tuple(tool for tool in context.tools if tool.name in self._named)
        known = _list_fresh_calls(context)
        step = BindStep("layer", open_points=missing)
        bound = yield from context.bind(tools, step)
        calls = [call for call in bound.calls if make_call_key(call) not in known]
        if calls:
            yield from execute(calls, (tool.name for tool in tools))

    def _offer(
        self, context: StepContext, offered: tuple[Tool, ...], step: BindStep
    ) -> Steps[None]:
        bound = yield from context.bind(offered, step)
        context.facts.skip(bound.skips)
        if bound.calls:
            yield from execute(bound.calls, (tool.name for tool in offered))

    def _choose(self, context: StepContext) -> Steps[tuple[Tool, ...]]:
        tools = context.tools
        self._named = frozenset(tool.name for tool in tools)
        if not self._parts.select or len(tools) <= self._parts.choose_above:
            return tools
        if self.chosen is None:
            request = build_request(context.query, tools, context.mode)
            reply = yield from ask(request, calls=None)
            self.chosen = tuple(tool.name for tool in read_selection(reply, tools))
        self._named = frozenset(self.chosen)
        named = tuple(tool for tool in tools if tool.name in self.chosen)
        if not named:
            return ()
        spoken_of = (tool for tool in find_mentioned(context.query, tools) if tool not in named)
        kept = (*named, *spoken_of)
        if not self._parts.prerequisites:
            return kept
        # an identifier that the request holds need not be looked up
        open_ = tuple(tool for tool in kept if find_needs(tool, context.query))
        return (*kept, *(tool for tool in add_producers(open_, tools) if tool not in kept))

    def _plan(self, context: StepContext, tools: tuple[Tool, ...]) -> Steps[None]:
        if self._parts.layers:
            yield from context.make_plan(tools)
            context.plan = relax_plan(context.plan, tools, context.query)
            self._needless = find_needless_lookups(tools, context.query)
        else:
            yield from context.adopt(Plan.from_layers([[tool.name for tool in tools]]))


def make_call_key(call: ToolCall | ToolResult) -> str:
    """Equal for calls that say the same."""
    return to_canonical_json([call.tool, call.arguments])


def _list_fresh_calls(context: StepContext) -> set[str]:
    """The calls of this turn since its last write."""
    tools = {tool.name: tool for tool in context.tools}
    known: set[str] = set()
    for result in context.facts.state.results:
        tool = tools.get(result.tool)
        if tool is not None and tool.effects.may_write and tool.effects.declared:
            known = set()
        known.add(make_call_key(result))
    return known


def _may_have_written(result: ToolResult, tools: Mapping[str, Tool]) -> bool:
    tool = tools.get(result.tool)
    return result.ok and (tool is None or tool.effects.may_write)


def _list_pending(context: StepContext) -> tuple[Tool, ...]:
    """The tools whose last result says that it is not final."""
    last = {result.tool: result for result in context.facts.state.results}
    waiting = {name for name, result in last.items() if is_pending(result.content)}
    return tuple(tool for tool in context.tools if tool.name in waiting)


def relax_plan(plan: Plan, tools: Sequence[Tool], request: str) -> Plan:
    """The plan in which a tool waits for nothing if the request may give all that it requires: no
    identifier is open, and no text is to be written from what others return.
    """
    by_name = {tool.name: tool for tool in tools}
    free = {
        slot.id
        for slot in plan.slots
        if slot.tool in by_name and not _has_open_inputs(by_name[slot.tool], request)
    }
    slots = (replace(s, after=frozenset()) if s.id in free else s for s in plan.slots)
    return replace(plan, slots=tuple(slots))


def find_needless_lookups(tools: Sequence[Tool], request: str) -> frozenset[str]:
    """The tools that only give identifiers which the request holds already."""
    prerequisites = Prerequisites.among(tools)
    needed: set[str] = set()
    needless: set[str] = set()
    for tool in tools:
        givers = {
            link.producer
            for need in prerequisites.needs(tool)
            for link in prerequisites.providers(need)
        }
        (needed if find_needs(tool, request) else needless).update(givers)
    return frozenset(needless - needed)


def _has_open_inputs(tool: Tool, request: str) -> bool:
    if find_needs(tool, request):
        return True
    return any(
        field.required and field.type == "string" and not field.enum and not is_looked_up(field)
        for field in get_profile(tool).inputs
        if not _has_form(tool, field.path[0])
    )


def _has_form(tool: Tool, key: str) -> bool:
    part = tool.properties.get(key)
    return isinstance(part, dict) and bool({"format", "pattern", "const"} & part.keys())


class Rounds:
    """The rounds of questions that a plan has left. The first round are the slots that wait for
    nothing; where none of it is called, all others follow at once. A later round are the slots
    whose dependencies had their question, and of which one was called.

    Which rounds there were is told by the tools that were called since. ``single``: one call a
    reply, so that the last round of which a tool was called goes on. ``goes_on``: nothing was
    written yet, so what was not called may still be: many models look something up first. ``last``:
    tools that are no part of the first round, unless it would be empty.
    """

    def __init__(
        self,
        plan: Plan,
        called: Collection[str],
        *,
        single: bool = False,
        goes_on: bool = False,
        last: Container[str] = (),
    ) -> None:
        self._plan, self._called = plan, called
        self._done = {slot.id for slot in plan.slots if slot.tool in called}
        self._asked: set[str] = set()
        self.number = 0
        self._next: tuple[Slot, ...] = plan.ready(())
        if first := tuple(slot for slot in self._next if slot.tool not in last):
            self._next = first
        while self._done - self._asked and (is_last := self._is_last_called()) is not None:
            if is_last and single:
                break
            self._advance()
        if goes_on and called and not single:
            self._next = self._list_uncalled()

    def _list_uncalled(self) -> tuple[Slot, ...]:
        ready = self._plan.ready(())
        there = {slot.id for slot in (*ready, *self._next)}
        return tuple(
            slot for slot in self._plan.slots if slot.id in there and slot.tool not in self._called
        )

    def _is_last_called(self) -> bool | None:
        """Return True if the next round is the last of which a tool was called, None if there is
        no next round. What was called out of its order counts as asked.
        """
        if not self._next:
            self._asked |= self._done
            self._next = self._list_behind(())
            return None
        return self._done - self._asked <= {slot.id for slot in self._next}

    def next(self) -> tuple[Slot, ...]:
        """The slots of the next round; () if there is none."""
        slots = self._next
        if not slots and not self._called:
            # an order may be wrong: where nothing of it was called, what is left is offered at once
            slots = tuple(slot for slot in self._plan.slots if slot.id not in self._asked)
        if slots:
            self._next = slots
            self._advance()
        return slots

    def _advance(self) -> None:
        self._next, behind = self._list_behind(self._next), self._next
        self._asked |= {slot.id for slot in behind}
        self.number += 1

    def _list_behind(self, slots: Sequence[Slot]) -> tuple[Slot, ...]:
        """The slots that are ready once these had their question, and for which something was
        called.
        """
        asked = self._asked | {slot.id for slot in slots}
        return tuple(s for s in self._plan.ready(asked) if s.after & self._done)
