"""Beyond the paper (RETO, A.2): what :mod:`agent.strategies.layered` does when repair fails, in
this order.

1. ``retry``: the diagnosis names an argument that an earlier result gave. The reading call that
   produced it is made again, once; if it says something else now, what rested on it is stale and
   made again, and so is the failed call.
2. ``substitute``: another tool that gives the same is called with the same arguments, or offered to
   the model; where the run was shown a shortlist, also one that only the whole catalogue has. So
   too where a search found nothing.
3. ``retrieve`` (with a shortlist only): for a tool that is dead, and where nothing was found at
   all, the catalogue is searched once more, and what fits next best is offered. What may give a
   value that a call lacked is looked for there too.
4. ``replan``: a tool that came before what feeds it is offered again after it. Only what is left is
   layered again, as the plan's next revision.

Each step costs one of the run's budget B, each is an event ``recovery``, and all that it learns
from outside goes through the ledger. Where no call fails, nothing here asks, calls or records
anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from callwright.agent.gaps import NOTE, Gap, failure_gap, names_another
from callwright.agent.origins import (
    Failed,
    Renewal,
    build_failed_call,
    build_refused_call,
    find_origin,
    has_changed_value,
)
from callwright.agent.step import StepContext, Steps, execute
from callwright.agent.strategies.open_points import AskLayer
from callwright.agent.substitutes import Substitute, find_substitutes, is_no_worse
from callwright.nouns.plan import Slot
from callwright.nouns.types import JsonObject, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.planning.relayer import find_feeders, relayer_plan
from callwright.repair.empty_result import is_empty_result
from callwright.repair.provenance.sources import ProvenanceIndex

WAYS = ("retry", "substitute", "retrieve", "replan")
_BEYOND = 12  # tools of the whole catalogue that are looked at for one that failed
_OFFERED = 3  # of which are put to the model at most


class Recovery:
    """The failures of one run and what was tried for them. ``ways``: which of :data:`WAYS` may be
    gone.
    """

    def __init__(self, context: StepContext, ways: Collection[str], ask: AskLayer) -> None:
        self._context = context
        # a frozen plan is not planned again, and no tool beside it may be called
        self._ways = frozenset(ways) & ({"retry"} if context.facts.freeze.on else {*WAYS})
        self._ask = ask
        self._asked = ProvenanceIndex(context.query, context.conversation)
        self._judged: set[str] = set()  # calls that were looked at
        self._repeated: set[str] = set()  # calls that were made again
        self._found_nothing: set[str] = set()  # tools that were content, and had nothing to give
        self._replaced: set[str] = set()  # tools in whose place others were offered
        self._again: dict[str, list[Failed]] = {}  # tools offered again, and why
        self._waits: dict[str, tuple[str, ...]] = {}  # after which
        self._sought: set[tuple[str, str]] = (
            set()
        )  # for whom what was looked for beyond the shortlist
        self._exhausted = False  # whether the catalogue was searched again for the request itself

    @property
    def offered_again(self) -> Collection[str]:
        """The tools that were put to the model once more after a call of theirs had failed."""
        return self._again.keys() | self._replaced

    @property
    def _tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._context.tools}

    def after(self, layer: tuple[int, int], finished: set[str], last: bool = False) -> Steps[None]:
        """See to the calls that failed since this was last asked. ``layer``: which of how many it
        was.

        ``finished`` are the plan's finished slots; slots that were seen to here are added.
        ``last``: no layer comes after this, nothing is layered again.
        """
        left: list[Failed] = []
        while failed := self._failed():
            for one in failed:
                if not (yield from self._go_round(one, layer, finished)):
                    left.append(one)
        self._made_good()
        if last and not self._context.facts.succeeded:
            yield from self._retrieved(None, layer, finished)
        if left and not last and "replan" in self._ways:
            yield from self._layered_anew(left, finished)

    def _go_round(self, failed: Failed, layer: tuple[int, int], finished: set[str]) -> Steps[bool]:
        """The ways round one failed call, in their order, until one helps."""
        if (yield from self._looked_up_again(failed, layer)):
            return True
        if (yield from self._substituted(failed, layer, finished)):
            return True
        return (yield from self._retrieved(failed, layer, finished))

    def reopened(self, slots: Sequence[Slot]) -> tuple[Gap, ...]:
        """Return the messages for the model if one of these tools is offered again, or may supply a
        missing value.
        """
        tools = {slot.tool for slot in slots}
        told = (
            f
            for name, many in self._again.items()
            if tools & {name, *self._waits[name]}
            for f in many
        )
        return tuple(_build_gap(failed) for failed in told)

    def _failed(self) -> list[Failed]:
        facts = self._context.facts
        there = (
            r for r in facts.results if r.tool in self._tools
        )  # a run may begin with a call of what is not
        results = [self._fruitless(r) for r in there if r.id not in self._judged]
        refused = [build_refused_call(r) for r in facts.refusals if r.call.id not in self._judged]
        found = [one for one in (*results, *refused) if one is not None]
        self._judged |= {one.call.id for one in found}
        return found

    def _fruitless(self, result: ToolResult) -> Failed | None:
        """A result as a failed call; also one of a reading tool that holds nothing, where another
        may hold more.
        """
        tool = self._tools[result.tool]
        if (
            result.ok
            and tool.effects.read_only
            and is_empty_result(result.content, result.arguments)
        ):
            self._found_nothing.add(tool.name)
            call = ToolCall(result.id, result.tool, result.arguments, result.slot)
            return Failed(call, result.arguments, "it found nothing", empty=True)
        return build_failed_call(result, tool)

    def _looked_up_again(self, failed: Failed, layer: tuple[int, int]) -> Steps[bool]:
        """The producer of a blamed argument is called again. Whether it led to a call in the failed
        one's place.
        """
        facts = self._context.facts
        source = find_origin(failed, facts.sources, self._asked) if "retry" in self._ways else None
        if source is None or not self._tools[source.tool].effects.read_only:
            return False
        key = to_canonical_json([source.tool, source.arguments])
        if key in self._repeated or not self._step("retry", failed, producer=source.id):
            return False
        self._repeated.add(key)
        again = yield from self._call(source, source.arguments)
        if again is None:
            return False
        if not again.ok or to_canonical_json(again.content) == to_canonical_json(source.content):
            facts.supersede([again.id], source.id, "asked again, it says nothing else")
            return False
        yield from self._renew(source, again, failed, layer)
        return True

    def _renew(
        self, source: ToolResult, again: ToolResult, failed: Failed, layer: tuple[int, int]
    ) -> Steps[None]:
        """Supersede the old result and the read-only results that rest on it. Their calls are made
        again with the new values, the failed call last.
        """
        facts = self._context.facts
        renewal = Renewal.of(source.content, again.content)
        others = [r for r in facts.results if r.ok and r.id not in (source.id, again.id)]
        facts.supersede(
            [source.id], again.id, "asked again, it says something else", self._written(renewal)
        )
        for old in others:
            now = [r for r in facts.results if r.ok and r.id != old.id]
            if not self._tools[old.tool].effects.read_only or not has_changed_value(
                old, renewal, now, self._asked
            ):
                continue
            facts.supersede(
                [old.id], again.id, f"made with what {source.id} said", self._written(renewal)
            )
            arguments = renewal.applied(old.arguments)
            new = None
            if arguments and facts.granted():
                new = yield from self._call(old, arguments)
            renewal.add(old.content, new.content if new is not None and new.ok else None)
        if failed.call.id in {r.id for r in facts.results}:
            facts.supersede([failed.call.id], again.id, f"made with what {source.id} said")
        arguments = renewal.applied(failed.arguments) if renewal.touches(failed.arguments) else None
        if arguments is None:
            slot = Slot(failed.call.slot or failed.call.tool, failed.call.tool)
            yield from self._ask(self._context, (slot,), *layer, (_build_gap(failed),))
        elif facts.granted():
            call = ToolCall("", failed.call.tool, arguments, failed.call.slot)
            yield from execute([call], {call.tool}, by="retry")

    def _written(self, renewal: Renewal) -> list[str]:
        """The writes that have happened with a value that is no longer so. Nothing takes them
        back.
        """
        good = (
            r for r in self._context.facts.results if r.ok and self._tools[r.tool].effects.may_write
        )
        return [r.id for r in good if has_changed_value(r, renewal, (), self._asked)]

    def _call(self, old: ToolResult, arguments: JsonObject) -> Steps[ToolResult | None]:
        call = ToolCall("", old.tool, arguments, old.slot)
        return next(iter((yield from execute([call], {old.tool}, by="retry"))), None)

    def _substituted(
        self, failed: Failed, layer: tuple[int, int], finished: set[str]
    ) -> Steps[bool]:
        """Another tool's call in the failed one's place: the same arguments, or the model is asked,
        once a tool.
        """
        if "substitute" not in self._ways:
            return False
        facts = self._context.facts
        spent = frozenset({r.tool for r in facts.results if not r.ok} | self._found_nothing)
        found = find_substitutes(
            failed, self._context.tools, spent, facts.sources, self._context.known
        )
        found = found or self._beyond(failed, spent)
        direct = next((s for s in found if s.call is not None and s.tool.effects.read_only), None)
        if direct is not None and direct.call is not None:
            if not self._step("substitute", failed, offered=[direct.tool.name]):
                return False
            slot = self._put_beside(failed, [direct.tool], finished)[0]
            call = replace(direct.call, slot=slot.id)
            results = yield from execute([call], {direct.tool.name}, by="substitute")
            return self._served(failed, results)
        if not found or failed.call.tool in self._replaced:
            return False
        self._replaced.add(failed.call.tool)
        if not self._step("substitute", failed, offered=[s.tool.name for s in found]):
            return False
        before = len(facts.all_results)
        slots = self._put_beside(failed, [s.tool for s in found], finished)
        yield from self._ask(self._context, slots, *layer, (_build_gap(failed),))
        return self._served(failed, facts.all_results[before:])

    def _beyond(self, failed: Failed, spent: frozenset[str]) -> list[Substitute]:
        """Substitutes that only the whole catalogue has; looked for once a tool. They come into
        view.
        """
        context, tool = self._context, self._tools[failed.call.tool]
        if context.reserve is None or (tool.name, "twin") in self._sought:
            return []
        self._sought.add((tool.name, "twin"))
        others = context.reserve.find(f"{tool.name} {tool.description}", self._tools, _BEYOND)
        found = find_substitutes(
            failed, (tool, *others), spent, context.facts.sources, context.known
        )
        context.admit(one.tool for one in found)
        return found

    def _retrieved(
        self, failed: Failed | None, layer: tuple[int, int], finished: set[str]
    ) -> Steps[bool]:
        """Offer the model the tools that fit the request next best, and return True if one served.
        They replace a failed tool, or follow an empty result.
        """
        context = self._context
        if context.reserve is None or "retrieve" not in self._ways or self._exhausted:
            return False
        if failed is not None and not failed.final:
            return False
        self._exhausted = True
        others = context.reserve.find(context.query, self._tools, _BEYOND)
        if failed is not None:
            others = tuple(
                t for t in others if is_no_worse(t.effects, self._tools[failed.call.tool].effects)
            )
        others = others[:_OFFERED]
        if not others or not self._step("retrieve", failed, offered=[t.name for t in others]):
            return False
        context.admit(others)
        before = len(context.facts.all_results)
        slots = self._put_beside(failed, others, finished)
        yield from self._ask(context, slots, *layer, (_build_gap(failed),) if failed else ())
        return self._served(failed, context.facts.all_results[before:])

    def _providers(self, left: Sequence[Failed]) -> None:
        """Tools beyond the shortlist that may give the values which calls lacked come into view."""
        context = self._context
        for failed in left if context.reserve is not None else ():
            tool = self._tools[failed.call.tool]
            if (
                failed.final
                or failed.empty
                or not failed.blamed
                or (tool.name, "value") in self._sought
            ):
                continue
            self._sought.add((tool.name, "value"))
            assert context.reserve is not None
            others = context.reserve.find(
                _describe_parameters(tool, failed.blamed), self._tools, _BEYOND
            )
            able = find_feeders(tool, failed.blamed, others)[:_OFFERED]
            context.admit(t for t in others if t.name in able)

    def _served(self, failed: Failed | None, results: Sequence[ToolResult]) -> bool:
        good = [r for r in results if r.ok]
        if (
            good and failed is not None and not failed.empty
        ):  # that there is nothing is a result of its own
            self._made_good_by(failed, good[0])
        return bool(good)

    def _made_good_by(self, failed: Failed, result: ToolResult) -> None:
        facts = self._context.facts
        facts.mark_replaced(failed.call.tool)
        if failed.call.id in {r.id for r in facts.results}:
            facts.supersede([failed.call.id], result.id, f"made good by {result.tool}")

    def _put_beside(
        self, failed: Failed | None, tools: Sequence[Tool], finished: set[str]
    ) -> tuple[Slot, ...]:
        """Slots for these tools where the failed one stands in the plan; those that it lacks are
        added to it.
        """
        context = self._context
        known = {slot.tool: slot for slot in context.plan.slots}
        at = failed.call.slot if failed else ""
        place = next((s for s in context.plan.slots if s.id == at), Slot("", ""))
        why = (
            f"stands in for {failed.call.tool}" if failed else "found when nothing else had helped"
        )
        made = [Slot(t.name, t.name, place.after, why) for t in tools if t.name not in known]
        if made:
            context.plan = context.plan.grown(*made)
            context.record_plan()
            finished |= {slot.id for slot in made}
        known |= {slot.tool: slot for slot in made}
        return tuple(known[tool.name] for tool in tools)

    def _made_good(self) -> None:
        """Calls of tools that were offered again, where as many have succeeded since."""
        facts = self._context.facts
        for name, failed in self._again.items():
            since = [
                r for r in facts.results if r.ok and r.tool == name and r.id not in self._judged
            ]
            if len(since) >= len(failed):
                for one in failed:
                    self._made_good_by(one, since[0])
                failed.clear()

    def _layered_anew(self, left: Sequence[Failed], finished: set[str]) -> Steps[None]:
        """Tools that came too early are offered again, in a plan of what is left; each once in a
        run.
        """
        context = self._context
        self._providers(left)
        open_ = {slot.tool for slot in context.plan.slots if slot.id not in finished}
        waits: dict[str, tuple[str, ...]] = {}
        for failed in left:
            name = failed.call.tool
            if name not in self._again and not failed.final and not failed.empty:
                waits[name] = (*waits.get(name, ()), *self._still_to_come(failed, open_))
        waits = {name: named for name, named in waits.items() if named}
        first = next((failed for failed in left if failed.call.tool in waits), None)
        if first is None or not self._step(
            "replan", first, waits={k: sorted(set(v)) for k, v in waits.items()}
        ):
            return
        self._waits |= waits
        self._again |= {name: [f for f in left if f.call.tool == name] for name in waits}
        self._judged |= {r.id for r in context.facts.all_results}
        context.facts.reopen({f.call.id for many in self._again.values() for f in many})
        named = {tool for tools in waits.values() for tool in tools} - context.facts.succeeded
        tools = [t for t in context.tools if t.name in open_ | named | waits.keys()]
        names = [t.name for t in tools]
        why = {
            name: f"offered again, after {', '.join(sorted(set(w)))}: its call had failed"
            for name, w in waits.items()
        }
        yield from context.revise(
            finished,
            lambda: relayer_plan(context.planner.plan(context.query, tools), names, waits, why),
        )

    def _still_to_come(self, failed: Failed, open_: Collection[str]) -> tuple[str, ...]:
        """The tools that may give what the call lacked and have not been heard yet, or not before
        it was made.

        ``open_`` are the tools of slots that are not finished. None where the failure blames no
        value and names no tool: then an order was not what was wrong.
        """
        context = self._context
        tool = self._tools[failed.call.tool]
        named = names_another(failed.message, tool.name, self._tools)
        may_help = dict.fromkeys(
            (*named, *(find_feeders(tool, failed.blamed, context.tools) if failed.blamed else ()))
        )
        layer = _get_layer(context, failed.call.slot)
        beside = {r.tool for r in context.facts.results if r.ok and r.slot in layer}
        called = context.facts.succeeded
        return tuple(
            name for name in may_help if name in open_ or name in beside or name not in called
        )

    def _step(self, step: str, failed: Failed | None, **more: object) -> bool:
        """One step from the budget. What is tried and why is recorded."""
        if not self._context.facts.granted():
            return False
        told = {"tool": "", "failed": "", "message": ""}
        if failed is not None:
            told = {
                "tool": failed.call.tool,
                "failed": failed.call.id,
                "message": failed.message[:NOTE],
            }
        self._context.trace.add("recovery", step=step, **told, **more)
        return True


def _get_layer(context: StepContext, slot: str) -> frozenset[str]:
    """The slots of the layer in which a slot stands."""
    rows = (frozenset(s.id for s in layer) for layer in context.plan.layers)
    return next((row for row in rows if slot in row), frozenset())


def _describe_parameters(tool: Tool, keys: Collection[str]) -> str:
    """Parameters of a tool in words, for a search of what may provide them."""
    parts = [tool.properties.get(key) for key in keys]
    about = [str(part.get("description", "")) if isinstance(part, dict) else "" for part in parts]
    return " ".join(f"{key} {said}".strip() for key, said in zip(keys, about, strict=True))


def _build_gap(failed: Failed) -> Gap:
    return failure_gap(failed.call.tool, failed.arguments, failed.message)
