"""``callwright bench gateway``: right and spoiled calls on the gateway's way of a call.

A gateway sees one call at a time and no conversation. So a spoiled call counts as answerable where
the call itself still tells what was meant; of the others it is counted how many were refused with a
text that says what to change. A spoiled call that the tool's schema accepts all the same, because it
takes any key, is no malformed one: it is ``accepted`` where it is passed on as it is. Names are never
repaired there: a call of an unknown tool is refused, and is ``named`` where the text names the right
one. A right call has to reach its server with the same arguments, byte for byte in their JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from callwright.jsontext import write
from callwright.nouns.errors import CallwrightError
from callwright.nouns.types import CheckedCall, JsonObject, Tool, ToolCall, to_canonical_json
from callwright.repair.gate import Gate
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.gateway.call_path import (
    find_offered_name,
    offer_tools,
    send_call,
)
from callwright_lab.benchmarks.harm.gold import GoldCase, all_cases
from callwright_lab.benchmarks.refine.corrupt import gold_tasks, iter_corruptions
from callwright_lab.benchmarks.refine.task import Task
from callwright_lab.datasets.sources import data_root
from callwright_lab.training.refiner.corruption import KINDS, corrupt

TOLD = (
    "object_as_text", "array_as_text", "scalar_for_array", "array_of_one", "number_as_text",
    "boolean_as_text", "null_as_text", "locale_number", "enum_case", "enum_spacing", "schema_echo",
    "key_case", "key_prefix_lost", "ghost_argument",
)  # fmt: skip
"""Errors in the arguments of a call after which the call tells what was meant."""
TEXTS = (
    "fence", "prose", "extra_closer", "single_quotes", "python_literals", "trailing_comma",
)  # fmt: skip
"""Errors of arguments that a client sends as text."""
LOST = ("required_missing", "schema_echo_lost", "truncated", "missing_closer")
"""Errors after which only the conversation could tell what was meant. A text that ends too early may
have lost more than its bracket.
"""
NAMES = ("name_prefix_lost", "name_prefix_added", "name_suffix", "name_case", "name_typo")
AS_TEXT = "arguments_as_text"
_OF_TEXT = (AS_TEXT, *TEXTS, "truncated", "missing_closer")
CLASSES = (*TOLD, AS_TEXT, *TEXTS, *LOST, *NAMES)
_EXAMPLES = 3


@dataclass
class Tally:
    """Counts of one class. ``accepted``: passed on as they are, for their schema accepts them;
    ``wrong``: sent with other arguments than those that were meant.
    """

    calls: int = 0
    accepted: int = 0
    repaired: int = 0
    refused: int = 0
    wrong: int = 0
    named: int = 0
    examples: list[str] = field(default_factory=list)

    def add_example(self, text: str) -> None:
        """Keep one of the first calls that went wrong."""
        if len(self.examples) < _EXAMPLES:
            self.examples.append(text)


@dataclass
class RightCalls:
    """Calls whose arguments their tool's schema accepts. ``changed``: sent with other bytes;
    ``refused``: not sent.
    """

    calls: int = 0
    changed: int = 0
    refused: int = 0
    examples: list[str] = field(default_factory=list)


# ---------------------------------------------------------------- right calls


def measure_right_calls(cases: Iterable[GoldCase]) -> RightCalls:
    """Every call that its tool's schema accepts as it stands, alone."""
    counts = RightCalls()
    for case in cases:
        gate, catalog = Gate(case.tools), offer_tools(case.tools)
        for call in case.calls:
            if not isinstance(gate.as_written(call), CheckedCall):
                continue
            assert isinstance(call.arguments, dict)
            counts.calls += 1
            passed = send_call(catalog, find_offered_name(catalog, call.tool), call.arguments)
            is_same = passed.arguments is not None and write(passed.arguments) == write(
                call.arguments
            )
            counts.refused += passed.arguments is None
            counts.changed += passed.arguments is not None and not is_same
            if not is_same and len(counts.examples) < 10 * _EXAMPLES:
                said = passed.text or ", ".join(passed.rules)
                counts.examples.append(f"{case.id}: {call.tool} {said[:200]}")
    return counts


# ---------------------------------------------------------------- spoiled calls


@dataclass(frozen=True, slots=True)
class Spoiled:
    """One call with one error, and the call that was meant."""

    task: Task
    meant: ToolCall
    name: str
    arguments: object
    is_answerable: bool


def spoil_calls(tasks: Sequence[Task], kind: str, count: int, seed: int) -> Iterator[Spoiled]:
    """At most so many calls with an error of a kind, each from another place of the tasks."""
    if kind in _OF_TEXT:
        yield from _spoil_texts(tasks, kind, count, seed)
        return
    for task, made in iter_corruptions(tasks, kind, count, seed):
        for meant, spoiled in zip(made.expected, made.calls, strict=False):
            if spoiled != meant:
                is_answerable = made.answerable and kind not in LOST
                yield Spoiled(task, meant, spoiled.tool, spoiled.arguments, is_answerable)
                break


def _spoil_texts(tasks: Sequence[Task], kind: str, count: int, seed: int) -> Iterator[Spoiled]:
    """Arguments as text, with an error of text in them."""
    made = 0
    for task in tasks:
        for call in task.gold:
            if made >= count:
                return
            text = _spoil_text(task, call, kind, f"{kind} {seed} {task.id}")
            if text is not None:
                made += 1
                yield Spoiled(task, call, call.tool, text, kind not in LOST)


def _spoil_text(task: Task, call: ToolCall, kind: str, seed: str) -> str | None:
    text = json.dumps(call.arguments, ensure_ascii=False)
    if kind == AS_TEXT:
        return text
    found = corrupt([call], task.tools, kind, _hash_seed(seed), write=lambda _: text)
    if found is None or not (found.text or found.pieces):
        return None
    spoiled = found.text or "".join(found.pieces)
    return spoiled if spoiled != text else None


def _hash_seed(text: str) -> int:
    return int.from_bytes(text.encode()[-8:], "big")


def measure_class(spoiled: Iterable[Spoiled], kind: str) -> tuple[Tally, Tally]:
    """Count the ends of a class's calls: of those that tell what was meant, and of the others."""
    told, lost = Tally(), Tally()
    for one in spoiled:
        catalog, gate = offer_tools(one.task.tools), Gate(one.task.tools)
        tally = told if one.is_answerable and kind not in NAMES else lost
        tally.calls += 1
        meant = find_offered_name(catalog, one.meant.tool)
        name = one.name if kind in NAMES else meant
        arguments = one.arguments
        assert isinstance(arguments, dict | str)
        passed = send_call(catalog, name, arguments)
        if passed.arguments is None:
            tally.refused += 1
            tally.named += f"'{meant}'" in passed.text
        elif _is_meant(passed.tool, passed.arguments, one.meant):
            tally.repaired += 1
        elif passed.arguments == arguments and _is_accepted(gate, one.meant.tool, arguments):
            tally.accepted += 1
        else:
            tally.wrong += 1
        if tally is told and (passed.arguments is None or tally.wrong > len(tally.examples)):
            said = passed.refused or to_canonical_json(passed.arguments)[:200]
            given = to_canonical_json(arguments)[:200]
            tally.add_example(f"{kind} {one.task.id}: {one.meant.tool} {given} -> {said}")
    return told, lost


def _is_accepted(gate: Gate, tool: str, arguments: JsonObject | str) -> bool:
    return isinstance(gate.as_written(ToolCall("", tool, arguments)), CheckedCall)


def _is_meant(tool: str | None, arguments: object, meant: ToolCall) -> bool:
    return tool == meant.tool and to_canonical_json(arguments) == to_canonical_json(meant.arguments)


def close_schemas(task: Task) -> Task:
    """The task with tools whose schemas take no other key, as many servers' do."""

    def close(tool: Tool) -> Tool:
        return replace(tool, input_schema={**tool.input_schema, "additionalProperties": False})

    return replace(task, tools=tuple(map(close, task.tools)))


# ---------------------------------------------------------------- the report


def render_classes(found: Mapping[str, tuple[Tally, Tally]]) -> str:
    """One line a class, and the whole."""
    head = ["class", "answerable", "accepted", "repaired %", "refused", "sent wrong"]
    lines = [[*head, "others", "refused", "named %", "accepted", "sent"]]
    for kind, (told, lost) in found.items():
        lines.append([kind, *_render_told(told), *_render_lost(lost)])
    every = [told for told, _ in found.values()]
    whole = Tally(
        sum(one.calls for one in every),
        sum(one.accepted for one in every),
        sum(one.repaired for one in every),
        sum(one.refused for one in every),
        sum(one.wrong for one in every),
    )
    lines.append(["all", *_render_told(whole), "", "", "", "", ""])
    examples = [text for told, _ in found.values() for text in told.examples]
    return "\n".join([render_table(lines), "", *examples])


def _render_told(tally: Tally) -> list[str]:
    malformed = tally.calls - tally.accepted
    share = f"{100 * tally.repaired / malformed:.1f}" if malformed else "–"
    counts = (tally.refused, tally.wrong)
    return [str(tally.calls), str(tally.accepted), share, *map(str, counts)]


def _render_lost(tally: Tally) -> list[str]:
    share = f"{100 * tally.named / tally.calls:.1f}" if tally.calls else "–"
    sent = tally.calls - tally.refused - tally.accepted
    return [str(tally.calls), str(tally.refused), share, str(tally.accepted), str(sent)]


def render_right_calls(counts: RightCalls) -> str:
    """Harm and false refusals, and the first calls that they befell."""
    share = 100 / max(1, counts.calls)
    said = (
        f"right calls: {counts.calls}; changed {counts.changed} ({counts.changed * share:.3f} %),"
        f" refused {counts.refused} ({counts.refused * share:.3f} %)"
    )
    return "\n".join([said, *counts.examples])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "callwright bench gateway", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--bfcl", type=Path, help="bfcl_eval/data, for more right calls")
    parser.add_argument(
        "--count", type=int, default=300, help="spoiled calls a class [%(default)s]"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the spoiling [%(default)s]")
    parser.add_argument("--kinds", default=",".join(CLASSES), help="classes, with commas")
    parser.add_argument(
        "--closed", action="store_true", help="schemas that say that they take no other key"
    )
    parser.add_argument("--no-right-calls", action="store_true", help="spoiled calls only")
    given = parser.parse_args(arguments)
    try:
        tasks = [close_schemas(task) for task in gold_tasks()] if given.closed else gold_tasks()
        kinds = [kind for kind in given.kinds.split(",") if kind in (*KINDS, AS_TEXT)]
        found = {
            kind: measure_class(spoil_calls(tasks, kind, given.count, given.seed), kind)
            for kind in kinds
        }
        sys.stdout.write(render_classes(found) + "\n")
        if not given.no_right_calls:
            cases = all_cases(data_root(), given.bfcl)
            sys.stdout.write(render_right_calls(measure_right_calls(cases)) + "\n")
    except CallwrightError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
