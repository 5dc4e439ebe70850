"""Right calls spoiled in classes that the corruption board lacks, for ``thresholds.py made``.

Each class is named after the edit rule that should repair it. A call in which a class has no place
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from callwright.nouns.types import Json, JsonObject, Message, Tool, ToolCall
from callwright_lab.benchmarks.refine.task import Task

UNITS = re.compile(r"\b(km|kilometers|miles|meters|kg|grams|celsius|days|hours|minutes|seconds)\b")


class MadeCase(NamedTuple):
    """Calls as a model could write them, what was called earlier, and the calls that are right."""

    calls: tuple[ToolCall, ...]
    expected: tuple[ToolCall, ...]
    earlier: tuple[Message, ...] = ()


def _wrap_arguments(task: Task) -> Iterator[MadeCase]:
    for call, key in ((task.gold[0], "arguments"), (task.gold[0], task.gold[0].tool)):
        wrapped: JsonObject = {key: call.arguments}
        if key not in _find_tool(task, call).properties:
            yield MadeCase((replace(call, arguments=wrapped), *task.gold[1:]), task.gold)


def _slip_in_option(task: Task) -> Iterator[MadeCase]:
    """An option with its third letter left out, which is no other option."""
    for key, part, value in _iter_values(task):
        options = part.get("enum")
        if isinstance(options, list) and isinstance(value, str) and len(value) >= 6:
            slipped = value[:2] + value[3:]
            if value in options and slipped not in options:
                yield _respell(task, key, slipped)


def _write_unit(task: Task) -> Iterator[MadeCase]:
    """A number with the unit that its description names."""
    for key, part, value in _iter_values(task):
        unit = UNITS.search(str(part.get("description")))
        if isinstance(value, int | float) and not isinstance(value, bool) and unit:
            yield _respell(task, key, f"{value} {unit[0]}")


def _group_with_dots(task: Task) -> Iterator[MadeCase]:
    """A number of thousands as German groups it, where the request states it with commas."""
    for key, _, value in _iter_values(task):
        if type(value) is int and value >= 1000 and f"{value:,}" in task.query:
            yield _respell(task, key, f"{value:,}".replace(",", "."))


def _add_empty_call(task: Task) -> Iterator[MadeCase]:
    for name in ("none", "no_tool"):
        yield MadeCase((*task.gold, ToolCall("call_x", name, {})), task.gold)


def _add_unknown_call(task: Task) -> Iterator[MadeCase]:
    yield MadeCase((*task.gold, ToolCall("call_x", "final_answer", {"text": "Done."})), task.gold)


def _repeat_earlier_call(task: Task) -> Iterator[MadeCase]:
    """The first of several gold calls was made in an earlier turn, and is written again."""
    first, *rest = task.gold
    if rest and all(call.arguments != first.arguments for call in rest):
        told = Message("tool", "{}", tool_call_id=first.id)
        yield MadeCase(
            task.gold, tuple(rest), (Message("assistant", "", tool_calls=(first,)), told)
        )


def _find_tool(task: Task, call: ToolCall) -> Tool:
    return next(tool for tool in task.tools if tool.name == call.tool)


def _iter_values(task: Task) -> Iterator[tuple[str, JsonObject, Json]]:
    """Every argument of the first gold call: its key, its schema and its value."""
    call = task.gold[0]
    if isinstance(call.arguments, dict):
        parts = _find_tool(task, call).properties
        yield from ((key, parts[key], value) for key, value in call.arguments.items())


def _respell(task: Task, key: str, value: Json) -> MadeCase:
    call = task.gold[0]
    assert isinstance(call.arguments, dict)
    spoiled = replace(call, arguments={**call.arguments, key: value})
    return MadeCase((spoiled, *task.gold[1:]), task.gold)


CLASSES: Mapping[str, Callable[[Task], Iterator[MadeCase]]] = {
    "unwrap_arguments": _wrap_arguments,
    "option_meaning": _slip_in_option,
    "unit_left_out": _write_unit,
    "number_as_said": _group_with_dots,
    "no_call": _add_empty_call,
    "ghost_call": _add_unknown_call,
    "already_called": _repeat_earlier_call,
}


def iter_cases(rule: str, tasks: Sequence[Task]) -> Iterator[tuple[Task, MadeCase]]:
    """Every case of one class."""
    for task in tasks:
        yield from ((task, case) for case in CLASSES[rule](task))
