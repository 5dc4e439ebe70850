"""``callwright verify dataset``: what is wrong with somebody else's data, by rule, and a copy
without it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callwright.cli.settings.options import group_options
from callwright.nouns.control_characters import one_line
from callwright_lab.cli.verify_options import ModelExtent

if TYPE_CHECKING:
    from callwright.viewer import Report
    from callwright_lab.transcripts import Read
    from callwright_lab.verify.dataset.report import Grid
    from callwright_lab.verify.sweep import Sweep


@group_options()
def verify_dataset(
    source: Annotated[
        Path,
        typer.Argument(help="A file of records (JSON, JSON lines), or a folder of such files."),
    ],
    layout: Annotated[
        str, typer.Option("--from", help="Its layout; else each record's is recognised.")
    ] = "",
    clean: Annotated[
        Path | None,
        typer.Option("--clean", help="Write the rows without a defect here, in the same layout."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Drop rows with a suspicion too.")
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="Judges the six criteria beside the rules. May be repeated: a majority.",
        ),
    ] = None,
    *,
    extent: ModelExtent,
) -> None:
    """Score a data set by Table 1's criteria, by rule. Names every defect, and writes a cleaned
    copy.
    """
    import asyncio

    from callwright_lab.cli.verify_options import print_report
    from callwright_lab.transcripts import read_files

    found = read_files(source, layout)
    for problem in found.left_out[:10]:
        print(f"left out: {one_line(problem)}", file=sys.stderr)
    made = asyncio.run(_verify_rows(found, model or [], strict, extent))
    print_report(made, extent, lambda: _build_report(source.stem, found, made, extent))
    _print_rates(source.stem, made, extent)
    if clean is not None:
        print(f"{_write_clean(found, made, clean)} rows written to {clean}", file=sys.stderr)


async def _verify_rows(found: Read, models: list[str], strict: bool, extent: ModelExtent) -> Sweep:
    from contextlib import AsyncExitStack

    from callwright import __version__
    from callwright.models import open_model
    from callwright_lab.cli.verify_options import run_verify_sweep
    from callwright_lab.verify.committee import name_judges
    from callwright_lab.verify.dataset.rows import DatasetVerifier

    async with AsyncExitStack() as stack:
        judges = [open_model(spec) for spec in models]
        for one in judges:
            stack.push_async_callback(one.aclose)
        verifier = DatasetVerifier(
            [t for _, t in found.transcripts], judges=name_judges(judges), strict=strict
        )
        about = {"version": __version__, "models": models, "strict": strict}
        return await run_verify_sweep("dataset", about, verifier.rows(), verifier.judge, extent)


def _build_grids(name: str, made: Sweep) -> list[Grid]:
    """Table 1's columns, and every class of finding."""
    from callwright_lab.verify.dataset.report import build_class_grid, build_quality_grid
    from callwright_lab.verify.dataset.rows import parse_judged
    from callwright_lab.verify.dataset.rules import measure_rates

    found = measure_rates(map(parse_judged, made.findings))
    return [build_quality_grid(name, found), build_class_grid(found)]


def _print_rates(name: str, made: Sweep, extent: ModelExtent) -> None:
    """Both tables after the report; the page has them already."""
    text = "\n\n".join(grid.markdown() for grid in _build_grids(name, made))
    if not extent.as_json:
        print(f"\n{text}")
    if extent.report is not None and not extent.wants_page:
        with extent.report.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}\n")


def _build_report(name: str, found: Read, made: Sweep, extent: ModelExtent) -> Report:
    from callwright.viewer import Table
    from callwright_lab.verify.dataset.rows import DatasetVerifier
    from callwright_lab.verify.reporting.evidence import iter_row_evidence, row_reasons
    from callwright_lab.verify.reporting.page import Stage, build_sweep_report

    listed = DatasetVerifier([transcript for _, transcript in found.transcripts]).rows()
    rows = {row.key: row.item[0].trajectory for row in listed}
    titles = ("Rows without a defect", "Every class of finding")
    notes = ("Every rate of defects is a lower bound: 100 % means that no rule spoke.", "")
    stage = Stage(
        f"Data set {name}",
        lambda one: tuple(iter_row_evidence(one, rows.get(one.key))),
        row_reasons,
        parts=[
            Table(t, g.heads, g.rows, n)
            for t, g, n in zip(titles, _build_grids(name, made), notes, strict=True)
        ],
        budget=extent.budget,
    )
    return build_sweep_report(made, stage)


def _write_clean(found: Read, made: Sweep, clean: Path) -> int:
    """The kept rows in the shape of their files; of a folder, file for file below ``clean``."""
    from callwright_lab.transcripts import write_records
    from callwright_lab.verify.dataset.rows import DatasetVerifier

    kept = {one.key for one in made.kept}
    listed = DatasetVerifier([transcript for _, transcript in found.transcripts]).rows()
    places = {
        place for (place, _), row in zip(found.transcripts, listed, strict=True) if row.key in kept
    }
    several = len(found.files) > 1
    root = Path(found.files[0].path.anchor) if not several else _find_root(found)
    count = 0
    for at, records in enumerate(found.files):
        rows: list[Any] = [row for number, row in enumerate(records.rows) if (at, number) in places]
        if rows or not several:
            write_records(
                clean / records.path.relative_to(root) if several else clean, records.shape, rows
            )
        count += len(rows)
    return count


def _find_root(found: Read) -> Path:
    import os.path

    return Path(os.path.commonpath([records.path.parent for records in found.files]))
