"""``callwright convert``: files of trajectories from one layout into another."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.nouns.control_characters import one_line

if TYPE_CHECKING:
    from callwright.nouns.types import JsonObject
    from callwright_lab.transcripts import Read


class Written(StrEnum):
    """Formats that can be written: a copy of :data:`callwright_lab.transcripts.WRITTEN` that avoids
    the import.
    """

    openai = "openai"
    trl = "trl"
    sharegpt = "sharegpt"
    toolbench_vr = "toolbench-vr"
    tooleval = "tooleval"


def convert_command(
    source: Annotated[
        Path,
        typer.Argument(help="A file of records (JSON, JSON lines), or a folder of such files."),
    ],
    to: Annotated[Written, typer.Option("--to", help="The layout to write.")],
    out: Annotated[
        Path,
        typer.Option(
            help=(
                "To .jsonl, .json, .parquet, or a folder for datasets.load_from_disk (extra:"
                " train)."
            )
        ),
    ],
    layout: Annotated[
        str, typer.Option("--from", help="The layout to read; else each record's is recognised.")
    ] = "",
) -> None:
    """Write trajectories in another layout: ToolBench-V and -R, OpenAI, TRL, ShareGPT, ToolEval."""
    from callwright.nouns.errors import ConfigError
    from callwright_lab.transcripts import read_files

    found = read_files(source, layout)
    rows, refused = _convert_transcripts(found, to.value)
    problems = [*found.left_out, *refused]
    for problem in problems[:10]:
        print(f"left out: {one_line(problem)}", file=sys.stderr)
    if len(problems) > 10:
        print(f"… and {len(problems) - 10} more", file=sys.stderr)
    if not rows:
        raise ConfigError(
            f"nothing of {source} can be written as {to.value}", hint="; ".join(problems[:1])
        )
    _save_rows(rows, out)
    print(f"{len(rows)} of {len(rows) + len(problems)} records written to {out}")


def _convert_transcripts(found: Read, to: str) -> tuple[list[tuple[str, JsonObject]], list[str]]:
    from callwright.nouns.errors import ConfigError
    from callwright_lab.transcripts import FORMATS, write

    rows: list[tuple[str, JsonObject]] = []
    refused = []
    for _, transcript in found.transcripts:
        try:
            rows.append((transcript.trajectory.id, write(transcript, FORMATS[to])))
        except ConfigError as error:
            refused.append(f"{transcript.trajectory.id}: {error.message}")
    return rows, refused


def _save_rows(rows: list[tuple[str, JsonObject]], out: Path) -> None:
    from callwright_lab.transcripts import number_names, write_records
    from callwright_lab.transcripts.export import save_dataset

    if out.suffix == ".jsonl":
        write_records(out, "lines", rows)
    elif out.suffix == ".json":
        # a file that names its records would keep the last of two of one name
        names = number_names(name for name, _ in rows)
        named = [(name, row) for name, (_, row) in zip(names, rows, strict=True)]
        write_records(out, "map" if "answer" in rows[0][1] else "list", named)
    else:
        save_dataset([row for _, row in rows], out)
