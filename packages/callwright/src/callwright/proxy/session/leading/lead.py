"""A client's agent led by our own engine: the step function decides what the upstream is asked, and
the client carries the calls out.

A generator without I/O: it yields the body of a question to the upstream, is sent the reply, and
ends with calls for the client, or without any: then everything that can be called has had its turn,
and the answer is due. The facts are those that the request's messages tell; with the client's next
request it all begins again from there.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar

from callwright.agent.leading.forms import read_guided_calls
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy, Parts
from callwright.agent.leading.turn import carry_on, take_round, take_up
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.held_call import UNASKED_WRITE, HeldCall
from callwright.agent.safety.repeats import asks_for_nothing
from callwright.agent.step import (
    Action,
    Ask,
    Event,
    Execute,
    Replied,
    Returned,
    StepContext,
    Steps,
)
from callwright.models.chat import messages_out
from callwright.models.grammar import build_grammar
from callwright.nouns.plan import Plan
from callwright.nouns.trace import Trace
from callwright.nouns.types import Edit, JsonObject, Reply, Tool, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session import followup
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context, DecidedBefore
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Decision, Found, Question, serialize_call
from callwright.proxy.session.leading import guided
from callwright.proxy.session.leading.closing import Closing

C = TypeVar("C", bound=StepContext)
_REMEMBERED = 256  # requests for each list of tools


@dataclass(slots=True)
class Lead:
    """The engine's decision. ``decision``: calls for the client; None: the answer is due.
    ``problems``: why calls that the model made are not sent. ``reply``: the upstream's last, from
    which the calls were read, ``parsed`` they as it has them. ``notes``: what was done, for the
    record: tools chosen, the plan.
    """

    decision: Decision | None = None
    problems: list[str] = field(default_factory=list)
    reply: Reply = field(default_factory=lambda: Reply(""))
    parsed: tuple[ToolCall, ...] = ()
    is_readable: bool = True  # whether the upstream answers questions by schema
    notes: list[str] = field(default_factory=list)
    held: list[HeldCall] = field(default_factory=list)  # of decisions that left no call
    dropped: list[ToolCall] = field(default_factory=list)  # equal calls that are made once
    turn: tuple[LeadPolicy, LedContext] | None = None  # whose steps these were


@dataclass(slots=True)
class ClientContext(LedContext):
    """The context of a turn whose questions keep the client's own messages."""

    @property
    def is_held_to_schema(self) -> bool:
        return True  # whoever is led by schema is asked by it


class _Unplanned:
    """A planner for a policy that makes no plan."""

    name = "none"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:  # noqa: ARG002
        return Plan.from_layers([[tool.name for tool in tools]])


def lead(context: Context) -> Generator[Question, Reply, Lead]:
    """Take the engine's next step for this request of a client."""
    made = Lead()
    asked = context.state.asked
    context.leave_out = True  # a reply that is held to a schema of calls calls too readily
    if asks_for_nothing(asked.query, asked.conversation):
        made.notes.append("the message only greets or thanks")
        return made
    before = recall_decided(context)
    policy = LeadPolicy(read_parts(context), before.chosen, before.intended)
    led = build_context(context, ClientContext)
    led.form = guided.build_form(context, is_led=True)
    led.leaves_out_unasked = "unasked" not in context.settings.without and context.guard == "act"
    led.is_silent, led.letters = not context.may_ask_for_shares, context.letters
    led.wishes, led.left, led.stated = before.wishes, before.left, before.stated
    made.turn = policy, led
    yield from _carry_out_steps(take_round(policy, led), context, policy, led, made)
    decided = DecidedBefore(policy.chosen, policy.intended, led.wishes, led.list_left(), led.stated)
    remember_decided(context, decided)
    _forget_oldest(context.letters)
    made.dropped = led.dropped
    made.held += [one for one in led.held if one.rule == UNASKED_WRITE]
    told = [event.data["text"] for event in led.trace.events if event.kind == "note"]
    made.notes += [text for text in told if text.startswith("left out:")]
    if led.is_served:
        made.notes.append("a reply asked for what was done already")
    offered = [event.data["slots"] for event in led.trace.events if event.kind == "layer"]
    made.notes += [f"offered: {', '.join(names)}" for names in offered]
    if policy.chosen is not None:
        made.notes.append(f"chosen: {', '.join(policy.chosen) or 'no tool'}")
    if made.is_readable and made.decision is None:
        yield from _end_turn(context, led, policy, made)
    return made


def take_up_call(
    call: ToolCall, context: Context, made: Lead
) -> Generator[Question, Reply, Decision | None]:
    """The engine's decision where it had none and the upstream's words are a call of a tool that
    nobody offered (:func:`callwright.agent.leading.turn.take_up`): a call, or a question for what
    only the user can tell of it. None where neither comes of it.
    """
    if made.turn is None or context.state.results:
        return None
    policy, led = made.turn
    known, told = len(led.held), serialize_call(call)
    context.choice = "auto"
    steps = take_up(json_bytes(told).decode(), policy, led)
    yield from _carry_out_steps(steps, context, policy, led, made)
    context.choice = "none"
    if made.decision is None:
        yield from _end_turn(context, led, policy, made)
    if made.decision is None:
        return None
    sent = next((serialize_call(one.call) for one in made.decision.calls), None)
    made.decision.edits.append(Edit("/0", told, sent, EditRules.GUIDED_CALL))
    made.decision.held += [one for one in led.held[known:] if one not in made.decision.held]
    return made.decision


def _end_turn(
    context: Context, led: LedContext, policy: LeadPolicy, made: Lead
) -> Generator[Question, Reply, None]:
    """Decide on what is said where no call is left: the checked answer, and a question for what
    only the user can know. What the answer itself says is missing is fetched first.
    """
    closing = Closing(context, led, made.problems, policy.tools)
    ending = yield from closing.close(may_ask="question" not in context.settings.without)
    made.reply = closing.reply
    written = ending.written
    is_closed = bool(ending.unstated) or led.has_failed_write()
    is_lacking = written is not None and (written.answer.missing or led.came_to_nothing())
    if written is not None and is_lacking and not is_closed:
        points = [context.query] if led.came_to_nothing() else [*written.answer.missing]
        undone = () if written.missing else written.undone
        points = [context.query] if undone else points
        missing = carry_on(policy.fetch_missing(led, points, undone), policy, led)
        yield from _carry_out_steps(missing, context, policy, led, made)
        made.is_readable = True  # there is an answer, whatever came of that
        if made.decision is not None:
            return
    said = [text for text in (written.answer.text if written else "", ending.asked) if text]
    if written is not None:
        made.notes.append("answer: checked against the results")
    if ending.asked:
        made.notes.append("question: for what only the user can tell")
    if said:
        edits = [*written.answer.edits] if written is not None else []
        made.decision = Decision(text=["\n\n".join(said)], edits=edits)


def _carry_out_steps(
    steps: Steps[bool], context: Context, policy: LeadPolicy, led: LedContext, made: Lead
) -> Generator[Question, Reply, None]:
    """Carry out actions until there are calls for the client, or no more actions."""
    try:
        action = next(steps)
        while True:
            event = yield from _carry_out(action, context, policy, led, made)
            if not made.is_readable:
                return
            action = steps.send(event)
    except StopIteration:
        return
    finally:
        steps.close()


def build_context(context: Context, kind: type[C]) -> C:
    """The facts of a request as the policy decides from them."""
    state, gate = context.state, context.toolset.gate
    trace = Trace()
    return kind(
        query=state.asked.query,
        tools=context.toolset.tools,
        planner=_Unplanned(),
        facts=RunFacts(state, gate=gate, trace=trace, profile=context.settings.profile),
        mode="schema" if context.schema else "text",
        trace=trace,
        conversation=state.asked.conversation,
    )


def read_parts(context: Context) -> Parts:
    """The parts of the policy that are in force."""
    without = context.settings.without
    return Parts(
        select="select" not in without,
        layers="layers" not in without,
        prerequisites="prerequisites" not in without,
        wishes="wishes" not in without,
        polling="polling" not in without,
        several=context.parallel,
    )


def _carry_out(
    action: Action, context: Context, policy: LeadPolicy, led: LedContext, made: Lead
) -> Generator[Question, Reply, Event]:
    """The client's part of an action: questions go to the upstream, calls to the client."""
    match action:
        case Ask(request) if request.top_logprobs:
            made.reply = yield Question("option", followup.build_letter_body(request, context))
            context.note_shares(made.reply)
            return Replied(made.reply)
        case Ask():
            made.reply = yield Question("guided", build_body(action, context, policy.tools))
            names = {tool.name for tool in action.tools}
            if names and not led.is_asked_again and read_guided_calls(made.reply.text) is None:
                made.is_readable = False
            return Replied(made.reply)
        case Execute(calls):
            found = [Found(call, dialect="guided") for call in calls]
            decision = yield from decide_calls(found, "", "stop", context, is_leading=True)
            made.problems += decision.problems
            if decision.calls:
                made.decision, made.parsed = decision, calls
            else:
                made.held += decision.held
            return Returned([], decision.held, [sent.call for sent in decision.calls])
        case _:
            return Returned([])  # plans, streams, calls that wait: a client's request has none


def build_body(action: Ask, context: Context, shown: tuple[Tool, ...] = ()) -> JsonObject:
    """The request that puts a question of the policy to the upstream. One for calls stands behind
    the client's messages. ``shown``: the tools that its instructions tell of.
    """
    request = action.request
    if action.tools:
        body = followup.copy_settings(context)
        begun = guided.begin_messages(context, shown)
        body["messages"] = [*begun, *messages_out(request.messages)]
        return followup.hold_to_schema(body, request.schema, context, request.max_tokens)
    body = followup.build_question_body(request, context)
    body.setdefault("temperature", 0)
    if context.local and request.schema is not None:
        body.pop("response_format", None)
        body["grammar"] = build_grammar(request.schema)
    return body


def recall_decided(context: Context) -> DecidedBefore:
    """Return what was decided for this very request before: a memory that may be lost at any time,
    and then the questions are asked again. Two users may ask in the same words; calls that rest on
    the results of one are none of the other's.
    """
    found = context.toolset.decided.get(_make_key(context), DecidedBefore())
    if found.seen and _list_seen(context)[: len(found.seen)] != found.seen:
        return DecidedBefore(found.chosen)
    return found


def remember_decided(context: Context, decided: DecidedBefore) -> None:
    """Keep what was decided for this very request."""
    known = context.toolset.decided
    if decided == DecidedBefore():
        known.pop(_make_key(context), None)
        return
    known[_make_key(context)] = decided._replace(seen=_list_seen(context))
    _forget_oldest(known)


def _forget_oldest(known: dict[bytes, Any]) -> None:
    while len(known) > _REMEMBERED:
        known.pop(next(iter(known)))


def _list_seen(context: Context) -> tuple[bytes, ...]:
    """The digests of all results of the conversation, in order."""
    results = (*context.state.earlier, *context.state.results)
    return tuple(sha256(json_bytes([one.tool, one.content])).digest() for one in results)


def _make_key(context: Context) -> bytes:
    asked = context.state.asked
    said = [[message.role, message.content] for message in asked.conversation]
    told = json_bytes([context.body.get("model"), asked.query, said])
    return sha256(told).digest()
