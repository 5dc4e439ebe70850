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
from typing import TypeVar

from callwright.agent.bind import Bound
from callwright.agent.for_client import ForClient, Parts, make_call_key
from callwright.agent.run_facts import RunFacts
from callwright.agent.step import (
    Action,
    Ask,
    BindStep,
    Event,
    Execute,
    Replied,
    Returned,
    StepContext,
    Steps,
    ask,
)
from callwright.language.again import asks_again
from callwright.language.thanks import is_only_greeting, is_only_thanks
from callwright.language.tokens import has_question_mark
from callwright.models.chat import messages_out
from callwright.models.grammar import build_grammar
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Answer,
    JsonObject,
    Message,
    Reply,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.proxy.session import followup, words
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context, DecidedBefore
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Decision, Found, Question
from callwright.proxy.session.guarding import HeldCall
from callwright.proxy.session.leading import guided, served, user_question
from callwright.repair.empty_result import is_empty_result
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.readable import can_read_numbers
from callwright.repair.provenance.sources import ProvenanceIndex

C = TypeVar("C", bound=StepContext)
_REMEMBERED = 256  # requests for each list of tools
_MOST_AGAIN = 20  # times that somebody asks for the same


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
    is_asked_again: bool = False  # for calls with the values that the user means
    is_readable: bool = True  # whether the upstream answers questions by schema
    notes: list[str] = field(default_factory=list)
    held: list[HeldCall] = field(default_factory=list)  # of decisions that left no call


@dataclass(slots=True)
class _ClientContext(StepContext):
    """The step function's context whose questions keep the client's own messages. ``wishes``: those
    of the turn's first reply, once each of them had its call; ``stated``: those of this request's
    first reply. ``is_served``: a later reply asks for nothing new, and no more is asked.
    """

    wishes: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    is_served: bool = False

    def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,  # the client's messages say how far it has come
        results: Sequence[ToolResult] | None = None,  # noqa: ARG002
        actor: str = "",
    ) -> Steps[Bound]:
        if self.is_served and not step.open_points:
            return self._bound((), tools)
        tried = tuple(Message("assistant", call) for call in step.tried)
        said = (*tried, *(Message("user", point) for point in step.open_points))
        reply = yield from ask(ChatRequest(said, purpose="bind"), None, actor, tools)
        calls = guided.read_guided_calls(reply.text, {tool.name for tool in tools})
        if not step.open_points and self._repeats_wishes(reply.text, calls or ()):
            calls = ()
        return self._bound(calls or (), tools)

    def _bound(self, calls: tuple[ToolCall, ...], tools: Sequence[Tool]) -> Bound:
        called = {call.tool for call in calls}
        why = "the model saw no use for it here"
        return Bound(calls, tuple(Skip(t.name, why) for t in tools if t.name not in called))

    def _repeats_wishes(self, text: str, calls: Sequence[ToolCall]) -> bool:
        """Return True if a reply lists what was done in the place of what is left to do."""
        results, wishes = self.facts.state.results, served.read_wishes(text)
        if not results:
            self.stated = self.stated or wishes
            return False
        said = ProvenanceIndex(self.query, self.conversation)
        if served.asks_for_nothing_new(wishes, calls, self.wishes, results, said):
            self.is_served = True
        done = {result.tool for result in results}
        return self.is_served or (bool(wishes) and done.issuperset(wishes))


class _Unplanned:
    """A planner for a policy that makes no plan."""

    name = "none"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:  # noqa: ARG002
        return Plan.from_layers([[tool.name for tool in tools]])


def lead(context: Context) -> Generator[Question, Reply, Lead]:
    """Take the engine's next step for this request of a client."""
    made = Lead()
    if _asks_for_nothing(context):
        made.notes.append("the message only greets or thanks")
        return made
    context.leave_out = True  # a reply that is held to a schema of calls calls too readily
    before = recall_decided(context)
    policy = ForClient(read_parts(context), before.chosen, before.intended)
    step_context = build_context(context, _ClientContext)
    step_context.wishes = before.wishes
    yield from _drive(policy.steps(step_context), context, policy, made)
    wishes = before.wishes or _list_served(step_context.stated, made)
    remember_decided(context, DecidedBefore(policy.chosen, policy.intended, wishes))
    if step_context.is_served:
        made.notes.append("a reply asked for what was done already")
    offered = [event.data["slots"] for event in step_context.trace.events if event.kind == "layer"]
    made.notes += [f"offered: {', '.join(names)}" for names in offered]
    if policy.chosen is not None:
        made.notes.append(f"chosen: {', '.join(policy.chosen) or 'no tool'}")
    if made.is_readable and made.decision is None:
        yield from _speak(context, step_context, policy, made)
    return made


def _list_served(stated: tuple[str, ...], made: Lead) -> tuple[str, ...]:
    """The wishes of a reply if each of them has its call; () where it has fewer calls."""
    calls = made.decision.calls if made.decision is not None else []
    return stated if len(calls) >= len(stated) else ()


def _asks_for_nothing(context: Context) -> bool:
    """Return True if the user only greets, or only thanks, and not for the offer in a question."""
    asked = context.state.asked
    if is_only_greeting(asked.query):
        return True
    said = [message.content for message in asked.conversation if message.role == "assistant"]
    return is_only_thanks(asked.query) and not (said and has_question_mark(said[-1]))


def _ask_for_meant(
    held: Sequence[HeldCall], context: Context, policy: ForClient, made: Lead
) -> Generator[Question, Reply, None]:
    """Ask once more for calls with another day or number than the user's words lead to, before other
    tools have their turn: a small model takes one of those in the place of the right one.
    """
    tools = guided.hold_to_meant(policy.tools, held)
    if not tools or made.is_asked_again:
        return
    problem = " ".join(dict.fromkeys(one.reason for one in held if one.meant))
    body = guided.build_body(
        context, tools=tools, shown=policy.tools, problem=problem, may_decline=False
    )
    yield from _decide_again(body, tools, context, made)


def _decide_again(
    body: JsonObject, tools: Sequence[Tool], context: Context, made: Lead
) -> Generator[Question, Reply, None]:
    """Put the one question that follows on calls; the calls of its reply, if any, are decided on."""
    made.is_asked_again = True
    made.reply = yield Question("guided", body)
    calls = guided.read_guided_calls(made.reply.text, {tool.name for tool in tools}) or ()
    found = [Found(call, dialect="guided") for call in calls]
    decision = yield from decide_calls(found, "", "stop", context, is_leading=True)
    if decision.calls:
        made.decision, made.parsed = decision, calls


def _ask_for_named(
    decided: Decision, context: Context, policy: ForClient, made: Lead
) -> Generator[Question, Reply, None]:
    """Ask once more for a write to a record that the request does not name, beside one that it
    names. What the model says then stands.
    """
    from callwright.repair.provenance.records import find_other_record, shorten_record

    results, reads = (*context.state.earlier, *context.state.results), _list_reads(context)
    writes = {tool.name: tool for tool in context.toolset.tools if tool.name not in reads}
    given = [sent.call for sent in decided.calls if sent.call.tool in writes]
    if len(given) != 1 or made.is_asked_again or not isinstance(given[0].arguments, dict):
        return
    name, other = given[0].tool, find_other_record(given[0].arguments, results, context.query)
    if other is None:
        return
    problem = (
        f"{name} was called with {other.key} {other.value}, which is"
        f" {shorten_record(other.record)}. The request names {shorten_record(other.meant)}."
        " Call it for the record that the request is about."
    )
    tools = (writes[name],)
    body = guided.build_body(context, tools=tools, shown=policy.tools, problem=problem)
    yield from _decide_again(body, tools, context, made)


def _speak(
    context: Context, step_context: StepContext, policy: ForClient, made: Lead
) -> Generator[Question, Reply, None]:
    """Decide on what is said where no call is left: the checked answer, and a question for what
    only the user can know.
    """
    without = context.settings.without
    unstated = _list_unstated(context, made)
    said: list[str] = []
    if is_answered_by_engine(context) and not (unstated and not _has_written(context)):
        answer = yield from write_answer(context, made, policy.tools)
        is_open = answer is not None and answer.missing and not _has_failed_write(context)
        if answer is not None and is_open and not unstated:
            points = [context.query] if _came_to_nothing(context) else answer.missing
            missing = policy.fetch_missing(step_context, points)
            yield from _drive(missing, context, policy, made)
            made.is_readable = True  # there is an answer, whatever came of that
        if made.decision is not None:
            return
        if answer is not None:
            made.notes.append("answer: checked against the results")
            said, edits = [answer.text], [*answer.edits]
            made.decision = Decision(text=[answer.text], edits=edits)
    if unstated and "question" not in without:
        asked = yield from _ask_user(context, unstated, made)
        if asked:
            made.notes.append("question: for a value that nothing states")
            made.decision = made.decision or Decision()
            made.decision.text = ["\n\n".join([*said, asked])]


def _list_unstated(context: Context, made: Lead) -> list[HeldCall]:
    """The calls that were held for a value that nothing states. The user is not asked for the value
    of a lookup where others have answered.
    """
    held = [one for one in made.held if one.rule == "unstated_value"]
    reads = _list_reads(context) if context.state.results else set[str]()
    return [one for one in held if one.call.tool not in reads]


def _has_written(context: Context) -> bool:
    """Return True if something of this turn is to be told before the user is asked: more was done
    than looked up.
    """
    reads = _list_reads(context)
    return any(result.ok and result.tool not in reads for result in context.state.results)


def _came_to_nothing(context: Context) -> bool:
    """Return True if all calls of this turn were answered, and with nothing: what is missing then is
    what the request asks for, not what these calls would have found.
    """
    results = context.state.results
    return all(r.ok and is_empty_result(r.content, r.arguments) for r in results)


def _ask_user(
    context: Context, held: Sequence[HeldCall], made: Lead
) -> Generator[Question, Reply, str]:
    """A question to the user for the values that nothing states; "" where the upstream has none."""
    made.reply = yield Question("words", user_question.build_question(context, held))
    return user_question.read_question(made.reply.text, context, held)


def _drive(
    steps: Steps[None], context: Context, policy: ForClient, made: Lead
) -> Generator[Question, Reply, None]:
    """Carry out the policy's actions until there are calls for the client, or no more actions."""
    try:
        action = next(steps)
        while True:
            event = yield from _carry_out(action, context, policy, made)
            if made.decision is not None or not made.is_readable:
                return
            action = steps.send(event)
    except StopIteration:
        return
    finally:
        steps.close()


def is_answered_by_engine(context: Context) -> bool:
    """Return True if the answer from results is written by the engine: not where the client asks
    for JSON of its own form, or where an image may say more than the results.
    """
    wants_json = words.wants_json(context.body.get("response_format"))
    is_left = "answer" in context.settings.without or context.holds_media
    return not is_left and not wants_json


def write_answer(
    context: Context, made: Lead, shown: Sequence[Tool] = ()
) -> Generator[Question, Reply, Answer | None]:
    """The answer from the results of this turn, in the user's language, every statement of it
    checked; None where there is no result to answer from, and the model speaks for itself. A small
    model tells of a write that failed as if it were done, so that is told without it. ``shown``: the
    tools of which the questions for calls tell.
    """
    state = context.state
    if not any(result.ok for result in state.results):
        return None
    from callwright.grounding import LiveAnswer, Words, report_outcome
    from callwright.grounding import write_answer as write_from_results

    query, results = state.asked.query, state.results
    if _has_failed_write(context):
        return report_outcome(results, query)
    skips = [Skip("", problem, refused=True) for problem in dict.fromkeys(made.problems)]
    live = LiveAnswer(query, results, skips)
    mode: ReplyMode = "schema" if context.schema else "text"
    words_in = Words(context.spoken, _has_written(context))
    dialogue = write_from_results(
        query, results, skips, mode=mode, facts=live.facts, words=words_in
    )
    try:
        request = next(dialogue)
        while True:
            body = _build_body_behind(request, context, shown)
            read = live.read if request.purpose == "answer" else None
            made.reply = yield Question("words", body, read)
            is_form = request.schema is None or made.reply.text.lstrip().startswith("{")
            if request.purpose == "answer" and not is_form:
                return None  # it does not follow the schema: its own words are as good
            request = dialogue.send(made.reply)
    except StopIteration as done:
        answer: Answer = done.value.answer
    finally:
        dialogue.close()
    return answer if answer.text.strip() else None


def _list_reads(context: Context) -> set[str]:
    """The tools that only look something up, as far as that is known."""
    from callwright.dataflow.prerequisites import list_reads

    return list_reads(context.toolset.tools)


def _has_failed_write(context: Context) -> bool:
    """Return True if a write of this turn failed and none of the same tool succeeded after it."""
    reads = _list_reads(context)
    last = {result.tool: result.ok for result in context.state.results}
    return any(not ok for tool, ok in last.items() if tool not in reads)


def _build_body_behind(request: ChatRequest, context: Context, shown: Sequence[Tool]) -> JsonObject:
    """A question of our own behind the client's conversation, which begins as those for calls do."""
    body = followup.copy_settings(context)
    begun = guided.begin_messages(context, shown) if shown else context.body["messages"]
    body["messages"] = [*begun, *messages_out(request.messages)]
    if request.schema is not None:
        return followup.hold_to_schema(body, request.schema, context, request.max_tokens)
    return followup.limit_reply(body, request.max_tokens)


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
        wishes="wishes" not in without and context.parallel,
        polling="polling" not in without,
    )


def _carry_out(
    action: Action, context: Context, policy: ForClient, made: Lead
) -> Generator[Question, Reply, Event]:
    """The client's part of an action: questions go to the upstream, calls to the client."""
    match action:
        case Ask():
            made.reply = yield Question("guided", build_body(action, context, policy.tools))
            names = {tool.name for tool in action.tools}
            if names and guided.read_guided_calls(made.reply.text, names) is None:
                made.is_readable = False
            return Replied(made.reply)
        case Execute(calls):
            calls = _hold_incomplete(_drop_equal_calls(calls, context), context)
            found = [Found(call, dialect="guided") for call in calls]
            decision = yield from decide_calls(found, "", "stop", context, is_leading=True)
            if decision.calls:
                made.decision, made.parsed = decision, calls
                yield from _ask_for_named(decision, context, policy, made)
                _keep_held(policy, [*made.held, *decision.held], made.decision)
            else:
                made.held += decision.held
                yield from _ask_for_meant(decision.held, context, policy, made)
            made.problems += decision.problems
            return Returned([])
        case _:
            return Returned([])  # plans, streams, calls that wait: a client's request has none


def _keep_held(policy: ForClient, held: Sequence[HeldCall], decision: Decision) -> None:
    """Have the policy go on with calls that were held for want of a value, once it may be known."""
    lacking = [one for one in held if one.rule == "unstated_value" and not one.meant]
    leaving = [sent.call for sent in decision.calls]
    policy.intend([(one.call, one.missing) for one in lacking], leaving)


def _drop_equal_calls(calls: Sequence[ToolCall], context: Context) -> list[ToolCall]:
    """The calls without those that stand there already: reads, and writes that are surely not meant
    twice.
    """
    reads = {tool.name for tool in context.toolset.tools if tool.effects.read_only}
    kept: dict[str, ToolCall] = {}
    wrote = 0
    for place, call in enumerate(calls):
        is_read = call.tool in reads
        wrote += not is_read
        # a read behind a write may say something else
        key = f"{wrote if is_read else 'write'} {make_call_key(call)}"
        if key in kept and not is_read and _may_be_meant_again(call, context):
            key = str(place)
        kept.setdefault(key, call)
    return [*kept.values()]


def _may_be_meant_again(call: ToolCall, context: Context) -> bool:
    """Return True unless the request surely asks for a call once: it can be read, does not speak of
    doing it again, and names no number that the call does not hold.
    """
    query = context.state.asked.query
    given = call.arguments if isinstance(call.arguments, dict) else {}
    if asks_again(query) is not False or not can_read_numbers([query]):
        return True
    numbers = ProvenanceIndex(query).numbers_apart
    return any(
        1 < number <= _MOST_AGAIN and not has_argument(given, int(number))
        for number in numbers
        if number == int(number)
    )


def _hold_incomplete(calls: Sequence[ToolCall], context: Context) -> tuple[ToolCall, ...]:
    """The calls without writes that lack an identifier which a lookup beside them gives: they have
    their turn when it is known.
    """
    tools = {tool.name: tool for tool in context.toolset.tools}
    reads = [tools[c.tool] for c in calls if c.tool in tools and tools[c.tool].effects.read_only]
    if not reads:
        return tuple(calls)
    return tuple(
        call
        for call in calls
        if call.tool not in tools
        or tools[call.tool].effects.read_only
        or not _lacks_identifier(call, tools[call.tool], reads)
    )


def _lacks_identifier(call: ToolCall, tool: Tool, reads: Sequence[Tool]) -> bool:
    from callwright.dataflow.flow import find_links
    from callwright.dataflow.prerequisites import LEAST, is_looked_up

    given = call.arguments if isinstance(call.arguments, dict) else {}
    return any(
        link.input.path[0] not in given and is_looked_up(link.input)
        for read in reads
        for link in find_links(read, tool, LEAST)
    )


def build_body(action: Ask, context: Context, shown: tuple[Tool, ...] = ()) -> JsonObject:
    """The request that puts a question of the policy to the upstream."""
    if action.tools:
        said = action.request.messages
        points = "; ".join(message.content for message in said if message.role == "user")
        tried = "; ".join(message.content for message in said if message.role == "assistant")
        open_ = guided.OpenPart(tried or "nothing", points) if points else None
        return guided.build_body(context, tools=action.tools, shown=shown, open_=open_)
    body = followup.build_question_body(action.request, context)
    body.setdefault("temperature", 0)
    if context.local and action.request.schema is not None:
        body.pop("response_format", None)
        body["grammar"] = build_grammar(action.request.schema)
    return body


def recall_decided(context: Context) -> DecidedBefore:
    """Return what was decided for this very request before: a memory that may be lost at any time, and
    then the questions are asked again. Two users may ask in the same words; calls that rest on the
    results of one are none of the other's.
    """
    found = context.toolset.decided.get(_key(context), DecidedBefore())
    if found.intended and _list_seen(context)[: len(found.seen)] != found.seen:
        return found._replace(intended=())
    return found


def remember_decided(context: Context, decided: DecidedBefore) -> None:
    """Keep what was decided for this very request."""
    known = context.toolset.decided
    if decided == DecidedBefore():
        known.pop(_key(context), None)
        return
    known[_key(context)] = decided._replace(seen=_list_seen(context))
    while len(known) > _REMEMBERED:
        known.pop(next(iter(known)))


def _list_seen(context: Context) -> tuple[bytes, ...]:
    """The digests of all results of the conversation, in order."""
    results = (*context.state.earlier, *context.state.results)
    return tuple(sha256(json_bytes([one.tool, one.content])).digest() for one in results)


def _key(context: Context) -> bytes:
    asked = context.state.asked
    said = [[message.role, message.content] for message in asked.conversation]
    told = json_bytes([context.body.get("model"), asked.query, said])
    return sha256(told).digest()
