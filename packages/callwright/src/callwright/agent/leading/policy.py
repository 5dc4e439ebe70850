"""Layers without a plan: begun anew with each round of a turn, over the facts that are there by
then.

The order is RETO's schema-level constraint (section 3.2, Inference), read off the facts instead of
a plan, so that nothing has to be remembered between two rounds: a tool waits while an identifier
that it requires is neither said nor returned and another tool gives it. All others of a round are
offered together. A request that needs no tool ends without a call.

Four things are not left to the model alone. To a question that only asks to be told something, no
write is offered before the reads. A call whose identifier is still to be looked up waits
for the lookup (:mod:`callwright.agent.leading.early_calls`). Numbers, quotations and options of the
request that stand in no call are asked about once more, and so are the other records where a
request is for all but some. A job that goes on is looked after with the
read that takes what the job returned.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from callwright.agent.call_key import CallKey, make_call_key
from callwright.agent.leading.early_calls import (
    EarlyCall,
    IntendedCall,
    collect_known,
    is_plain_lookup,
    split_early,
)
from callwright.agent.leading.forbidden import find_left
from callwright.agent.leading.forms import hold_to_meant
from callwright.agent.leading.jobs import look_after_job
from callwright.agent.leading.other_lookups import list_other_lookups
from callwright.agent.leading.unasked import list_new_values
from callwright.agent.leading.wanted import find_wanted
from callwright.agent.select import build_request, find_closest, find_mentioned, read_selection
from callwright.agent.step import BindStep, StepContext, Steps, ask, execute
from callwright.dataflow.prerequisites import (
    DEPTH,
    Prerequisites,
    add_producers,
    find_needs,
    list_reads,
)
from callwright.language.questions import only_asks_to_be_told
from callwright.language.times import count_times
from callwright.nouns.types import Skip, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.empty_result import is_empty_result
from callwright.repair.pending import is_pending
from callwright.repair.provenance.records import shorten_record
from callwright.repair.rules.open_literals import (
    find_open_literals,
    holds_literal,
    list_kin_tools,
)

_MADE_UP = "it names an identifier that stands neither in the conversation nor in a result"
_SHOWN = 120  # characters of a call's arguments in a question
_MOST_LEFT = 20  # records in one question
_MOST_OPEN = 2  # wishes of which the tool is looked for; lookups that came to nothing


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the policy; each may be left out, to see its effect.

    ``select``: the tools that a request needs are chosen first, of more than ``choose_above``.
    ``layers``: only tools are offered that need not wait. ``prerequisites``: what gives a needed
    value is chosen with what needs it, and called before it. ``wishes``: what the request says and
    no call holds is asked about. ``polling``: jobs that go on are looked after. ``several``: a reply
    may hold several calls; else each stated wish is asked about that no call seems to serve.
    """

    select: bool = True
    layers: bool = True
    prerequisites: bool = True
    wishes: bool = True
    polling: bool = True
    several: bool = True
    choose_above: int = 12


class LeadPolicy:
    """The policy. ``chosen``: the tools that the model chose for this request before; ``intended``:
    the calls that it decided on and that came too early. Both may be forgotten between two
    requests. ``wanted``: the tools that stated wishes are surely for and that were not called, each
    with its wish.
    """

    name = "lead"

    def __init__(
        self,
        parts: Parts | None = None,
        chosen: Iterable[str] | None = None,
        intended: Iterable[IntendedCall] = (),
    ) -> None:
        self._parts = parts or Parts()
        self.chosen = tuple(chosen) if chosen is not None else None
        self.intended = tuple(intended)
        self.tools: tuple[Tool, ...] = ()  # of this request, once they are chosen
        self.wanted: Mapping[str, str] = {}

    def steps(self, context: StepContext) -> Steps[None]:
        self.tools = yield from self._choose(context)
        if not self.tools:
            context.trace.add("note", text="no tool is needed")
            return
        if self._parts.polling:
            yield from look_after_job(context, self.tools)
        if self.intended:
            yield from self._go_on_with_intended(context)
        self.wanted = yield from self._find_wanted(context)
        if self.wanted and self._parts.prerequisites:
            yield from self._look_up_wanted(context)
        asked: set[str] = set()
        number = 0
        while offered := self._list_round(context, asked, order := _Order(self.tools, context)):
            number += 1
            names = [tool.name for tool in offered]
            context.trace.add("layer", index=number, total=number, slots=names)
            asked |= {*names}
            is_later = self._parts.layers and context.facts.state.results
            enabled = [tool.name for tool in offered if is_later and order.waited(tool)]
            step = BindStep("layer", number, number, enabled=enabled)
            yield from self._offer(context, offered, step, asked)
        if self._parts.wishes and context.facts.state.results:
            yield from self._ask_about_left(context)
            yield from self._ask_about_times(context)
            yield from self._ask_about_open(context)
            yield from self._ask_about_wishes(context, asked)
            yield from self._look_up_otherwise(context)

    def fetch_missing(
        self, context: StepContext, missing: Sequence[str], names: Container[str] = ()
    ) -> Steps[None]:
        """Once more the tools of this request, for what the answer itself says is missing. A call
        that was made since the last write has said all that it can, and a write that was made is
        made again only with something that the user said and no call used. ``names``: only these
        tools, as far as they need not wait, and if one letter is sure that the request is for one
        of them; none that destroys anything, for what was not done may just not be wanted.
        """
        tools = self.tools
        if names:
            order = _Order(self.tools, context)
            safe = [tool for tool in self._pick(names) if not tool.effects.destructive]
            tools = tuple(tool for tool in safe if not order.waits(tool))
        if not tools or (
            names
            and (yield from find_wanted(context.query, self.tools, context.ask_letter)) not in names
        ):
            return
        found = yield from _ask_for_points(context, tools, missing)
        written = {one.tool for one in context.facts.results if one.ok} & {
            tool.name for tool in tools if tool.effects.may_write
        }
        calls = [
            call
            for call in _list_new(found, context)
            if call.tool not in written or list_new_values(call, context)
        ]
        if calls:
            yield from execute(calls, (tool.name for tool in tools))

    def intend(
        self, held: Sequence[tuple[ToolCall, tuple[str, ...]]], leaving: Sequence[ToolCall]
    ) -> None:
        """Keep calls that were held back because nothing states the values of the named arguments:
        the results of the calls that leave may state them.
        """
        writes = {tool.name for tool in self.tools if tool.effects.declares_write}
        givers = tuple(dict.fromkeys(call.tool for call in leaving if call.tool not in writes))
        known = {make_call_key(one.call) for one in self.intended}
        for call, missing in held:
            is_new = make_call_key(call) not in known and call.tool not in givers
            if givers and missing and is_new:
                self.intended += (EarlyCall(call, missing, self._pick(givers)).build_intended(),)

    def _pick(self, names: Container[str]) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.tools if tool.name in names)

    def _offer(
        self, context: StepContext, offered: tuple[Tool, ...], step: BindStep, asked: set[str]
    ) -> Steps[None]:
        bound = yield from context.bind(offered, step)
        calls = [*bound.calls]
        if more := self._list_named_beside(asked, context):
            asked |= {tool.name for tool in more}
            offered = (*offered, *more)
            bound = yield from context.bind(offered, step)
            # calls for what was not offered went to other tools; those that were meant stay
            meant = {wish.tool for wish in context.list_unserved(self.tools)}
            missing = meant - {call.tool for call in bound.calls}
            calls = [*bound.calls, *(call for call in calls if call.tool in missing)]
        called = {call.tool for call in calls}
        context.facts.skip(skip for skip in bound.skips if skip.tool not in called)
        yield from self.call_when_ready(calls, offered, context)

    def call_when_ready(
        self, calls: Sequence[ToolCall], offered: Sequence[Tool], context: StepContext
    ) -> Steps[None]:
        """Have calls of offered tools made; what one of them still lacks is looked up first."""
        early: list[EarlyCall] = []
        if self._parts.prerequisites:
            calls, early, made_up = split_early(calls, context)
            context.facts.skip(Skip(call.tool, _MADE_UP, refused=True) for call in made_up)
            writes = {tool.name for tool in self.tools if tool.effects.may_write}
            held = (one.build_intended() for one in early if one.call.tool in writes)
            self.intended = tuple(held)
        if calls:
            yield from execute(calls, (tool.name for tool in offered))
        if early:
            yield from self._look_up_first(context, early)

    def _go_on_with_intended(self, context: StepContext) -> Steps[None]:
        """Ask for the calls that came too early, now that what they needed was looked up."""
        results = context.facts.state.results
        done = {result.tool for result in results}
        by_name = {tool.name: tool for tool in self.tools}
        left = [
            one for one in self.intended if one.call.tool in by_name and not one.is_made(results)
        ]
        self.intended = ()
        if not left or not done:
            return
        open_ = [one for one in left if done.isdisjoint(one.givers)]
        if open_:  # other calls of that reply went first
            self.intended = tuple(left)
            yield from self._look_up_first(context, [one.to_early(self.tools) for one in open_])
            return
        calls = [one.complete(by_name[one.call.tool], results) for one in left]
        offered = tuple({call.tool: by_name[call.tool] for call in calls}.values())
        points = [_render_call(call) for call in calls]
        found = yield from _ask_for_points(context, offered, points)
        if found:
            yield from execute(found, (tool.name for tool in offered))

    def _ask_about_left(self, context: StepContext) -> Steps[None]:
        """Ask once for the calls for the other records, where the request is for all but some."""
        left = find_left(context)
        if left is None or len(left.records) > _MOST_LEFT:
            return
        # else a small model decides on the same call again
        tools = hold_to_meant(self._pick({left.tool}), [left.build_held()])
        points = f"{left.tool}, one call for each of these: " + "; ".join(
            shorten_record(record) for record in left.records
        )
        found = yield from _ask_for_points(context, tools, [points])
        calls = [call for call in found if left.holds(call)]
        if calls:
            yield from execute(calls, (left.tool,))

    def _ask_about_times(self, context: StepContext) -> Steps[None]:
        """Ask once for the only call so far once more, where the request names a number of times and
        it was not made as often.
        """
        made = context.facts.state.results
        keys = {make_call_key(result) for result in made if result.ok}
        left = (count_times(context.query) or 1) - len(made)
        if len(keys) != 1 or left <= 0:
            return
        point = f"{_render_call(made[0])}, {left} more of it"
        found = yield from _ask_for_points(context, self._pick({made[0].tool}), [point])
        again = [call for call in found if make_call_key(call) in keys]
        if again:
            yield from execute(again[:left], (made[0].tool,))

    def _ask_about_open(self, context: StepContext) -> Steps[None]:
        """Ask once about what the request says and no call of this turn holds. Of the calls in the
        reply those are made that hold some of it, or that give what another tool waits for.
        """
        made = context.facts.state.results
        calls = [ToolCall(result.id, result.tool, result.arguments) for result in made]
        open_ = find_open_literals(context.query, calls, self.tools)
        order = _Order(self.tools, context)
        ready = tuple(tool for tool in self.tools if not order.waits(tool))
        if kin := list_kin_tools(open_, calls):  # one more of the same is wished for
            ready = self._pick(kin)
        if not open_ or not ready:
            return
        found = yield from _ask_for_points(context, ready, open_)
        known = {make_call_key(call) for call in calls}
        new = [call for call in found if make_call_key(call) not in known]
        givers = order.list_open_givers()
        new = [
            call
            for call in new
            if call.tool in givers or any(holds_literal(call, text) for text in open_)
        ]
        if new:
            yield from execute(new, (tool.name for tool in ready))

    def _ask_about_wishes(self, context: StepContext, asked: Container[str]) -> Steps[None]:
        """Ask once for the calls that the model itself stated as wishes and did not make, by the
        names of tools or in words that are surely for one. Not where something came to nothing, for
        that may have changed its mind; nor for a write that it was offered since (``asked``) and
        did not call, if it named its tool.
        """
        results = context.facts.state.results
        if not all(one.ok and not _came_to_nothing(one) for one in results):
            return
        writes = {tool.name for tool in self.tools if tool.effects.may_write}
        wishes = [
            wish
            for wish in context.list_unserved(self.tools)
            if not (wish.tool in writes and wish.tool in asked)
        ]
        named = self._pick({wish.tool for wish in wishes})
        points: Sequence[str] = [wish.text for wish in wishes]
        if not named:
            order = _Order(self.tools, context)
            ready = tuple(tool for tool in self.tools if not order.waits(tool))
            named = tuple(tool for tool in ready if tool.name in self.wanted)
            points = [self.wanted[tool.name] for tool in named]
            if not named and not self._parts.several:
                named, points = ready, context.list_open_wishes(results)
        if not named or not points:
            return
        found = yield from _ask_for_points(context, named, points)
        if new := _list_new(found, context):
            yield from execute(new, (tool.name for tool in named))

    def _look_up_otherwise(self, context: StepContext) -> Steps[None]:
        """Look up in another way where all that was looked up with a value came to nothing: as the
        schemas of other reads want it, or else as the model says when it is asked once.
        """
        results = context.facts.state.results
        called = {result.tool for result in results}
        reads, order = list_reads(self.tools), _Order(self.tools, context)
        others = tuple(
            tool
            for tool in self.tools
            if tool.name in reads - called and tool.required and not order.waits(tool)
        )
        is_over = len(called) > _MOST_OPEN or not called <= reads
        if not others or is_over or not all(r.arguments and _came_to_nothing(r) for r in results):
            return
        found = _list_new(list_other_lookups(results, others), context)
        if not found:
            calls = yield from _ask_for_points(context, others, [context.query])
            found = _list_new(calls, context)
        if found:
            yield from execute(found, (tool.name for tool in others))

    def _find_wanted(self, context: StepContext) -> Steps[Mapping[str, str]]:
        """Tool -> the stated wish that it is for and that no call served, where the model stated
        more wishes than it made calls.
        """
        results = context.facts.state.results
        called = {result.tool for result in results}
        is_possible = results and self._parts.wishes and context.list_open_wishes([])
        if not is_possible or all(tool.name in called for tool in self.tools):
            return {}
        idle = _Order(self.tools, context).list_idle_givers()
        open_ = context.list_open_wishes([one for one in results if one.tool not in idle])
        found: dict[str, str] = {}
        for wish in open_[:_MOST_OPEN]:
            name = yield from find_wanted(wish, self.tools, context.ask_letter)
            if name and name not in called:
                found.setdefault(name, wish)
        return found

    def _look_up_wanted(self, context: StepContext) -> Steps[None]:
        """Have looked up without a question what a wanted tool waits for: a lookup without
        parameters takes no choice.
        """
        called = {result.tool for result in context.facts.state.results}
        givers = _Order(self.tools, context).list_open_givers(self.wanted) - called
        free = [tool for tool in self.tools if tool.name in givers and is_plain_lookup(tool)]
        if free:
            yield from execute([ToolCall("", t.name, {}) for t in free], (t.name for t in free))

    def _look_up_first(self, context: StepContext, early: Sequence[EarlyCall]) -> Steps[None]:
        """Have what the calls need looked up; where nobody looks it up they go as they are, for the
        rules to judge.
        """
        lookups = yield from self._list_lookups(context, early)
        names = (giver.name for one in early for giver in one.givers)
        allowed = (*names, *(call.tool for call in (*lookups, *(one.call for one in early))))
        if lookups:
            yield from execute(lookups, allowed)
        yield from execute([one.call for one in early], allowed)

    def _list_lookups(
        self, context: StepContext, early: Sequence[EarlyCall], depth: int = DEPTH
    ) -> Steps[list[ToolCall]]:
        """The calls that look up what these need. Where each of those comes too early itself, for
        the order's number stands in a list that needs the customer's, what it lacks is looked up.
        """
        givers = {giver.name: giver for one in early for giver in one.givers}
        free = [giver for giver in givers.values() if is_plain_lookup(giver)]
        if free:
            return [ToolCall("", giver.name, {}) for giver in free]
        step = BindStep("layer", open_points=[one.render() for one in early])
        bound = yield from context.bind(tuple(givers.values()), step)
        new = [call for call in bound.calls if not any(one.holds(call) for one in early)]
        ready, still_early, _ = split_early(new, context)
        if ready or not still_early or not depth:
            return ready
        return (yield from self._list_lookups(context, still_early, depth - 1))

    def _choose(self, context: StepContext) -> Steps[tuple[Tool, ...]]:
        tools = context.tools
        if not self._parts.select or len(tools) <= self._parts.choose_above:
            return tools
        if self.chosen is None:
            request = build_request(context.query, tools, context.mode)
            reply = yield from ask(request, calls=None)
            self.chosen = tuple(tool.name for tool in read_selection(reply, tools))
        named = tuple(tool for tool in tools if tool.name in self.chosen)
        if not named:
            return ()
        found = (find_mentioned(context.query, tools), find_closest(context.query, tools))
        kept = tuple(dict.fromkeys([*named, *found[0], *found[1]]))
        if not self._parts.prerequisites:
            return kept
        # an identifier that the request holds need not be looked up
        open_ = tuple(tool for tool in kept if find_needs(tool, context.query))
        return (*kept, *(tool for tool in add_producers(open_, tools) if tool not in kept))

    def _list_round(self, context: StepContext, asked: set[str], order: _Order) -> tuple[Tool, ...]:
        """The tools to be offered now; () where no question is left. ``asked`` had theirs since the
        client's last results.
        """
        results = context.facts.state.results
        last = {result.tool: result for result in results}
        pending = {name for name, result in last.items() if is_pending(result.content)}
        left = tuple(
            tool
            for tool in self.tools
            if tool.name not in asked and (tool.name not in last or tool.name in pending)
        )
        if not self._parts.layers:
            return left
        ready = tuple(tool for tool in left if not order.waits(tool))
        if not results:
            # where nothing was called, what is left is offered at once: the order may be wrong
            first = tuple(tool for tool in ready if tool.name not in order.needless)
            if not asked and only_asks_to_be_told(context.query):
                first = _leave_writes_out(left) or first
            return (first or left) if not asked else left
        is_over = not is_pending(results[-1].content)
        wrote = (result for result in results if not (is_over and is_pending(result.content)))
        if not any(_may_have_written(result, self.tools) for result in wrote):
            return ready  # nothing was done, or a job that has ended since was only begun
        givers = order.list_open_givers(self.wanted) if self.wanted else ()
        # what goes on is looked after by reading
        return tuple(
            tool
            for tool in ready
            if order.waited(tool)
            or tool.name in givers
            or (pending and not tool.effects.declares_write)
        )

    def _list_named_beside(self, asked: set[str], context: StepContext) -> tuple[Tool, ...]:
        """The tools that the first reply of a turn states as wishes, that were not offered and need
        not wait.
        """
        if context.facts.state.results or not self._parts.wishes:
            return ()
        named = {wish.tool for wish in context.list_unserved(self.tools)}
        left = self._pick(named - asked)
        if not left:
            return ()
        order = _Order(self.tools, context)
        return tuple(tool for tool in left if not order.waits(tool))


class _Order:
    """Finds the tools that wait for an identifier, by what was said and what came back."""

    def __init__(self, tools: Sequence[Tool], context: StepContext) -> None:
        self._tools = tuple(tools)
        self._known = collect_known(context)
        self._prerequisites = Prerequisites.among(tools, self._known, documented=True)
        self._results = context.facts.state.results
        self._gave = {result.tool for result in self._results if result.ok}
        self.needless = self._find_needless(tools)

    def waits(self, tool: Tool) -> bool:
        """Return True if a value that the tool needs is still to be looked up."""
        return any(self._gave.isdisjoint(givers) for givers in self._list_givers(tool))

    def list_open_givers(self, names: Container[str] | None = None) -> frozenset[str]:
        """The tools that give what others still wait for; what these wait for, if they are
        named."""
        tools = [tool for tool in self._tools if names is None or tool.name in names]
        waiting = (givers for tool in tools for givers in self._list_givers(tool))
        return frozenset(
            name for givers in waiting if self._gave.isdisjoint(givers) for name in givers
        )

    def list_idle_givers(self) -> frozenset[str]:
        """The tools that gave what no call has taken yet."""
        called = {result.tool for result in self._results}
        taken: set[str] = set()
        given: set[str] = set()
        for tool in self._tools:
            for givers in self._list_givers(tool):
                (taken if tool.name in called else given).update(givers)
        return frozenset(given - taken)

    def waited(self, tool: Tool) -> bool:
        """Return True if the tool needs a value that had to be looked up in this turn."""
        return any(self._list_givers(tool))

    def _list_givers(self, tool: Tool) -> list[set[str]]:
        needs = self._prerequisites.needs(tool)
        found = ({x.producer for x in self._prerequisites.providers(need)} for need in needs)
        return [givers for givers in found if givers]

    def _find_needless(self, tools: Sequence[Tool]) -> frozenset[str]:
        """The tools that only give identifiers which were said already."""
        anything = Prerequisites.among(tools, documented=True)
        needed: set[str] = set()
        needless: set[str] = set()
        for tool in tools:
            links = [link for need in anything.needs(tool) for link in anything.providers(need)]
            is_open = bool(find_needs(tool, self._known))
            (needed if is_open else needless).update(link.producer for link in links)
        return frozenset(needless - needed)


def _leave_writes_out(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools that may answer a question: without declared writes, where a declared read is left."""
    if not any(tool.effects.declared and tool.effects.read_only for tool in tools):
        return ()
    return tuple(tool for tool in tools if not tool.effects.declares_write)


def _came_to_nothing(result: ToolResult) -> bool:
    return result.ok and is_empty_result(result.content, result.arguments)


def _ask_for_points(
    context: StepContext, tools: tuple[Tool, ...], points: Sequence[str]
) -> Steps[tuple[ToolCall, ...]]:
    """The model's calls of these tools for what is open, told of the calls of this turn."""
    tried = [_render_call(result) for result in context.facts.state.results]
    bound = yield from context.bind(tools, BindStep("layer", open_points=points, tried=tried))
    return bound.calls


def _render_call(call: ToolCall | ToolResult) -> str:
    return f"{call.tool}({to_canonical_json(call.arguments)[:_SHOWN]})"


def _list_new(calls: Sequence[ToolCall], context: StepContext) -> list[ToolCall]:
    """The calls that may say something else than those of this turn since its last write."""
    known = _list_fresh_calls(context)
    writes = {tool.name for tool in context.tools if tool.effects.declares_write}
    new = []
    for call in calls:
        key = make_call_key(call)
        if key in known:
            continue
        new.append(call)
        if call.tool in writes:  # what is read behind it may say something else
            known = {key}
    return new


def _list_fresh_calls(context: StepContext) -> set[CallKey]:
    """The calls of this turn since its last write."""
    tools = {tool.name: tool for tool in context.tools}
    known: set[CallKey] = set()
    for result in context.facts.state.results:
        tool = tools.get(result.tool)
        if tool is not None and tool.effects.declares_write:
            known = set()
        if not is_pending(result.content):
            known.add(make_call_key(result))
    return known


def _may_have_written(result: ToolResult, tools: Sequence[Tool]) -> bool:
    known: Mapping[str, Tool] = {tool.name: tool for tool in tools}
    tool = known.get(result.tool)
    return result.ok and (tool is None or tool.effects.may_write)
