"""RETO's layers for calls that somebody else carries out: begun anew with each request of a client,
over the facts that its messages tell.

Nothing is remembered between two requests. The plan is made again from request and tools; the
rounds up to the last one of which a call stands in the turn have had their question. What needs a
value that no result holds yet comes after what gives it, and a request that needs no tool ends
without a call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from callwright.agent.select import build_request, find_mentioned, read_selection
from callwright.agent.step import BindStep, StepContext, Steps, ask, execute
from callwright.dataflow.prerequisites import add_producers
from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.pending import is_pending


@dataclass(frozen=True, slots=True)
class Parts:
    """What of the engine a client's agent is given; each may be left out, to see what it brings.

    ``select``: the tools that a request needs are chosen first, of more than ``choose_above``.
    ``layers``: only the tools of the current round are offered. ``prerequisites``: what gives a
    needed value is chosen with what needs it.
    """

    select: bool = True
    layers: bool = True
    prerequisites: bool = True
    choose_above: int = 3


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
        self._named: frozenset[str] = frozenset()  # the tools of this request

    def steps(self, context: StepContext) -> Steps[None]:
        tools = yield from self._choose(context)
        if not tools:
            context.trace.add("note", text="no tool is needed")
            return
        yield from self._plan(context, tools)
        called = {result.tool for result in context.facts.state.results}
        finished = list_finished(context.plan, called, single=self._single)
        index = sum(all(slot.id in finished for slot in layer) for layer in context.plan.layers)
        by_name = {tool.name: tool for tool in context.tools}
        while ready := context.plan.ready(finished):
            index += 1
            total = max(len(context.plan.layers), index)
            context.trace.add("layer", index=index, total=total, slots=[s.id for s in ready])
            finished |= {slot.id for slot in ready}
            offered = tuple(by_name[slot.tool] for slot in ready)
            yield from self._offer(context, offered, BindStep("layer", index, total))
        if again := self._list_open(context):
            yield from self._offer(context, again, BindStep("layer", index + 1, index + 1))

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

    def _list_open(self, context: StepContext) -> tuple[Tool, ...]:
        """Tools that had their question and may have something to do now: one whose last result is
        not final, and those that were chosen and not called before there was any result.
        """
        results = context.facts.state.results
        if not results:
            return ()
        last = {result.tool: result for result in results}
        waiting = {name for name, result in last.items() if is_pending(result.content)}
        left = {name for name in self.chosen or () if name not in last}
        return tuple(tool for tool in context.tools if tool.name in waiting | left)

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
        return add_producers(kept, tools) if self._parts.prerequisites else kept

    def _plan(self, context: StepContext, tools: tuple[Tool, ...]) -> Steps[None]:
        if self._parts.layers:
            yield from context.make_plan(tools)
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


def list_finished(plan: Plan, called: Collection[str], *, single: bool = False) -> set[str]:
    """The slots that have had their question: those of every round up to the last of which a tool
    was called. ``single``: the last round itself goes on.
    """
    finished: set[str] = set()
    rounds: list[set[str]] = []
    last = 0
    while ready := plan.ready(finished):
        rounds.append({slot.id for slot in ready})
        finished |= rounds[-1]
        if any(slot.tool in called for slot in ready):
            last = len(rounds)
    return set().union(*rounds[: max(0, last - single)])
