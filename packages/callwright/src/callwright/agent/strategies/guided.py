"""The engine that leads a client's agent behind the proxy, over our own calls.

Each step begins anew over the facts, as each request of a client does
(:mod:`callwright.agent.for_client`): the tools of a round are offered together, and the model states
its wishes before its calls. Then the calls of that step are made. A step that makes no call ends the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from callwright import prompts
from callwright.agent.bind import Bound
from callwright.agent.for_client import ForClient
from callwright.agent.render import choose_listed_tools, render_signatures
from callwright.agent.step import BindStep, Execute, StepContext, Steps, ask, step_id
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
        if hasattr(context, "behind"):
            context.behind = lambda: begin_messages(context)
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
        policy = ForClient()
        for _ in range(context.limits.turns):
            policy = ForClient(chosen=policy.chosen, intended=policy.intended)
            action = yield from _find_calls(policy.steps(led))
            if action is None:
                break
            before = len(context.facts.all_results)
            yield self._grow(context, action)
            if len(context.facts.all_results) == before:
                break  # nothing was made: the next round would say the same
        context.record_plan()

    def _grow(self, context: StepContext, action: Execute) -> Execute:
        """The calls with a slot of the plan each."""
        calls = []
        for call in action.calls:
            number = len(context.plan.slots) + 1
            slot = Slot(step_id(call, number), call.tool, frozenset())
            context.plan = context.plan.grown(slot)
            calls.append(replace(call, slot=slot.id))
        return action._replace(calls=tuple(calls))


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


@dataclass(slots=True)
class _LedContext(StepContext):
    """The context whose questions stand behind the conversation, its calls and their results."""

    def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,
        results: Sequence[ToolResult] | None = None,  # noqa: ARG002
        actor: str = "",
    ) -> Steps[Bound]:
        messages = (*begin_messages(self), *_render_question(self, tools, step))
        most = self.facts.profile.layer_calls
        request = ChatRequest(messages, purpose="bind", max_tokens=self.facts.profile.output_tokens)
        if self.mode == "schema":
            request = replace(request, schema=_build_schema(tools, most))
        elif self.mode == "native":
            request = replace(request, tools=tools)
        reply = yield from ask(request, None, actor)
        calls = reply.tool_calls or _read_calls(reply.text, tools, self.mode == "schema")
        called = {call.tool for call in calls}
        return Bound(calls, tuple(Skip(t.name, _NO_USE) for t in tools if t.name not in called))


def begin_messages(context: StepContext) -> tuple[Message, ...]:
    """What all questions of such a run begin with: the tools, the conversation, the request, the calls
    and their results.
    """
    profile = context.facts.profile
    if context.facts.listed is None:
        context.facts.listed = choose_listed_tools(context.tools, profile) or context.tools
    shown = render_signatures(context.facts.listed, profile)
    (system,) = prompts.render("led", tools=shown, form=_FORM)
    made = _render_results(context.facts.results)
    return (system, *context.conversation, Message("user", context.asked), *made)


def _render_results(results: Iterable[ToolResult]) -> list[Message]:
    made: list[Message] = []
    for result in results:
        said: Json = result.content if result.ok else {"error": str(result.failure and result.failure.message)}
        call = ToolCall(result.id, result.tool, result.arguments)
        made += [
            Message("assistant", "", (call,)),
            Message("tool", to_canonical_json(said), tool_call_id=result.id),
        ]
    return made


def _render_question(
    context: StepContext, tools: Sequence[Tool], step: BindStep
) -> tuple[Message, ...]:
    names = ", ".join(tool.name for tool in tools)
    values = {"query": context.query, "names": names}
    if step.open_points:
        made, points = "; ".join(step.tried) or "nothing", "; ".join(step.open_points)
        return prompts.render("open", made=made, open=points, **values)
    return prompts.render("next", **values) if context.facts.results else ()


def _build_schema(tools: Sequence[Tool], most: int) -> JsonObject:
    one: Json = {
        "anyOf": [
            closed_object(name={"const": t.name}, arguments=required_first(t)) for t in tools
        ]
    }
    some: JsonObject = {"type": "array", "minItems": 1, "maxItems": most}
    wishes: JsonObject = {**some, "items": {"type": "string", "maxLength": _WISH}}
    calls: JsonObject = {**some, "items": one}
    none = closed_object(no_call={"type": "string", "maxLength": 120})
    return {"anyOf": [closed_object(wishes=wishes, calls=calls), none]}


def _read_calls(text: str, tools: Sequence[Tool], is_form: bool) -> tuple[ToolCall, ...]:
    if not is_form:
        return parse_calls(text, tools).calls
    try:
        found = parse_lenient(text)
    except JsonError:
        return ()
    entries = found.value.get("calls") if isinstance(found.value, dict) else None
    entries = entries if isinstance(entries, list) else []
    return tuple(
        ToolCall("", entry["name"], entry.get("arguments") or {})
        for entry in (entries[:-1] if found.truncated else entries)
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    )
