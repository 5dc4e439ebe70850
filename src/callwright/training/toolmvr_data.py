"""The rows of a run: ToolBench-V and -R records, ours or anybody's, with their part, kind and gold.

A row is a record as :mod:`callwright.transcripts.toolbench_vr` reads it, with three members beside: ``part`` (train
or test; all rows of one request are in the same), ``kind`` (V or R) and, in an R row, ``error``. A file of others
needs none of them: a record with context is R, and its part is taken of its request.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from callwright import lines
from callwright.errors import ConfigError
from callwright.models.chat import estimate
from callwright.training.toolmvr_reflections import Reflection, reflections
from callwright.trajectory import Trajectory
from callwright.transcripts import FORMATS, Transcript, read_files, write
from callwright.types import JsonObject, ToolCall, digest

Kind = Literal["V", "R"]
Part = Literal["train", "test"]
VR = FORMATS["toolbench-vr"]
HELD = 6  # one request in so many is held out


@dataclass(frozen=True, slots=True)
class Row:
    """One record and what a run needs to know of it. ``right``: the corrected calls of an R row."""

    id: str
    kind: Kind
    part: Part
    error: str
    messages: tuple[JsonObject, ...]
    right: tuple[ToolCall, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many, at four characters a token."""
        return sum(estimate(m["content"]) for m in self.messages)


def made(trajectories: Iterable[Trajectory], *, context: int, seed: int = 0) -> Iterator[JsonObject]:
    """The V record of every trajectory that Python can say, and an R record of it, drawn by its id so that all kinds
    of errors come equally often; none longer than ``context`` tokens."""
    seen: Counter[str] = Counter()
    for trajectory in trajectories:
        plain = replace(trajectory, tools=tuple(replace(t, output_schema=None) for t in trajectory.tools))
        record = _record(Transcript(plain), "V", context)
        if record is None:
            continue
        yield record
        found = list(reflections(plain, seed))
        random.Random(f"reflect {plain.id} {seed}").shuffle(found)
        for one in sorted(found, key=lambda r: seen[r.error])[:1]:
            if (row := _record(one.transcript, "R", context, one)) is not None:
                seen[one.error] += 1
                yield row


def within(records: Iterable[JsonObject], most: int) -> list[JsonObject]:
    """Records up to about so many tokens (0: all), whole trajectories with their reflections, in their order."""
    kept, total = [], 0
    for record in records:
        if record["kind"] == "V" and most and total >= most:
            break
        total += sum(estimate(m["content"]) for m in record["messages"])
        kept.append(record)
    return kept


def read(paths: Sequence[Path]) -> list[Row]:
    """The rows of files in any layout of transcripts. ConfigError where there are none, or a file cannot be read."""
    rows = []
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there are no rows in {path}", hint="run the stage data first, or name a file: --rows")
        for _, transcript in read_files(path).transcripts:
            rows.append(_row(transcript))
    return rows


def save(path: Path, records: Iterable[JsonObject]) -> None:
    """The records, one a line, all or nothing."""
    lines.write(path, records)


def part_of(trajectory: Trajectory) -> Part:
    """The part of a request: the same for whatever was made of it."""
    return "test" if int(digest(trajectory.query)[:8], 16) % HELD == 0 else "train"


def report(rows: Sequence[Row]) -> str:
    """Counts and tokens by part and kind, and R rows by error, as Markdown."""
    table = ["| part | kind | rows | tokens, about |", "|---|---|---:|---:|"]
    for part in ("train", "test"):
        for kind in ("V", "R"):
            some = [r for r in rows if (r.part, r.kind) == (part, kind)]
            table.append(f"| {part} | {kind} | {len(some)} | {sum(r.tokens for r in some):,} |")
    errors = Counter(r.error for r in rows if r.kind == "R")
    told = ", ".join(f"{error or 'not said'} {count}" for error, count in errors.most_common())
    return "\n".join([*table, "", f"Errors in R: {told or 'none'}."])


def _record(transcript: Transcript, kind: Kind, context: int, made: Reflection | None = None) -> JsonObject | None:
    """The record, or None where Python cannot say it or it is too long."""
    try:
        record = write(transcript, VR)
    except ConfigError:
        return None
    if sum(estimate(m["content"]) for m in record["messages"]) > context:
        return None
    more = {"error": made.error} if made else {}
    return {**record, "kind": kind, "part": part_of(transcript.trajectory), **more}


def _row(transcript: Transcript) -> Row:
    origin, trajectory = transcript.origin, transcript.trajectory
    told = origin.record if origin is not None else {}
    record = write(transcript, VR)
    kind: Kind = "R" if transcript.context else "V"
    part: Part = "test" if told.get("part", part_of(trajectory)) == "test" else "train"
    right = trajectory.steps[-1].calls if kind == "R" and trajectory.steps else ()
    return Row(trajectory.id, kind, part, str(told.get("error") or ""), tuple(record["messages"]), right)
