"""The rows of a planner's run: what is learned from, what is reinforced on, what is measured on.

They come from the generator, whose parts they keep, or from data sets and files, which are parted
by the set of gold tools (:mod:`callwright_lab.datasets.splits`): fold 0 is measured on, fold 1
reinforced on, the rest learned from. After curation four fifths of what is reinforced on are
trained on and one fifth is watched, as in the paper.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.planning.arrows import build_question, is_connected, write_reply
from callwright.storage import lines
from callwright_lab.datasets.examples import PlanExample, add_distractors, collect_tools
from callwright_lab.datasets.files import example_from_row, gold_plan, to_row
from callwright_lab.datasets.splits import get_fold
from callwright_lab.transcripts import number_names

PARTS = ("test", "sft", "rl")
Parted = Mapping[str, Sequence[PlanExample]]
Chat = list[dict[str, str]]


def split_parts(examples: Iterable[PlanExample]) -> dict[str, list[PlanExample]]:
    """Examples of data sets by part, so that no set of gold tools is in two, each with an id of its
    own: files of two runs may name their rows alike.
    """
    found: dict[str, list[PlanExample]] = {part: [] for part in PARTS}
    listed = list(examples)
    for name, example in zip(number_names(e.id for e in listed), listed, strict=True):
        part = {0: "test", 1: "rl"}.get(get_fold(example), "sft")
        found[part].append(replace(example, id=name))
    return found


def mix_distractors(examples: Sequence[PlanExample], most: int) -> list[PlanExample]:
    """The examples with 0 to ``most`` tools that gold never calls, from the same source, drawn by
    the example's id.

    Most data sets offer gold's tools alone; learned from as they are, they teach to use whatever is
    offered.
    """
    spare = collect_tools(examples)
    counts = (random.Random(f"mixed {e.id}").randint(0, most) for e in examples)
    return [add_distractors(e, spare, count) for e, count in zip(examples, counts, strict=True)]


def write_rows(path: Path, rows: Parted) -> None:
    """The rows of all parts, one a line."""
    lines.write_rows(
        path, ({**to_row(e), "part": part} for part in PARTS for e in rows.get(part, ()))
    )


def read_rows(path: Path) -> dict[str, list[PlanExample]]:
    """The rows of a file by part; ConfigError names the line that holds none."""
    if not path.is_file():
        raise ConfigError(
            f"there are no rows in {path.parent}",
            hint="run the stage data first, or copy a data.jsonl",
        )
    found: dict[str, list[PlanExample]] = {part: [] for part in PARTS}
    for part, example in lines.read_rows(
        path, _parse_row, what="row of a plan", hint="write the file again with --stages data"
    ):
        found[part].append(example)
    return found


def _parse_row(row: Mapping[str, Any]) -> tuple[str, PlanExample]:
    example = example_from_row(row)
    if example is None or row["part"] not in PARTS:
        raise ValueError("its plan is no acyclic graph of its tools, or it has no part")
    return row["part"], example


def build_chat(example: PlanExample) -> Chat:
    """The question to a planner (:func:`callwright.planning.arrows.build_question`)."""
    return [
        {"role": m.role, "content": m.content}
        for m in build_question(example.query, example.tools).messages
    ]


def render_gold(example: PlanExample) -> str:
    """Return the expected reply for an example."""
    return write_reply(gold_plan(example), example.tools)


def select_connected(examples: Iterable[PlanExample]) -> list[PlanExample]:
    """Those whose gold hangs together; to the others Eq. (3) gives -2 for the right answer."""
    return [e for e in examples if is_connected(gold_plan(e))]


def report_rows(rows: Parted) -> str:
    """Counts and means by part and source, as Markdown."""
    table = [
        "| part | source | rows | offered | used | edges | in one piece |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in PARTS:
        by_source: dict[str, list[PlanExample]] = {}
        for example in rows.get(part, ()):
            by_source.setdefault(example.source, []).append(example)
        for source, some in sorted(by_source.items()):
            sizes = [(len(e.tools), len(e.gold), len(e.edges)) for e in some]
            means = [fmean(column) for column in zip(*sizes, strict=True)]
            cells = [f"{m:.2f}" for m in (*means, len(select_connected(some)) / len(some))]
            table.append(f"| {part} | {source} | {len(some)} | {' | '.join(cells)} |")
    return "\n".join(table)
