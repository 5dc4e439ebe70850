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
from callwright.agent.strategies.job import Job
from callwright.agent.strategies.second_pass import AskLayer
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

    def __init__(self, job: Job, ways: Collection[str], ask: AskLayer) -> None:
        self._job = job
        self._ways = frozenset(ways)
        self._ask = ask
        self._asked = ProvenanceIndex(job.query, job.conversation)
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
    def _tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._job.tools}

    async def after(self, layer: tuple[int, int], finished: set[str], last: bool = False) -> None:
        """See to the calls that failed since this was last asked. ``layer``: which of how many it
        was.

        ``finished`` are the plan's finished slots; slots that were seen to here are added.
        ``last``: no layer comes after this, nothing is layered again.
        """
        left: list[Failed] = []
        while failed := self._failed():
            for one in failed:
                if not (
                    await self._looked_up_again(one, layer)
                    or await self._substituted(one, layer, finished)
                    or await self._retrieved(one, layer, finished)
                ):
                    left.append(one)
        self._made_good()
        if last and not self._job.executor.succeeded:
            await self._retrieved(None, layer, finished)
        if left and not last and "replan" in self._ways:
            self._layered_anew(left, finished)

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
        executor = self._job.executor
        there = (
            r for r in executor.results if r.tool in self._tools
        )  # a run may begin with a call of what is not
        results = [self._fruitless(r) for r in there if r.id not in self._judged]
        refused = [
            build_refused_call(r) for r in executor.refusals if r.call.id not in self._judged
        ]
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

    async def _looked_up_again(self, failed: Failed, layer: tuple[int, int]) -> bool:
        """The producer of a blamed argument is called again. Whether it led to a call in the failed
        one's place.
        """
        executor = self._job.executor
        source = (
            find_origin(failed, executor.sources, self._asked) if "retry" in self._ways else None
        )
        if source is None or not self._tools[source.tool].effects.read_only:
            return False
        key = to_canonical_json([source.tool, source.arguments])
        if key in self._repeated or not self._step("retry", failed, producer=source.id):
            return False
        self._repeated.add(key)
        again = await self._call(source, source.arguments)
        if again is None:
            return False
        if not again.ok or to_canonical_json(again.content) == to_canonical_json(source.content):
            executor.supersede([again.id], source.id, "asked again, it says nothing else")
            return False
        await self._renew(source, again, failed, layer)
        return True

    async def _renew(
        self, source: ToolResult, again: ToolResult, failed: Failed, layer: tuple[int, int]
    ) -> None:
        """Supersede the old result and the read-only results that rest on it. Their calls are made
        again with the new values, the failed call last.
        """
        executor = self._job.executor
        renewal = Renewal.of(source.content, again.content)
        others = [r for r in executor.results if r.ok and r.id not in (source.id, again.id)]
        executor.supersede(
            [source.id], again.id, "asked again, it says something else", self._written(renewal)
        )
        for old in others:
            now = [r for r in executor.results if r.ok and r.id != old.id]
            if not self._tools[old.tool].effects.read_only or not has_changed_value(
                old, renewal, now, self._asked
            ):
                continue
            executor.supersede(
                [old.id], again.id, f"made with what {source.id} said", self._written(renewal)
            )
            arguments = renewal.applied(old.arguments)
            new = await self._call(old, arguments) if arguments and executor.granted() else None
            renewal.add(old.content, new.content if new is not None and new.ok else None)
        if failed.call.id in {r.id for r in executor.results}:
            executor.supersede([failed.call.id], again.id, f"made with what {source.id} said")
        arguments = renewal.applied(failed.arguments) if renewal.touches(failed.arguments) else None
        if arguments is None:
            slot = Slot(failed.call.slot or failed.call.tool, failed.call.tool)
            await self._ask(self._job, (slot,), *layer, (_build_gap(failed),))
        elif executor.granted():
            call = ToolCall("", failed.call.tool, arguments, failed.call.slot)
            await executor.execute([call], {call.tool}, by="retry")

    def _written(self, renewal: Renewal) -> list[str]:
        """The writes that have happened with a value that is no longer so. Nothing takes them
        back.
        """
        good = (
            r for r in self._job.executor.results if r.ok and self._tools[r.tool].effects.may_write
        )
        return [r.id for r in good if has_changed_value(r, renewal, (), self._asked)]

    async def _call(self, old: ToolResult, arguments: JsonObject) -> ToolResult | None:
        call = ToolCall("", old.tool, arguments, old.slot)
        return next(iter(await self._job.executor.execute([call], {old.tool}, by="retry")), None)

    async def _substituted(
        self, failed: Failed, layer: tuple[int, int], finished: set[str]
    ) -> bool:
        """Another tool's call in the failed one's place: the same arguments, or the model is asked,
        once a tool.
        """
        if "substitute" not in self._ways:
            return False
        executor = self._job.executor
        spent = frozenset({r.tool for r in executor.results if not r.ok} | self._found_nothing)
        found = find_substitutes(failed, self._job.tools, spent, executor.sources, self._job.known)
        found = found or self._beyond(failed, spent)
        direct = next((s for s in found if s.call is not None and s.tool.effects.read_only), None)
        if direct is not None and direct.call is not None:
            if not self._step("substitute", failed, offered=[direct.tool.name]):
                return False
            slot = self._put_beside(failed, [direct.tool], finished)[0]
            call = replace(direct.call, slot=slot.id)
            results = await executor.execute([call], {direct.tool.name}, by="substitute")
            return self._served(failed, results)
        if not found or failed.call.tool in self._replaced:
            return False
        self._replaced.add(failed.call.tool)
        if not self._step("substitute", failed, offered=[s.tool.name for s in found]):
            return False
        before = len(executor.all_results)
        slots = self._put_beside(failed, [s.tool for s in found], finished)
        await self._ask(self._job, slots, *layer, (_build_gap(failed),))
        return self._served(failed, executor.all_results[before:])

    def _beyond(self, failed: Failed, spent: frozenset[str]) -> list[Substitute]:
        """Substitutes that only the whole catalogue has; looked for once a tool. They come into
        view.
        """
        job, tool = self._job, self._tools[failed.call.tool]
        if job.reserve is None or (tool.name, "twin") in self._sought:
            return []
        self._sought.add((tool.name, "twin"))
        others = job.reserve.find(f"{tool.name} {tool.description}", self._tools, _BEYOND)
        found = find_substitutes(failed, (tool, *others), spent, job.executor.sources, job.known)
        job.admit(one.tool for one in found)
        return found

    async def _retrieved(
        self, failed: Failed | None, layer: tuple[int, int], finished: set[str]
    ) -> bool:
        """Offer the model the tools that fit the request next best, and return True if one served.
        They replace a failed tool, or follow an empty result.
        """
        job = self._job
        if job.reserve is None or "retrieve" not in self._ways or self._exhausted:
            return False
        if failed is not None and not failed.final:
            return False
        self._exhausted = True
        others = job.reserve.find(job.query, self._tools, _BEYOND)
        if failed is not None:
            others = tuple(
                t for t in others if is_no_worse(t.effects, self._tools[failed.call.tool].effects)
            )
        others = others[:_OFFERED]
        if not others or not self._step("retrieve", failed, offered=[t.name for t in others]):
            return False
        job.admit(others)
        before = len(job.executor.all_results)
        slots = self._put_beside(failed, others, finished)
        await self._ask(job, slots, *layer, (_build_gap(failed),) if failed else ())
        return self._served(failed, job.executor.all_results[before:])

    def _providers(self, left: Sequence[Failed]) -> None:
        """Tools beyond the shortlist that may give the values which calls lacked come into view."""
        job = self._job
        for failed in left if job.reserve is not None else ():
            tool = self._tools[failed.call.tool]
            if (
                failed.final
                or failed.empty
                or not failed.blamed
                or (tool.name, "value") in self._sought
            ):
                continue
            self._sought.add((tool.name, "value"))
            assert job.reserve is not None
            others = job.reserve.find(
                _describe_parameters(tool, failed.blamed), self._tools, _BEYOND
            )
            able = find_feeders(tool, failed.blamed, others)[:_OFFERED]
            job.admit(t for t in others if t.name in able)

    def _served(self, failed: Failed | None, results: Sequence[ToolResult]) -> bool:
        good = [r for r in results if r.ok]
        if (
            good and failed is not None and not failed.empty
        ):  # that there is nothing is a result of its own
            self._made_good_by(failed, good[0])
        return bool(good)

    def _made_good_by(self, failed: Failed, result: ToolResult) -> None:
        executor = self._job.executor
        executor.mark_replaced(failed.call.tool)
        if failed.call.id in {r.id for r in executor.results}:
            executor.supersede([failed.call.id], result.id, f"made good by {result.tool}")

    def _put_beside(
        self, failed: Failed | None, tools: Sequence[Tool], finished: set[str]
    ) -> tuple[Slot, ...]:
        """Slots for these tools where the failed one stands in the plan; those that it lacks are
        added to it.
        """
        job = self._job
        known = {slot.tool: slot for slot in job.plan.slots}
        at = failed.call.slot if failed else ""
        place = next((s for s in job.plan.slots if s.id == at), Slot("", ""))
        why = (
            f"stands in for {failed.call.tool}" if failed else "found when nothing else had helped"
        )
        made = [Slot(t.name, t.name, place.after, why) for t in tools if t.name not in known]
        if made:
            job.plan = job.plan.grown(*made)
            job.record_plan()
            finished |= {slot.id for slot in made}
        known |= {slot.tool: slot for slot in made}
        return tuple(known[tool.name] for tool in tools)

    def _made_good(self) -> None:
        """Calls of tools that were offered again, where as many have succeeded since."""
        executor = self._job.executor
        for name, failed in self._again.items():
            since = [
                r for r in executor.results if r.ok and r.tool == name and r.id not in self._judged
            ]
            if len(since) >= len(failed):
                for one in failed:
                    self._made_good_by(one, since[0])
                failed.clear()

    def _layered_anew(self, left: Sequence[Failed], finished: set[str]) -> None:
        """Tools that came too early are offered again, in a plan of what is left; each once in a
        run.
        """
        job = self._job
        self._providers(left)
        open_ = {slot.tool for slot in job.plan.slots if slot.id not in finished}
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
        self._judged |= {r.id for r in job.executor.all_results}
        job.executor.reopen({f.call.id for many in self._again.values() for f in many})
        named = {tool for tools in waits.values() for tool in tools} - job.executor.succeeded
        tools = [t for t in job.tools if t.name in open_ | named | waits.keys()]
        names = [t.name for t in tools]
        why = {
            name: f"offered again, after {', '.join(sorted(set(w)))}: its call had failed"
            for name, w in waits.items()
        }
        job.revise(
            finished, lambda: relayer_plan(job.planner.plan(job.query, tools), names, waits, why)
        )

    def _still_to_come(self, failed: Failed, open_: Collection[str]) -> tuple[str, ...]:
        """The tools that may give what the call lacked and have not been heard yet, or not before
        it was made.

        ``open_`` are the tools of slots that are not finished. None where the failure blames no
        value and names no tool: then an order was not what was wrong.
        """
        job = self._job
        tool = self._tools[failed.call.tool]
        named = names_another(failed.message, tool.name, self._tools)
        may_help = dict.fromkeys(
            (*named, *(find_feeders(tool, failed.blamed, job.tools) if failed.blamed else ()))
        )
        layer = _get_layer(job, failed.call.slot)
        beside = {r.tool for r in job.executor.results if r.ok and r.slot in layer}
        called = job.executor.succeeded
        return tuple(
            name for name in may_help if name in open_ or name in beside or name not in called
        )

    def _step(self, step: str, failed: Failed | None, **more: object) -> bool:
        """One step from the budget. What is tried and why is recorded."""
        if not self._job.executor.granted():
            return False
        told = {"tool": "", "failed": "", "message": ""}
        if failed is not None:
            told = {
                "tool": failed.call.tool,
                "failed": failed.call.id,
                "message": failed.message[:NOTE],
            }
        self._job.trace.add("recovery", step=step, **told, **more)
        return True


def _get_layer(job: Job, slot: str) -> frozenset[str]:
    """The slots of the layer in which a slot stands."""
    rows = (frozenset(s.id for s in layer) for layer in job.plan.layers)
    return next((row for row in rows if slot in row), frozenset())


def _describe_parameters(tool: Tool, keys: Collection[str]) -> str:
    """Parameters of a tool in words, for a search of what may provide them."""
    parts = [tool.properties.get(key) for key in keys]
    about = [str(part.get("description", "")) if isinstance(part, dict) else "" for part in parts]
    return " ".join(f"{key} {said}".strip() for key, said in zip(keys, about, strict=True))


def _build_gap(failed: Failed) -> Gap:
    return failure_gap(failed.call.tool, failed.arguments, failed.message)
