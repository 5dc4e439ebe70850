"""The step function's context of a turn that is led: its questions stand behind a conversation that
shows the calls and their results, so that a small model reads them as it was trained to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from callwright import prompts
from callwright.agent.bind import Bound
from callwright.agent.call_key import CallKey, make_call_key
from callwright.agent.leading import served
from callwright.agent.leading.forms import CallForm, read_guided_calls
from callwright.agent.leading.meant_calls import list_meant_calls
from callwright.agent.safety.held_call import UNASKED_WRITE, USERS_TO_TELL, HeldCall
from callwright.agent.step import BindStep, NamedWish, StepContext, Steps, ask
from callwright.dataflow.prerequisites import list_reads
from callwright.grounding.answer.deeds import Deeds
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    Json,
    Message,
    Reply,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
)
from callwright.repair.empty_result import is_empty_result
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.sources import ProvenanceIndex

_NO_USE = "the model saw no use for it here"


@dataclass(slots=True)
class LedContext(StepContext):
    """The context of one turn. ``form``: how calls are asked for.

    ``wishes``: those of the turn's first reply, once each of them had its call; ``stated``: those
    of the first reply of all. ``is_served``: a later reply asks for nothing new, and no more is
    asked. ``is_asked_again``: a further question of
    this round was asked about a call. ``leaves_out_unasked``: a write behind other calls is made
    only where the request asks for it. ``is_silent``: the model states no probabilities.

    ``offered``: the tools that were chosen for the request. ``letters``: the replies to questions
    that stand alone, by their digests.

    ``held``: the calls of this round that were not made, and why; ``left``: those of earlier
    rounds, for want of a value; ``dropped``: equal calls, which are made once.
    """

    form: CallForm = field(default_factory=CallForm)
    wishes: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    is_served: bool = False
    is_asked_again: bool = False
    leaves_out_unasked: bool = True
    is_silent: bool = False
    held: list[HeldCall] = field(default_factory=list)
    left: tuple[HeldCall, ...] = ()
    offered: tuple[Tool, ...] = ()
    dropped: list[ToolCall] = field(default_factory=list)
    letters: dict[bytes, Reply] = field(default_factory=dict)

    @property
    def is_held_to_schema(self) -> bool:
        """Return True if a reply with calls is held to a schema."""
        return self.mode == "schema"

    def build_prefix(self) -> tuple[Message, ...]:
        """The messages with which every question begins; none where the driver puts them there."""
        return ()

    def group_calls(self, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, ...]]:
        """The calls as they are made, those of one group at the same time; all at once where
        somebody else makes them.
        """
        return [tuple(calls)]

    def pick_meant(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Those of a reply's calls that are made at once; equal ones that are not are kept
        apart.
        """
        meant = list_meant_calls(calls, self.query, self.tools)
        self.dropped += meant.dropped
        return meant.calls

    def leave_out_unlikely(self, calls: tuple[ToolCall, ...]) -> Steps[tuple[ToolCall, ...]]:
        """The calls without optional values that the conversation makes no likelier; as they are
        where whoever makes them judges that.
        """
        return calls
        yield

    def begin_round(self) -> None:
        """Forget what was asked in the round before."""
        self.is_served = self.is_asked_again = False
        self.left, self.held = self.list_left(), []

    def list_left(self) -> tuple[HeldCall, ...]:
        """The calls without a value that nothing states, of all rounds so far, that hold another
        one which the user said and no call of this turn was made with: that wish is still open. So
        is one on another record than the named one, until its tool is called.
        """
        said = ProvenanceIndex(self.query)
        called = {result.tool for result in self.facts.results if result.ok}
        kept: dict[CallKey, HeldCall] = {}
        for one in (*self.left, *self.held):
            if one.is_unstated and not one.is_sent:
                is_open = any(self._is_unused(value) for value in _list_said(one, said))
            else:
                is_open = one.rule in USERS_TO_TELL and one.call.tool not in called
            if is_open:
                kept.setdefault(make_call_key(one.call), one)
        return tuple(kept.values())

    @property
    def last_words(self) -> str:
        """The assistant's last words; "" where it said nothing."""
        said = [m.content for m in self.conversation if m.role == "assistant" and m.content]
        return said[-1] if said else ""

    def is_said(self, text: str) -> bool:
        """Return True if a text stands in the conversation as it is."""
        return ProvenanceIndex(self.query, self.conversation).holds_whole(text)

    def _is_unused(self, value: Json) -> bool:
        return not any(has_argument(one.arguments, value) for one in self.facts.results if one.ok)

    def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,  # the conversation says how far it has come
        results: Sequence[ToolResult] | None = None,  # noqa: ARG002 - all stand in it
        actor: str = "",
    ) -> Steps[Bound]:
        if self.is_served and not step.open_points:
            return _build_bound((), tools)
        question = self._render_question(tools, step)
        reply = yield from self.ask_for_calls(tools, question, actor=actor)
        if question and not step.open_points and served.reads_out_names(reply.text, tools):
            question = self._render_plain_question(step)
            reply = yield from self.ask_for_calls(tools, question, actor=actor)
        calls = self.read_calls(reply, tools)
        if not step.open_points and self._repeats_wishes(reply.text, calls):
            calls = ()
        return _build_bound(calls, tools)

    def ask_for_calls(
        self,
        tools: tuple[Tool, ...],
        question: Iterable[Message],
        *,
        may_decline: bool = True,
        most: int = 0,
        actor: str = "",
    ) -> Steps[Reply]:
        """One question for calls of these tools, and its reply. ``most``: so many calls, by default
        as many as the form allows.
        """
        messages = (*self.build_prefix(), *question)
        room = self.facts.profile.output_tokens
        request = ChatRequest(messages, purpose="bind", max_tokens=room)
        if self.is_held_to_schema:
            may_decline = may_decline and self.form.may_decline
            form = replace(self.form, may_decline=may_decline, most=most or self.form.most)
            request = replace(request, schema=form.build_schema(tools))
        elif self.mode == "native":
            request = replace(request, tools=tools)
        return (yield from ask(request, None, actor, tools))

    def ask_again(
        self, problem: str, tools: tuple[Tool, ...], *, may_decline: bool = True, most: int = 1
    ) -> Steps[tuple[ToolCall, ...]]:
        """The calls of the one question of a round that follows on calls, ``most`` at most."""
        self.is_asked_again = True
        question = prompts.render("again", problem=problem)
        reply = yield from self.ask_for_calls(tools, question, may_decline=may_decline, most=most)
        return self.read_calls(reply, tools)[:most]

    def read_calls(self, reply: Reply, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
        """The calls that a reply decided on."""
        return read_guided_calls(reply.text, {tool.name for tool in tools}) or ()

    def list_unstated(self) -> list[HeldCall]:
        """The calls that were held until the user says what is meant. The user is not asked for the
        value of a lookup where others have answered.
        """
        reads = list_reads(self.tools) if self.facts.results else set[str]()
        held = [one for one in self.held if one.is_for_user]
        left = [one for one in self.list_left() if one not in held]
        return [one for one in (*left, *held) if one.call.tool not in reads]

    def list_open_wishes(self, serving: Sequence[ToolResult]) -> tuple[str, ...]:
        """The wishes of the first reply, where these are more than its calls and than ``serving``,
        in which no value of these calls stands.
        """
        if self.wishes:
            return ()
        names = {tool.name for tool in self.tools}
        return served.list_open(self.stated, serving, names)

    def list_unserved(self, tools: Sequence[Tool]) -> tuple[NamedWish, ...]:
        """The wishes of the first reply that name one of these tools and had no call of it."""
        called = [result.tool for result in self.facts.state.results]
        names = {tool.name for tool in tools}
        return served.list_unserved(self.stated, called, names, list_reads(tools))

    def ask_letter(self, request: ChatRequest) -> Steps[Reply]:
        if self.is_silent:
            return Reply("")
        text = "\n".join(message.content for message in request.messages)
        key = sha256(text.encode()).digest()
        if key in self.letters:
            return self.letters[key]
        reply = yield from ask(request, None)
        self.is_silent = bool(reply.text) and not reply.first_token
        if reply.first_token:
            self.letters[key] = reply
        return reply

    def build_deeds(self) -> Deeds | None:
        """Return what an answer's sentences on deeds are judged by. One call that did what it was
        asked for leaves nothing to be claimed.
        """
        results = self.facts.results
        is_one_deed = len(results) == 1 and self.has_written() and not (self.held or self.left)
        if self.is_silent or (is_one_deed and len(self.stated) <= 1):
            return None
        reads = list_reads(self.tools)
        done = reads | {one.tool for one in (*self.facts.state.earlier, *results) if one.ok}
        written = (one.id for one in results if one.ok and one.tool not in reads)
        return Deeds.build(self.offered or self.tools, done, written)

    def has_news(self) -> bool:
        """Return True if something of this turn is to be told before the user is asked for a value:
        a write that was done, or one that failed; or lookups that may be all that was asked for.
        """
        is_doubted = any(one.rule == UNASKED_WRITE for one in (*self.left, *self.held))
        return self.has_written() or self.has_failed_write() or is_doubted

    def has_written(self) -> bool:
        """Return True if a write of this turn succeeded."""
        reads = list_reads(self.tools)
        return any(result.ok and result.tool not in reads for result in self.facts.results)

    def has_failed_write(self) -> bool:
        """Return True if a write of this turn failed and no later one did what the user said of it:
        a small model tells of it as if it were done.
        """
        reads, said = list_reads(self.tools), ProvenanceIndex(self.query)
        results = [result for result in self.facts.results if result.tool not in reads]
        return any(
            not one.ok and not any(_makes_good(other, one, said) for other in results[n + 1 :])
            for n, one in enumerate(results)
        )

    def came_to_nothing(self) -> bool:
        """Return True if all calls of this turn were answered, and with nothing: what is missing
        then is what the request asks for, not what these calls would have found.
        """
        results = self.facts.results
        return all(r.ok and is_empty_result(r.content, r.arguments) for r in results)

    def _render_question(self, tools: Sequence[Tool], step: BindStep) -> tuple[Message, ...]:
        values = {"query": self.query, "names": ", ".join(tool.name for tool in tools)}
        if step.open_points:
            made, points = "; ".join(step.tried) or "nothing", "; ".join(step.open_points)
            return prompts.render("open", made=made, open=points, **values)
        return prompts.render("next", **values) if self.facts.results else ()

    def _render_plain_question(self, step: BindStep) -> tuple[Message, ...]:
        """The question for what is left, with no tools named but those that waited for a result."""
        if step.enabled:
            return prompts.render("next", query=self.query, names=", ".join(step.enabled))
        return prompts.render("left", query=self.query)

    def _repeats_wishes(self, text: str, calls: Sequence[ToolCall]) -> bool:
        """Return True if a reply lists what was done in the place of what is left to do."""
        results, wishes = self.facts.results, served.read_wishes(text)
        if not results:
            self.stated = self.stated or wishes
            return False
        said = ProvenanceIndex(self.query, self.conversation)
        if served.asks_for_nothing_new(wishes, calls, self.wishes, results, said):
            self.is_served = True
        done = {result.tool for result in results}
        return self.is_served or (bool(wishes) and done.issuperset(wishes))


def _list_said(held: HeldCall, said: ProvenanceIndex) -> list[Json]:
    """The values of a call that the user said."""
    given = held.call.arguments if isinstance(held.call.arguments, dict) else {}
    stated = {key: value for key, value in given.items() if key not in held.missing}
    return [value for value in iter_scalars(stated) if served.is_said(value, said)]


def _makes_good(later: ToolResult, failed: ToolResult, said: ProvenanceIndex) -> bool:
    """Return True if a later call of the same tool succeeded with all that the user said of one."""
    values = (value for value in iter_scalars(failed.arguments) if served.is_said(value, said))
    is_same = later.ok and later.tool == failed.tool
    return is_same and all(has_argument(later.arguments, value) for value in values)


def _build_bound(calls: tuple[ToolCall, ...], tools: Sequence[Tool]) -> Bound:
    called = {call.tool for call in calls}
    return Bound(calls, tuple(Skip(t.name, _NO_USE) for t in tools if t.name not in called))
