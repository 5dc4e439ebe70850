"""The engine that leads a client's agent behind the proxy, over calls of our own.

Each round begins anew over the facts, as each request of a client does
(:mod:`callwright.agent.leading`): tools that need not wait are offered together, and the model
states its wishes before its calls. A round that makes no call ends the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby

from callwright.agent.leading.forms import CallForm, read_guided_calls, render_led
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.option_support import (
    LEAST_GAIN,
    NO_CONVERSATION,
    Option,
    ask_gain,
    find_options,
)
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.turn import take_round
from callwright.agent.step import StepContext, Steps, ask, step_id
from callwright.agent.strategies.strategy import Stepwise
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import (
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.prompts.one_letter import build_letter_question
from callwright.repair.considered_calls import parse_decided_calls


class Guided(Stepwise):
    """Offers the tools that need not wait, round by round, until a round makes no call or the run
    has had as many rounds as its limit of turns allows.
    """

    name = "guided"

    def steps(self, context: StepContext) -> Steps[None]:
        context.plan = Plan()
        if context.asks_for_nothing:
            return
        led = _open_turn(context)
        context.facts.led = led
        context.facts.judge_readily_made_calls()
        for _ in range(context.limits.turns):
            policy = led.policy = LeadPolicy(None, led.policy.chosen, led.policy.intended)
            if not (yield from take_round(policy, led)):
                break
        else:
            context.trace.add("note", text="the limit of turns is reached: no more is called")
        context.record_plan()


@dataclass(slots=True, kw_only=True)
class _OwnTurn(LedContext):
    """The context whose questions begin with the whole conversation, the calls and their results.
    ``policy`` chooses the tools that they tell of; ``run``: the context of the run, whose plan
    grows. ``shares``: how likely the model holds values without any conversation.
    """

    policy: LeadPolicy
    run: StepContext
    shares: dict[str, float] = field(default_factory=dict)

    def build_prefix(self) -> tuple[Message, ...]:
        told = render_led(self.policy.tools or self.tools, self.form, self.facts.profile)
        talk = self.facts.history or self.conversation
        return (told, *talk, Message("user", self.asked), *self._render_results())

    def group_calls(self, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, ...]]:
        """The calls with their places in the plan. What is read before a write is read before it,
        and what is read behind it is read behind it.
        """
        reads = {tool.name for tool in self.tools if tool.effects.read_only}
        groups = groupby(calls, lambda call: call.tool in reads)
        return [tuple(self._place(call) for call in group) for _, group in groups]

    def _place(self, call: ToolCall) -> ToolCall:
        slot = Slot(step_id(call, len(self.run.plan.slots) + 1), call.tool, frozenset())
        self.run.plan = self.run.plan.grown(slot)
        return replace(call, slot=slot.id)

    def read_calls(self, reply: Reply, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
        """The calls of a reply in the form that was asked for, or in any that is known."""
        if reply.tool_calls:
            return reply.tool_calls
        found = read_guided_calls(reply.text)
        calls = parse_decided_calls(reply.text, tools).calls if found is None else found
        if not calls:
            self.facts.take_reason(_read_reason(reply.text))
        return calls

    def leave_out_unlikely(self, calls: tuple[ToolCall, ...]) -> Steps[tuple[ToolCall, ...]]:
        """The calls without optional values of a list that no word states and that the conversation
        makes no likelier. A model that states no probabilities is not judged by.
        """
        kept = []
        for call in calls:
            kept.append((yield from self._leave_out(call)))
        return tuple(kept)

    def _leave_out(self, call: ToolCall) -> Steps[ToolCall]:
        tool = next((tool for tool in self.tools if tool.name == call.tool), None)
        given = call.arguments
        if tool is None or self.is_silent or not isinstance(given, dict):
            return call
        said = self.facts.sources
        unsaid = {k: v for k, v in given.items() if isinstance(v, bool) or not said.holds(v)}
        for option in find_options(unsaid, tool):
            gain = yield from self._ask_gain(option)
            if gain is None:
                self.is_silent = True
                break
            if gain >= LEAST_GAIN:
                self.facts.handling.implied.add((call.tool, option.key))
            else:
                text = f"left out: '{option.key}' of '{call.tool}', which nothing asks for"
                self.trace.add("note", text=text)
                given = {key: value for key, value in given.items() if key != option.key}
        return replace(call, arguments=given)

    def _ask_gain(self, option: Option) -> Steps[float | None]:
        def ask_letter(is_told: bool) -> Steps[Reply]:
            begun = self.build_prefix()
            alone = (begun[0], Message("user", NO_CONVERSATION))
            messages = (*(begun if is_told else alone), *option.render_question())
            return (yield from ask(build_letter_question(messages, "option"), None))

        key = f"{option.tool.name} {option.key} {option.value!r}"
        return (yield from ask_gain(option, ask_letter, self.shares, key))

    def _render_results(self) -> list[Message]:
        return [message for result in self.facts.results for message in _render_result(result)]


def _open_turn(context: StepContext) -> _OwnTurn:
    told = {one.name: getattr(context, one.name) for one in fields(StepContext)}
    form = CallForm(most=context.facts.profile.layer_calls)
    return _OwnTurn(**told, form=form, policy=LeadPolicy(), run=context)


def _read_reason(text: str) -> str:
    """Why a reply that makes no call makes none: what it says of it, or all that it says."""
    try:
        value = parse_lenient(text).value
    except JsonError:
        return text
    reason = value.get("no_call") if isinstance(value, dict) else text
    return reason if isinstance(reason, str) else ""


def _render_result(result: ToolResult) -> tuple[Message, Message]:
    said = result.content
    if result.failure is not None:
        said = {"error": result.failure.message}
    call = ToolCall(result.id, result.tool, result.arguments)
    return (
        Message("assistant", "", (call,)),
        Message("tool", to_canonical_json(said), tool_call_id=result.id),
    )
