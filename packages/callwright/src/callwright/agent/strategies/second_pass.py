"""The second pass of :mod:`agent.strategies.layered`: what the request still lacks after the last
layer, found and closed.

A loop asks the model after every step what is missing, and a small model forgets the second of two
names every time. Here the results themselves say what is missing (:mod:`agent.gaps`), and most of
it needs no question at all.

It is an option, off by default (``Layered(second_pass=True)``, ``--strategy layered-second-pass``).
The pass goes by the form of names, and a name is not a wish: of "Not in Oslo, I know that already"
it looks up Oslo.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from callwright.agent.gaps import Gap, find_gaps, find_ungrounded
from callwright.agent.strategies.job import Job
from callwright.agent.words import extract_stems
from callwright.language.tokens import split_name
from callwright.nouns.plan import Slot
from callwright.nouns.types import CheckedCall, Json, Tool, ToolCall
from callwright.planning.schema_order import find_claims
from callwright.schema.keys import split_words
from callwright.schema.value_spellings import calendar_day

AskLayer: TypeAlias = Callable[[Job, tuple[Slot, ...], int, int, tuple[Gap, ...]], Awaitable[None]]
"""Puts the tools of some slots to the model: job, slots, number of the layer, of how many, what is
open.
"""

_ROUNDS, _AT_ONCE = 4, 8  # of calls by analogy
_NOW = extract_stems("date day today clock time current calendar")


async def close_gaps(job: Job, ask: AskLayer, index: int) -> None:
    """Once more through the layers that can close what is open, if anything is (see
    :mod:`agent.gaps`).

    By analogy first. Then ``ask`` puts the layers of the tools that can close the rest to the model
    once more, the last of which had the number ``index``; it stops as soon as nothing is open.
    """
    await _call_by_analogy(job)
    found = _list_open_gaps(job)
    tools = _list_closing_tools(job, found)
    if not tools:
        return
    job.trace.add("note", text="still open: " + "; ".join(gap.note for gap in found))
    for slots in _group_by_layer(job, tools):
        if not (found := _list_open_gaps(job)):
            return
        index += 1
        await ask(job, slots, index, index, found)


async def _call_by_analogy(job: Job) -> None:
    """Calls by analogy, without a question: what was looked up for one name is looked up for the
    names beside it.

    And what tells the day is asked where a call waits for one. Reading tools only. What is found
    opens the next gap along the plan, so a few rounds are made.
    """
    reads = {t.name for t in job.tools if t.effects.read_only}
    for _ in range(_ROUNDS):
        found = _list_open_gaps(job)
        like = [call for gap in found for call in gap.like if call.tool in reads]
        like += [ToolCall("", name, {}) for name in _list_day_tools(job, found)]
        before = len(job.executor.results)
        if like:
            job.trace.add("note", text=f"by analogy: {', '.join(call.tool for call in like)}")
            await job.executor.execute(like[:_AT_ONCE], {call.tool for call in like}, by="analogy")
        if len(job.executor.results) == before:
            return


def _list_open_gaps(job: Job) -> tuple[Gap, ...]:
    tool = {slot.id: slot.tool for slot in job.plan.slots}
    edges = ((tool[a], tool[b]) for a, b in job.plan.edges)
    good = job.executor.succeeded
    waiting = [
        Gap(f"{name} waits: {_find_wait_reason(job, name)}", name)
        for name in job.executor.deferred
        if name not in good
    ]
    return (*waiting, *find_gaps(job.query, job.executor.results, job.tools, edges))


def narrow_tool(job: Job, tool: Tool) -> Tool:
    """A tool whose call waits, as it is shown in the second pass: what is missing can only be one
    of the values that results hold under such a name, a missing day one of the days seen. The gate
    judges by the tool's own schema.
    """
    sources = job.executor.sources
    parts: dict[str, list[Json]] = {}
    for call in job.executor.deferred.get(tool.name, ()):
        for warning in call.warnings:
            key = warning.path.removeprefix("/")
            if isinstance(warning.got, str) and calendar_day(warning.got) is not None:
                parts[key] = [day for day in sources.days() if day not in call.arguments.values()]
            elif isinstance(warning.got, str):
                alike = [k for k in tool.properties if split_words(k)[-1:] == split_words(key)[-1:]]
                parts |= dict.fromkeys(alike, sources.under(key))
    enums = {
        key: {"enum": values} for key, values in parts.items() if values and key in tool.properties
    }
    properties = {**tool.properties, **enums}
    return (
        replace(tool, input_schema={**tool.input_schema, "properties": properties})
        if enums
        else tool
    )


def _list_day_tools(job: Job, found: tuple[Gap, ...]) -> tuple[str, ...]:
    """The tools that need nothing and tell the date or time, where a call waits with a date from
    nowhere.
    """
    held = job.executor.deferred
    waits = any(_is_missing_day(call, job) for gap in found for call in held.get(gap.tool, ()))
    called = {r.tool for r in job.executor.results}
    tellers = (
        t
        for t in job.tools
        if waits and t.effects.read_only and not t.properties and t.name not in called
    )
    return tuple(
        t.name
        for t in tellers
        if _NOW & extract_stems(f"{' '.join(split_name(t.name))} {t.description}")
    )


def _is_missing_day(call: CheckedCall, job: Job) -> bool:
    """Return True if the call waits for a day."""
    value = find_ungrounded(call, job.executor.sources)
    got = value.got if value is not None else None
    return isinstance(got, str) and calendar_day(got) is not None


def _find_wait_reason(job: Job, name: str) -> str:
    return next(
        (s.reason for s in reversed(job.executor.skips) if s.tool == name and s.refused),
        "a value is missing",
    )


def _list_closing_tools(job: Job, found: tuple[Gap, ...]) -> frozenset[str]:
    """The tools that may close these gaps, with what was called on their results.

    For a failed or waiting call: the tools that its error names, those that feed it (for a waiting
    one also those that need nothing: they tell the day, the user, the place), then its own; where
    there are none and nothing was found since, nothing could tell the model more than it knew. For
    anything else the tool itself.
    """
    feeds = find_claims(job.tools)
    good = job.executor.succeeded
    wanted: set[str] = set()
    for gap in found:
        sources = {c.producer for c in feeds if c.consumer == gap.tool}
        if gap.tool in job.executor.deferred:
            sources |= {t.name for t in job.tools if t.effects.read_only and not t.required}
            sources -= good
        sources |= {*gap.named}
        missed = gap.tool in job.executor.deferred or any(
            not r.ok and r.tool == gap.tool for r in job.executor.results
        )
        came = len(job.executor.all_results)
        since = job.executor.lacking.get(gap.tool, came) < came
        if sources or since or not missed:
            wanted |= {gap.tool, *(sources if missed else ())}
    called = {r.tool for r in job.executor.results}
    wanted |= {slot.tool for slot in job.plan.slots if slot.tool in called and slot.after & wanted}
    done = {
        t.name for t in job.tools if t.name in good and (t.effects.may_write or not t.properties)
    }
    return frozenset(
        wanted - done
    )  # what was written is not written again, and the same question has one answer


def _group_by_layer(job: Job, names: frozenset[str]) -> list[tuple[Slot, ...]]:
    """The slots of these tools, layer by layer; tools that were not in the plan stand first: they
    were missed.
    """
    planned = {slot.tool for slot in job.plan.slots}
    missed = tuple(Slot(name, name) for name in sorted(names - planned))
    rows = [tuple(s for s in layer if s.tool in names) for layer in job.plan.layers]
    return [row for row in (missed, *rows) if row]
