"""The first question of a layered run over few tools: which of them the request needs, and the
calls that can be made now. A request that one call serves is answered with the next question.

The plan is made of what the model named before anything runs, as where it is asked for names alone.
Of its calls those count that need not wait for another tool that it named; every other tool has its
turn in its layer.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.agent.safety.policy import find_asked
from callwright.agent.step import BindStep, StepContext, Steps, execute
from callwright.agent.strategies.open_points import list_waiting
from callwright.agent.strategies.tool_choice import keep_chosen_tools
from callwright.dataflow.prerequisites import Prerequisites
from callwright.nouns.types import Skip, to_canonical_json

_NEEDLESS = "what it would find was not needed"


def may_call_first(context: StepContext, above: int) -> bool:
    """Return True if the question may be asked: of more tools than ``above``, which are few enough
    to stand in every question, and of a model that names them in its reply.
    """
    if len(context.tools) <= max(above, 1) or context.mode == "native":
        return False
    context.open_prompt()
    return bool(context.facts.listed)


def take_first_step(context: StepContext, finished: set[str]) -> Steps[None]:
    """Ask, make the plan of what was named, and make the first calls. Slots that had their turn are
    added to ``finished``. Raises LimitReached.
    """
    step = BindStep("first", callable=_list_callable_tools(context))
    bound = yield from context.bind(context.tools, step)
    called = {call.tool for call in bound.calls}
    named = {*bound.needed} - _list_unasked_writers(context, called) if bound.needed else set[str]()
    kept = keep_chosen_tools(context, [tool for tool in context.tools if tool.name in named])
    yield from context.make_plan(kept)
    ready = _list_first_slots(context, named)
    calls = [replace(c, slot=ready[c.tool]) for c in bound.calls if c.tool in ready]
    if not calls:
        return
    # a reply that names nothing is one of the first layer: all of it had its turn
    finished |= {call.slot for call in calls} if named else {*ready.values()}
    total = len(context.plan.layers)
    context.trace.add("layer", index=1, total=total, slots=[*dict.fromkeys(c.slot for c in calls)])
    slots = [slot for slot in context.plan.slots if slot.id in {*ready.values()}]
    yield from execute(calls, ready, may_defer=list_waiting(context, slots, finished))
    _drop_needless_slots(context, named, finished)


def _list_unasked_writers(context: StepContext, called: set[str]) -> set[str]:
    """The tools that write, were only named for later, and are not asked for by the request, where
    that can be read: a small model calls what it is shown next, alone.
    """
    earlier = [message.content for message in context.conversation]
    asked = find_asked(context.query, earlier, context.tools)
    return {
        tool.name
        for tool in context.tools
        if tool.effects.may_write and tool.name not in called and asked[tool.name] is False
    }


def _list_callable_tools(context: StepContext) -> tuple[str, ...]:
    """The tools that no other one has to be called before: whose required identifiers stand in the
    request, or are given by no tool. All, where every tool waits.
    """
    said = [message.content for message in context.conversation]
    known = [to_canonical_json(result.content) for result in context.facts.state.earlier]
    request = "\n".join([*said, context.query, *known])
    found = Prerequisites.among(context.tools, request, documented=True)
    return tuple(tool.name for tool in context.tools if not found.of(tool))


def _list_first_slots(context: StepContext, named: set[str]) -> dict[str, str]:
    """Tool -> slot of what may be called first: what waits for no tool, or for none that the model
    named; where it named any, what only reads as well. Calls with made-up values wait all the same.
    """
    tool = {slot.id: slot.tool for slot in context.plan.slots}
    readers = {tool.name for tool in context.tools if tool.effects.read_only}
    slots = reversed(context.plan.slots)
    return {
        slot.tool: slot.id
        for slot in slots
        if not slot.after
        or (named and (slot.tool in readers or not any(tool[a] in named for a in slot.after)))
    }


def _drop_needless_slots(context: StepContext, named: set[str], finished: set[str]) -> None:
    """Finish the slots of tools that stand in the plan only for others, which have all succeeded
    without them.
    """
    good = context.facts.succeeded
    for slot in reversed(context.plan.slots):
        served = [other for other in context.plan.slots if slot.id in other.after]
        is_open = slot.id not in finished and slot.tool not in named
        if (
            is_open
            and served
            and all(
                other.id in finished and (other.tool in good or other.tool not in named)
                for other in served
            )
        ):
            finished.add(slot.id)
            context.facts.skip([Skip(slot.tool, _NEEDLESS, slot.id)])
