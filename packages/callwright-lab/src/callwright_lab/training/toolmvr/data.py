"""The rows of a run: ToolBench-V and -R records, ours or anybody's, with their part, kind and gold.

A row is a record as :mod:`callwright_lab.transcripts.toolbench_vr` reads it, with two members
beside: ``part`` (train or test; all rows of one request are in the same) and ``kind`` (V or R); an
R row is :mod:`callwright_lab.reflection.row`'s. A file of others needs none of that: a record with
context is R, and its part is taken of its request.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from callwright.agent.strategies.code import get_result_value
from callwright.models.chat import estimate_tokens
from callwright.nouns.errors import ConfigError
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import JsonObject, Tool, ToolCall, compute_digest
from callwright.storage import lines
from callwright.tools.lists.tools import strip_tool
from callwright_lab.reflection.row import MEMBER, Reflected
from callwright_lab.reflection.row import Kind as Fault
from callwright_lab.reflection.row import record as reflection_record
from callwright_lab.training.progress import print_progress
from callwright_lab.training.toolmvr.reflections import classify_error, iter_reflections
from callwright_lab.transcripts import FORMATS, Transcript, read_files, write
from callwright_lab.transcripts.transcript import render_program

Kind = Literal["V", "R"]
Part = Literal["train", "test"]
VR = FORMATS["toolbench-vr"]
HELD = 6  # one request in so many is held out
_TOLD = 10  # rows that are left out, each with its reason


@dataclass(frozen=True, slots=True)
class Row:
    """One record and what a run needs to know of it. ``fault``, ``wrong`` and ``right`` are an R
    row's: what kind of error it is where the record says so, the calls that went wrong, and the
    corrected ones.
    """

    id: str
    kind: Kind
    part: Part
    error: str
    messages: tuple[JsonObject, ...]
    right: tuple[ToolCall, ...] = ()
    wrong: tuple[ToolCall, ...] = ()
    fault: Fault | Literal[""] = ""
    tools: tuple[Tool, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many, at four characters a token."""
        return sum(estimate_tokens(m["content"]) for m in self.messages)


def build_records(
    trajectories: Iterable[Trajectory], *, context: int, seed: int = 0
) -> Iterator[JsonObject]:
    """The V record of every trajectory that Python can say, and an R record of it, drawn by its id
    so that all kinds of errors come equally often; none longer than ``context`` tokens.
    """
    seen: Counter[str] = Counter()
    for trajectory in trajectories:
        plain = _reduce_tools(trajectory)
        record = _build_record(plain, "V", context)
        if record is None:
            continue
        yield record
        found = list(iter_reflections(plain, seed))
        random.Random(f"reflect {plain.id} {seed}").shuffle(found)
        for one in sorted(found, key=lambda r: seen[r.error])[:1]:
            if (row := _build_record(one, "R", context)) is not None:
                seen[one.error] += 1
                yield row


def limit_tokens(records: Iterable[JsonObject], most: int) -> list[JsonObject]:
    """Records up to about so many tokens (0: all), whole trajectories with their reflections, in
    their order.
    """
    kept, total = [], 0
    for record in records:
        if record["kind"] == "V" and most and total >= most:
            break
        total += sum(estimate_tokens(m["content"]) for m in record["messages"])
        kept.append(record)
    return kept


def read_rows(paths: Sequence[Path]) -> list[Row]:
    """The rows of files in any layout of transcripts, each with an id of its own.

    What cannot be read, or said in the words of these rows, is left out and told to stderr.
    ConfigError where there are none, or a file cannot be read.
    """
    rows: list[Row] = []
    left_out: list[str] = []
    for path in paths:
        if not path.exists():
            raise ConfigError(
                f"there are no rows in {path}",
                hint="run the stage data first, or name a file: --rows",
            )
        found = read_files(path)
        left_out += found.left_out
        for _, transcript in found.transcripts:
            try:
                rows.append(_build_row(transcript))
            except ConfigError as error:
                left_out.append(f"{path.name}, {transcript.trajectory.id}: {error.message}")
    if not rows:
        raise ConfigError(f"no row of {', '.join(map(str, paths))} can be used: {left_out[0]}")
    for why in left_out[:_TOLD]:
        print_progress(f"left out: {why}")
    if len(left_out) > _TOLD:
        print_progress(f"… and {len(left_out) - _TOLD} more")
    return _assign_unique_ids(rows)


def _assign_unique_ids(rows: Sequence[Row]) -> list[Row]:
    """The rows with ids that are theirs alone: those of two files may be the same, and all else is
    found by them.
    """
    seen: Counter[str] = Counter()
    made = []
    for row in rows:
        seen[row.id] += 1
        made.append(row if seen[row.id] == 1 else replace(row, id=f"{row.id} ({seen[row.id]})"))
    return made


def save_records(path: Path, records: Iterable[JsonObject]) -> None:
    """The records, one a line, all or nothing."""
    lines.write_rows(path, records)


def assign_part(trajectory: Trajectory) -> Part:
    """The part of a request: the same for whatever was made of it."""
    return "test" if int(compute_digest(trajectory.query)[:8], 16) % HELD == 0 else "train"


def report_rows(rows: Sequence[Row]) -> str:
    """Counts and tokens by part and kind, and R rows by error, as Markdown."""
    table = ["| part | kind | rows | tokens, about |", "|---|---|---:|---:|"]
    for part in ("train", "test"):
        for kind in ("V", "R"):
            some = [r for r in rows if (r.part, r.kind) == (part, kind)]
            table.append(f"| {part} | {kind} | {len(some)} | {sum(r.tokens for r in some):,} |")
    errors = Counter(r.error for r in rows if r.kind == "R")
    told = ", ".join(f"{error or 'not said'} {count}" for error, count in errors.most_common())
    return "\n".join([*table, "", f"Errors in R: {told or 'none'}."])


def _build_record(made: Trajectory | Reflected, kind: Kind, context: int) -> JsonObject | None:
    """The record, or None where Python cannot say it or it is too long."""
    made = _print_rounds(made)
    try:
        found = (
            reflection_record(made) if isinstance(made, Reflected) else write(Transcript(made), VR)
        )
    except ConfigError:
        return None
    if sum(estimate_tokens(m["content"]) for m in found["messages"]) > context:
        return None
    return {
        **found,
        "kind": kind,
        "part": assign_part(made.before if isinstance(made, Reflected) else made),
    }


def _reduce_tools(trajectory: Trajectory) -> Trajectory:
    """With its tools as ``--strategy toolmvr`` shows them."""
    return replace(trajectory, tools=tuple(map(strip_tool, trajectory.tools)))


def _print_rounds(made: Trajectory | Reflected) -> Trajectory | Reflected:
    """The same with its rounds as ``--strategy toolmvr`` shows them: what Python prints of a
    result, not JSON.
    """
    if isinstance(made, Reflected):
        before = replace(made.before, steps=tuple(map(_print_step, made.before.steps)))
        return replace(made, before=before, wrong=_print_step(made.wrong))
    return replace(made, steps=tuple(map(_print_step, made.steps)))


def _print_step(step: Step) -> Step:
    code = render_program(step.calls)
    if step.code or not code or not all(result for _, result in step.pairs):
        return step
    return replace(
        step, code=code, shown="\n".join(str(get_result_value(result)) for result in step.results)
    )


def _build_row(transcript: Transcript) -> Row:
    origin, trajectory = transcript.origin, transcript.trajectory
    told = origin.record if origin is not None else {}
    shown = replace(
        transcript, trajectory=_reduce_tools(trajectory)
    )  # whose rounds stay as they stand
    messages = tuple(write(shown, VR)["messages"])
    part: Part = "test" if told.get("part", assign_part(trajectory)) == "test" else "train"
    if not transcript.context:
        return Row(trajectory.id, "V", part, "", messages, tools=trajectory.tools)
    reflection = told.get(MEMBER)  # rows of before 2026-11-22 say "error" themselves
    said = reflection if isinstance(reflection, dict) else told
    error = str(said.get("error") or "")
    fault = next(
        (kind for kind in get_args(Fault) if kind == said.get("kind")), classify_error(error)
    )
    *_, wrong, right = (Step(), Step(), *trajectory.steps)
    return Row(
        trajectory.id, "R", part, error, messages, right.calls, wrong.calls, fault, trajectory.tools
    )  # fmt: skip
