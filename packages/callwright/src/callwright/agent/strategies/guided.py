"""The engine that leads a client's agent behind the proxy, over calls of our own.

Each step begins anew over the facts, as each request of a client does
(:mod:`callwright.agent.for_client`): tools that need not wait are offered together, and the model
states its wishes before its calls. The questions stand behind a conversation that shows the calls
and their results, so that a small model reads them as it was trained to. A step that makes no call
ends the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from callwright import prompts
from callwright.agent.bind import Bound
from callwright.agent.for_client import ForClient
from callwright.agent.render import render_signatures
from callwright.agent.step import BindStep, Execute, StepContext, Steps, ask, execute, step_id
from callwright.agent.strategies.strategy import Stepwise
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    Json,
    JsonObject,
    Message,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.parsing import parse_calls
from callwright.schema.normalize import closed_object, required_first

_FORM = (
    '{"wishes": [each thing that the request asks for, in a few of its words, to its end], '
    '"calls": [{"name": ..., "arguments": {...}}, one for each call that these wishes need]}'
)
_NO_USE = "the model saw no use for it here"
_WISH = 100  # characters


class Guided(Stepwise):
    """Offers the tools that need not wait, round by round, until a round makes no call."""

    name = "guided"

    def steps(self, context: StepContext) -> Steps[None]:
        context.plan = Plan()
        led = _LedContext(
            query=context.query,
            tools=context.tools,
            planner=context.planner,
            facts=context.facts,
            mode=context.mode,
            limits=context.limits,
            trace=context.trace,
            conversation=context.conversation,
            today=context.today,
        )
        context.facts.behind = led.begin
        is_asked_again = False
        for _ in range(context.limits.turns):
            led.policy = ForClient(chosen=led.policy.chosen, intended=led.policy.intended)
            action = yield from _find_calls(led.policy.steps(led))
            if action is None:
                break
            came, refused = len(context.facts.all_results), len(context.facts.skips)
            yield from _make_calls(context, action.calls, action.allowed)
            if len(context.facts.all_results) > came:
                continue
            if is_asked_again:  # the next round would say the same
                break
            is_asked_again = True
            yield from _ask_again(led, context, context.facts.skips[refused:])
            if len(context.facts.all_results) == came:
                break
        context.record_plan()


def _find_calls(steps: Steps[None]) -> Steps[Execute | None]:
    """Carry a policy on to its first calls; None where it ends without."""
    try:
        action = next(steps)
        while not isinstance(action, Execute):
            action = steps.send((yield action))
    except StopIteration:
        return None
    finally:
        steps.close()
    return action


def _make_calls(
    context: StepContext, calls: Iterable[ToolCall], allowed: Iterable[str]
) -> Steps[None]:
    """Make calls, each of them a new slot of the plan."""
    placed = []
    for call in calls:
        slot = Slot(step_id(call, len(context.plan.slots) + 1), call.tool, frozenset())
        context.plan = context.plan.grown(slot)
        placed.append(replace(call, slot=slot.id))
    yield from execute(placed, allowed)


def _ask_again(led: _LedContext, context: StepContext, skips: Sequence[Skip]) -> Steps[None]:
    """Ask once more for calls that were refused, and say why: often the user's words lead to another
    value.
    """
    refused = {skip.tool: skip.reason for skip in skips if skip.refused}
    tools = tuple(tool for tool in context.tools if tool.name in refused)
    if not tools:
        return
    bound = yield from led.bind(tools, BindStep("again", open_points=[*refused.values()]))
    yield from _make_calls(context, bound.calls, refused)


@dataclass(slots=True)
class _LedContext(StepContext):
    """The context whose questions stand behind the conversation, its calls and their results.
    ``policy`` chooses the tools that they tell of.
    """

    policy: ForClient = field(default_factory=ForClient)

    def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,
        results: Sequence[ToolResult] | None = None,  # noqa: ARG002 - all stand in the conversation
        actor: str = "",
    ) -> Steps[Bound]:
        profile = self.facts.profile
        messages = (*self.begin(), *_render_question(self, tools, step))
        request = ChatRequest(messages, purpose="bind", max_tokens=profile.output_tokens)
        if self.mode == "schema":
            request = replace(request, schema=_build_schema(tools, profile.layer_calls))
        elif self.mode == "native":
            request = replace(request, tools=tools)
        reply = yield from ask(request, None, actor)
        calls = reply.tool_calls or _read_calls(reply.text, tools)
        called = {call.tool for call in calls}
        return Bound(calls, tuple(Skip(t.name, _NO_USE) for t in tools if t.name not in called))

    def begin(self) -> tuple[Message, ...]:
        """The beginning of all questions of the run: the tools, the conversation, the request, the
        calls and their results.
        """
        shown = render_signatures(self.policy.tools or self.tools, self.facts.profile)
        (system,) = prompts.render("led", tools=shown, form=_FORM)
        made = [message for result in self.facts.results for message in _render_result(result)]
        return (system, *self.conversation, Message("user", self.asked), *made)


def _render_result(result: ToolResult) -> tuple[Message, Message]:
    said = result.content
    if result.failure is not None:
        said = {"error": result.failure.message}
    call = ToolCall(result.id, result.tool, result.arguments)
    return (
        Message("assistant", "", (call,)),
        Message("tool", to_canonical_json(said), tool_call_id=result.id),
    )


def _render_question(
    context: StepContext, tools: Sequence[Tool], step: BindStep
) -> tuple[Message, ...]:
    points = "; ".join(step.open_points)
    if step.prompt == "again":
        return prompts.render("again", problem=points)
    values = {"query": context.query, "names": ", ".join(tool.name for tool in tools)}
    if points:
        return prompts.render("open", made="; ".join(step.tried) or "none", open=points, **values)
    return prompts.render("next", **values) if context.facts.results else ()


def _build_schema(tools: Sequence[Tool], most: int) -> JsonObject:
    """Wishes first: a small model that goes straight to the arguments stops after the first calls."""
    calls: list[Json] = [
        closed_object(name={"const": tool.name}, arguments=required_first(tool)) for tool in tools
    ]
    some: JsonObject = {"type": "array", "minItems": 1, "maxItems": most}
    chosen = closed_object(
        wishes={**some, "items": {"type": "string", "maxLength": _WISH}},
        calls={**some, "items": {"anyOf": calls}},
    )
    return {"anyOf": [chosen, closed_object(no_call={"type": "string", "maxLength": 120})]}


def _read_calls(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """The calls of a reply in the form that was asked for, or in any that is known; one that was cut
    off is left out.
    """
    try:
        found = parse_lenient(text)
    except JsonError:
        return parse_calls(text, tools).calls
    if not isinstance(found.value, dict) or not {"calls", "no_call"} & found.value.keys():
        return parse_calls(text, tools).calls
    entries = found.value.get("calls")
    entries = entries if isinstance(entries, list) else []
    return tuple(
        ToolCall("", entry["name"], entry.get("arguments") or {})
        for entry in (entries[:-1] if found.truncated else entries)
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    )
