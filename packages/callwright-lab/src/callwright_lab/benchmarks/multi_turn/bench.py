"""``callwright bench multi-turn``: strategies against each other on BFCL's executable multi-turn
scenarios.

A task is one turn of a scenario of ``multi_turn_base``: the turns before it were carried out as
gold says, and stand in the conversation with their calls and replies; the turn's request is the
query, and every tool of the scenario's classes is offered. Right is what BFCL's own checks say: the
state after the run is gold's, and gold's replies are among those that came. The answer in words is
not judged.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import Limits
from callwright.nouns.types import (
    CheckedCall,
    JsonObject,
    Message,
    Tool,
    ToolCall,
    ToolOutput,
    ToolResult,
    compute_digest,
    to_canonical_json,
)
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright_lab.benchmarks.comparison.comparison import build_parser, compare_strategies
from callwright_lab.benchmarks.comparison.task_sets import Half, Stage, hash_text, split_halves
from callwright_lab.benchmarks.multi_turn.worlds import (
    World,
    WorldSource,
    check_turn,
    list_offered_tools,
    parse_gold_calls,
)
from callwright_lab.benchmarks.refine.bfcl import (
    REQUIREMENT,
    read_ground_truths,
    read_lines,
    unpack_folder,
)

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Run

DATA = "bfcl_eval/data/BFCL_v4_multi_turn_base.json"
GOLD = "bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json"
LIMITS = Limits(
    seconds=3600.0
)  # thirty tools in view: a busy CPU must not end a run before its other limits do
DRAWN = {"1 call": 24, "2 calls": 28, "3 to 6 calls": 28}
"""How many tasks of each kind are drawn: half of each kind goes to each half."""
FROZEN: dict[Half, str] = {
    "dev": (
        "62.3 199.1 183.5 47.1 162.1 135.1 130.2 48.0 8.2 91.1 120.2 82.2 125.4 75.0 109.5 187.3"
        " 159.1 157.0 37.0 151.0 80.3 65.1 94.2 86.0 22.3 178.0 90.0 169.0 88.2 0.3 24.1 197.0 74.0"
        " 160.0 63.1 84.0 76.0 113.1 71.0 60.0"
    ),
    "final": (
        "49.0 153.1 188.4 196.0 166.2 128.1 192.1 27.1 51.0 112.0 161.2 152.2 127.1 7.2 20.0 35.1"
        " 97.0 141.0 184.1 92.3 38.0 121.1 95.0 43.3 180.0 83.1 61.0 19.1 168.4 85.1 44.0 186.5"
        " 70.1 156.0 36.1 46.0 99.1 171.0 81.1 77.0"
    ),
}
"""What :func:`draw_turns` drew of :func:`list_eligible_turns` on 2026-11-22, before any run: scenario and turn."""


@dataclass(frozen=True)
class Turn:
    """One turn of a scenario. ``gold`` are the calls of its turns up to and with this one."""

    row: JsonObject = field(repr=False)
    number: int
    gold: tuple[tuple[ToolCall, ...], ...]
    half: Half = "dev"

    @property
    def id(self) -> str:
        return f"{self.row['id'].removeprefix('multi_turn_')}.{self.number}"

    @property
    def kind(self) -> str:
        count = len(self.gold[-1])
        if count == 1:
            return "1 call"
        if count == 2:
            return "2 calls"
        return "3 to 6 calls"

    @property
    def query(self) -> str:
        return _get_request(self.row, self.number)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return list_offered_tools(self.row)


def _get_request(row: JsonObject, number: int) -> str:
    text: str = row["question"][number][0]["content"]
    return text


def _replay_history(turn: Turn) -> tuple[World, tuple[Message, ...]]:
    """The world before the turn, and what was said until then: each request, and gold's calls with
    their replies.
    """
    world = World(turn.row)
    talk: list[Message] = []
    for number, calls in enumerate(turn.gold[:-1]):
        start = len(world.said)
        world.play(calls)
        talk += _build_messages(_get_request(turn.row, number), calls, world.said[start:])
    return world, tuple(talk)


def _build_messages(
    request: str, calls: Sequence[ToolCall], replies: Sequence[str]
) -> tuple[Message, Message]:
    lines = [
        f"{c.tool}({to_canonical_json(c.arguments)}) -> {said}"
        for c, said in zip(calls, replies, strict=True)
    ]
    return Message("user", request), Message("assistant", "\n".join(lines) or "Nothing was called.")


class MultiTurn:
    """The frozen turns, in the order of their draw.

    The rule, fixed before any run: of the turns whose gold has one to six calls, none of them
    answered by an error and all of them let through by the gate as they stand (their schemas hold,
    and every identifier was said or returned before), each kind's first by the sha256 of their ids,
    at most one of a scenario.
    """

    @cached_property
    def tasks(self) -> tuple[Turn, ...]:
        rows = {row["id"]: row for row in read_lines(unpack_folder() / DATA)}
        gold = read_ground_truths(unpack_folder() / GOLD)
        half_of = {f"base_{name}": half for half, names in FROZEN.items() for name in names.split()}
        return tuple(
            _build_turn(rows, gold, name, half_of[name]) for name in sorted(half_of, key=hash_text)
        )

    @cached_property
    def digest(self) -> str:
        gold = [
            [t.id, t.half, t.kind, t.query, [c.arguments for c in t.gold[-1]]] for t in self.tasks
        ]
        return compute_digest(
            [REQUIREMENT, [t.digest for turn in self.tasks for t in turn.tools], gold]
        )

    @contextmanager
    def stage(self, task: Turn) -> Iterator[Stage]:
        """The scenario in a world of its own, as gold left it before the turn."""
        world, talk = _replay_history(task)
        asked = len(world.said)

        def judge(run: Run) -> Sequence[str]:
            if len(world.said) == asked:
                return [
                    "nothing was called" if not run.results else "no call reached the environment"
                ]
            gold, _ = _replay_history(task)
            start = len(gold.said)
            gold.play(task.gold[-1])
            return check_turn(world, gold, gold.said[start:], task.number)

        yield Stage([WorldSource(world, task.tools)], judge, conversation=talk)


def _build_turn(
    rows: Mapping[str, JsonObject], gold: Mapping[str, list[list[str]]], name: str, half: Half
) -> Turn:
    scenario, _, number = name.partition(".")
    row = rows[f"multi_turn_{scenario}"]
    texts = gold[row["id"]][: int(number) + 1]
    return Turn(
        row,
        int(number),
        tuple(parse_gold_calls(turn, list_offered_tools(row)) for turn in texts),
        half,
    )


def list_eligible_turns() -> list[Turn]:
    """The turns that may be drawn."""
    gold = read_ground_truths(unpack_folder() / GOLD)
    return [
        turn
        for row in read_lines(unpack_folder() / DATA)
        for turn in _iter_turns(row, gold[row["id"]])
    ]


def _iter_turns(row: JsonObject, gold: Sequence[Sequence[str]]) -> Iterator[Turn]:
    """The turns of one scenario that may be drawn, up to the first whose gold cannot be carried
    out.
    """
    world, tools = World(row), list_offered_tools(row)
    gate = Gate(tools)
    past: tuple[tuple[ToolCall, ...], ...] = ()
    talk: list[Message] = []
    for number, texts in enumerate(gold):
        try:
            calls = parse_gold_calls(texts, tools)
        except ConfigError:
            return
        start = len(world.said)
        outputs = world.play(calls)
        if any(output.failure for output in outputs):
            return
        past = (*past, calls)
        if 1 <= len(calls) <= 6 and _is_accepted(
            gate, ProvenanceIndex(_get_request(row, number), talk), calls, outputs
        ):
            yield Turn(row, number, past)
        talk += _build_messages(_get_request(row, number), calls, world.said[start:])


def _is_accepted(
    gate: Gate, sources: ProvenanceIndex, calls: Sequence[ToolCall], outputs: Sequence[ToolOutput]
) -> bool:
    """Return True if the gate accepts the gold calls unchanged: their schemas hold and every
    identifier is grounded.
    """
    for call, output in zip(calls, outputs, strict=True):
        checked = gate.check(call, sources)
        if not isinstance(checked, CheckedCall) or checked.edits:
            return False
        sources.add_result(ToolResult(call.id, call.tool, checked.arguments, output.content))
    return True


def draw_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The first of every kind by digest, with their halves; a scenario gives one task at most, and
    the kinds with the most calls choose first.
    """
    chosen: dict[str, Turn] = {}
    for kind, count in reversed(DRAWN.items()):
        full = len(chosen) + count
        for turn in sorted((t for t in turns if t.kind == kind), key=lambda t: hash_text(t.id)):
            if len(chosen) < full:
                chosen.setdefault(turn.row["id"], turn)
    half_of = split_halves((turn.id, turn.kind) for turn in chosen.values())
    made = (replace(turn, half=half_of[turn.id]) for turn in chosen.values())
    return tuple(sorted(made, key=lambda t: hash_text(t.id)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the tables."""
    about = (__doc__ or "").partition(": ")[2].partition("\n")[0]
    known = build_parser("multi-turn", about, Path("runs/multi-turn/results.jsonl"))
    return compare_strategies(known.parse_args(arguments), MultiTurn, LIMITS)


if __name__ == "__main__":
    sys.exit(main())
