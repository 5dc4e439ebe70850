"""The rounds in which an upstream that calls natively is led: the tools that its request offers, in
their order.

They follow from the client's messages alone. A reply with calls ends the request, so no round
depends on a reply of the round before.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from callwright.agent.bind import Bound
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.step import Ask, BindStep, Replied, StepContext, Steps
from callwright.nouns.types import JsonObject, Reply, Tool, ToolResult
from callwright.proxy.session.context import Context, DecidedBefore
from callwright.proxy.session.decision.decision import Question
from callwright.proxy.session.leading.lead import (
    build_body,
    build_context,
    read_parts,
    recall_decided,
    remember_decided,
)
from callwright.tools.lists import chat_messages as chat

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rounds:
    """``first``: the tools of each round whose words do not count yet. ``last``: those of the last
    one. ``notes``: how they were found, for the record.
    """

    first: tuple[Names, ...]
    last: Names
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Offers(StepContext):
    """The step function's context where nothing is asked of a round: its tools are noted."""

    offered: list[Names] = field(default_factory=list)

    def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,  # noqa: ARG002 - the client's own request is the question
        results: Sequence[ToolResult] | None = None,  # noqa: ARG002
        actor: str = "",  # noqa: ARG002
    ) -> Steps[Bound]:
        self.offered.append(tuple(tool.name for tool in tools))
        return Bound((), ())
        yield


def find_rounds(context: Context) -> Generator[Question, Reply, Rounds]:
    """The rounds of this request. Of many tools the upstream is asked first which are needed."""
    # What the calls leave open is asked beside them, and how a job goes on is left to the upstream.
    parts = replace(read_parts(context), wishes=False, polling=False)
    policy = LeadPolicy(parts, recall_decided(context).chosen)
    made = build_context(context, _Offers)
    yield from _choose_tools(policy.steps(made), context)
    notes = [f"offered: {', '.join(names)}" for names in made.offered]
    if policy.chosen:
        remember_decided(context, DecidedBefore(policy.chosen))
        notes.append(f"chosen: {', '.join(policy.chosen)}")
    # Where no tool was chosen it is not known whether the question was understood.
    tools = policy.tools or context.toolset.tools
    last = _list_last(context, tools, made.offered)
    first = [names for names in made.offered[:-1] if {*names} != {*last}]
    return Rounds(tuple(first), last, (*notes, f"in the end: {', '.join(last)}"))


def _choose_tools(steps: Steps[None], context: Context) -> Generator[Question, Reply, None]:
    try:
        action = next(steps)
        while isinstance(action, Ask):
            reply = yield Question("words", build_body(action, context))
            action = steps.send(Replied(reply))
    except StopIteration:
        return
    finally:
        steps.close()


def _list_last(context: Context, tools: Sequence[Tool], offered: Sequence[Names]) -> Names:
    """All tools of the request: the order may be wrong, a call may be needed once more, and not
    every model makes all its calls at once. After results those are left out that still wait for a
    value.
    """
    names = tuple(tool.name for tool in tools)
    results = context.state.results
    if not results or "layers" in context.settings.without:
        return names
    seen = {name for round_ in offered for name in round_} | {result.tool for result in results}
    reads = {tool.name for tool in tools if tool.effects.read_only}
    if any(result.ok and result.tool not in reads for result in results):
        seen |= {*names} - context.waiting.keys()  # after a write not only what waits is held back
    return tuple(name for name in names if name in seen) or names


def offer_tools(body: JsonObject, names: Names, known: frozenset[str]) -> JsonObject:
    """The request with no other tools of ``known`` than these; itself where that are all. Tools
    that we cannot read stay.
    """
    tools = body["tools"]
    kept = [entry for entry in tools if chat.get_tool_name(entry) not in known.difference(names)]
    return body if len(kept) == len(tools) else {**body, "tools": kept}
