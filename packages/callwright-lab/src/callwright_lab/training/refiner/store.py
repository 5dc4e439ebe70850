"""Samples on disk, a line of JSON each: what the stage ``data`` writes, the others read, and people
may write too.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from callwright.nouns.types import Tool
from callwright.storage import lines
from callwright_lab.training.refiner.formats import FORMATS, Invocation
from callwright_lab.training.refiner.task import Kind, Sample, Task


def to_row(sample: Sample) -> dict[str, Any]:
    """A sample as JSON, whole; ``answer`` (gold as the format writes it) is for people and not read
    again.
    """
    task = sample.task
    tools = [
        {
            "name": t.name,
            "description": t.description,
            "parameters": t.input_schema,
            "output_schema": t.output_schema,
        }
        for t in task.tools
    ]
    gold = [
        {"name": c.name, "arguments": c.arguments, "labels": list(c.labels), "step": c.step}
        for c in task.gold
    ]
    return {
        "task": task.id, "source": task.source, "format": task.format, "kind": sample.kind, "error": sample.error,
        "by": sample.by, "system": task.system, "query": task.query, "tools": tools, "gold": gold,
        "upstream": sample.upstream, "answer": sample.answer,
    }  # fmt: skip


def from_row(row: dict[str, Any]) -> Sample:
    """The sample of a row; ValueError, KeyError or TypeError where the row holds none."""
    if row["kind"] not in get_args(Kind) or row["format"] not in FORMATS:
        raise ValueError(f"there is no kind {row['kind']!r} or no format {row['format']!r}")
    tools = tuple(
        Tool(t["name"], t["description"], t["parameters"], t["output_schema"]) for t in row["tools"]
    )
    gold = tuple(
        Invocation(c["name"], c["arguments"], tuple(c["labels"]), c["step"]) for c in row["gold"]
    )
    task = Task(row["task"], row["source"], row["format"], row["system"], row["query"], tools, gold)
    return Sample(task, row["kind"], row["error"], row["upstream"], row["by"])


def append_samples(path: Path, samples: Iterable[Sample]) -> None:
    """Add samples to a file (:func:`callwright.storage.lines.append_rows`)."""
    lines.append_rows(path, map(to_row, samples))


def write_samples(path: Path, samples: Iterable[Sample]) -> None:
    """The samples in place of what the file held, all or nothing."""
    lines.write_rows(path, map(to_row, samples))


def read_samples(path: Path, cut: bool = False) -> list[Sample]:
    """The samples of a file; ConfigError names the line that holds none.

    ``cut``: a last line without its end, of a process that was ended, is left out.
    """
    return lines.read_rows(
        path, from_row, what="sample", hint="write the file again with --stages data", cut=cut
    )


def reopen_samples(path: Path) -> list[Sample]:
    """The samples of a file that a run appends to, none if there is no file; a last line without its
    end is removed from it.
    """
    known = read_samples(path, cut=True) if path.exists() else []
    write_samples(path, known)
    return known
