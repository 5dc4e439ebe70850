"""Finds what is still open after the last layer of :mod:`agent.strategies.layered`, and the tools
that can close it: the subject of one more question to the model.

A loop asks the model after every step what is missing, and a small model forgets the second of two
records every time. Here calls, results and the plan's edges say it (:mod:`agent.gaps`): a call that
waits for a value, a call that failed, a record that no later call took up. No call is made of it:
the model is told, and decides. Where nothing is open, or nothing that is offered could close it,
nothing is asked. A frozen plan holds: only its tools are offered again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from callwright.agent.gaps import Gap, find_gaps
from callwright.agent.step import StepContext, Steps
from callwright.language.again import asks_again
from callwright.language.tokens import split_identifier
from callwright.nouns.plan import Slot
from callwright.nouns.types import Json, Tool
from callwright.planning.schema_order import find_claims
from callwright.schema.value_spellings import calendar_day

AskLayer: TypeAlias = Callable[
    [StepContext, tuple[Slot, ...], int, int, tuple[Gap, ...]], Steps[None]
]
"""Puts the tools of some slots to the model: context, slots, number of the layer, of how many, what
is open.
"""


class OpenPoints(NamedTuple):
    """``gaps`` are what is open, ``slots`` those of the tools that can close it; both are empty
    where nothing is to be asked. ``missed`` are the slots that the plan lacks.
    """

    gaps: tuple[Gap, ...] = ()
    slots: tuple[Slot, ...] = ()
    missed: tuple[Slot, ...] = ()


def find_open_points(context: StepContext, seen: Collection[str] = ()) -> OpenPoints:
    """Return what is open, and what can close it. ``seen``: tools whose failed calls the model was
    told of when it was offered them again.
    """
    found = tuple(gap for gap in list_open_gaps(context) if gap.tool not in seen)
    names = _list_closing_tools(context, found)
    if not names:
        return OpenPoints()
    planned = {slot.tool: slot for slot in reversed(context.plan.slots)}
    missed = tuple(Slot(name, name) for name in sorted(names - planned.keys()))
    slots = tuple(slot for slot in context.plan.slots if planned[slot.tool] is slot)
    return OpenPoints(found, (*missed, *(s for s in slots if s.tool in names)), missed)


def list_open_gaps(context: StepContext) -> tuple[Gap, ...]:
    """Return what is open: calls that wait for a value, then what results and the plan's edges
    leave."""
    tool = {slot.id: slot.tool for slot in context.plan.slots}
    edges = ((tool[a], tool[b]) for a, b in context.plan.edges)
    good = context.facts.succeeded
    waiting = [
        Gap(f"{name} waits: {_find_wait_reason(context, name)}", name)
        for name in context.facts.deferred
        if name not in good
    ]
    done = good | context.facts.state.replaced
    left = find_gaps(context.query, context.facts.results, context.tools, edges)
    failed = {result.tool for result in context.facts.results if not result.ok}
    open_ = (gap for gap in left if gap.tool not in failed or gap.tool not in done)
    return (*waiting, *open_, *_list_outdated_reads(context))


def narrow_tool(context: StepContext, tool: Tool) -> Tool:
    """A tool whose call waits, as it is shown with what is open: what is missing can only be one of
    the values that results hold under such a name, a missing day one of the days seen. The gate
    judges by the tool's own schema.
    """
    sources = context.facts.sources
    parts: dict[str, list[Json]] = {}
    for call in context.facts.deferred.get(tool.name, ()):
        for warning in call.warnings:
            key = warning.path.removeprefix("/")
            if isinstance(warning.got, str) and calendar_day(warning.got) is not None:
                parts[key] = [day for day in sources.days() if day not in call.arguments.values()]
            elif isinstance(warning.got, str):
                alike = [
                    k
                    for k in tool.properties
                    if split_identifier(k)[-1:] == split_identifier(key)[-1:]
                ]
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


def list_waiting(
    context: StepContext, slots: Iterable[Slot], finished: Container[str]
) -> list[str]:
    """The tools of these slots whose calls wait for a value that stands nowhere: what writes, and
    what only reads where another tool may yet give the value. That is one of the plan that has had
    no turn, or has it now; not a write that waits for the reader itself. Or it is a tool that needs
    nothing.
    """
    tools = {tool.name: tool for tool in context.tools}
    unheard = tools.keys() - context.facts.succeeded
    writes = {name for name in unheard if tools[name].effects.declares_write}
    anywhere = {name for name in unheard if _is_needless(tools[name])}
    now = [slot for slot in slots if slot.tool in tools]
    left = [slot for slot in context.plan.slots if slot.id not in finished]

    def may_wait(slot: Slot) -> bool:
        behind = context.plan.behind([slot.id])
        coming = {s.tool for s in (*left, *now) if s.tool not in writes or s.id not in behind}
        return slot.tool in writes or bool(((coming & unheard) | anywhere) - {slot.tool})

    return [slot.tool for slot in now if may_wait(slot)]


def _list_outdated_reads(context: StepContext) -> Iterator[Gap]:
    """The gaps of reads before a write that no read followed, where the request asks for something
    once more: "see again how many are left".
    """
    if asks_again(context.query) is not True:
        return
    effects = {tool.name: tool.effects for tool in context.tools}
    last: dict[str, int] = {}
    written = -1
    for place, result in enumerate(context.facts.results):
        does = effects.get(result.tool)
        if does is not None and result.ok and does.read_only:
            last[result.tool] = place
        elif does is not None and result.ok and does.declares_write:
            written = place
    for name, place in last.items():
        if place < written:
            yield Gap(f"{name} was called before {context.facts.results[written].tool}", name)


def _find_wait_reason(context: StepContext, name: str) -> str:
    return next(
        (s.reason for s in reversed(context.facts.skips) if s.tool == name and s.refused),
        "a value is missing",
    )


def _list_closing_tools(context: StepContext, found: tuple[Gap, ...]) -> frozenset[str]:
    """The tools that may close these gaps.

    For a failed or waiting call: the tools that its error names and those that feed it (for a
    waiting one also those that need nothing: they tell the day, the user, the place), as far as
    they were not heard yet, then its own; where there are none, nothing could tell the model more
    than it knew. For a record that was passed over the tool itself.
    """
    feeds = find_claims(context.tools)
    good = context.facts.succeeded
    readers = {tool.name for tool in context.tools if tool.effects.read_only}
    needless = {tool.name for tool in context.tools if _is_needless(tool)}
    failed = {result.tool for result in context.facts.results if not result.ok}
    wanted: set[str] = set()
    for gap in found:
        waits = gap.tool in context.facts.deferred
        if not waits and gap.tool not in failed:
            wanted.add(gap.tool)
            continue
        sources = {c.producer for c in feeds if c.consumer == gap.tool} & readers
        sources |= needless if waits else set()
        unheard = (sources | {*gap.named}) - good - {gap.tool}
        if helping := context.facts.freeze.tools(unheard):
            wanted |= {gap.tool, *helping}
    outdated = {gap.tool for gap in found} & readers  # a write has been made since
    done = {t.name for t in context.tools if t.name in good and _is_done(t)} - outdated
    undoing = {tool.name for tool in context.tools if tool.compensates}
    return context.facts.freeze.tools(wanted - done - undoing)


def _is_needless(tool: Tool) -> bool:
    """Return True if a tool reads and needs no value: it tells the day, the user, the place."""
    return tool.effects.read_only and not tool.required


def _is_done(tool: Tool) -> bool:
    """Return True if a tool that succeeded is not called again: what was written is not written
    again, and the same question has one answer.
    """
    return tool.effects.may_write or not tool.properties
