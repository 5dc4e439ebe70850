"""``callwright bench judge``: how far a judge can be believed, on runs whose outcome is known by
code.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from callwright.models import open_model
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.trace import read_jsonl
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.comparison.task_sets import hash_text
from callwright_lab.benchmarks.judge.check import MEASURES, render_check_table
from callwright_lab.benchmarks.judge.rates import take_majority
from callwright_lab.benchmarks.judge.rows import (
    RUNS,
    Item,
    Judge,
    build_pass_item,
    build_win_item,
    group_verdicts,
    judge_in_turn,
    keep_latest_rows,
)
from callwright_lab.benchmarks.judge.text import CHARS
from callwright_lab.transcripts.run_trajectory import build_trajectory

HINT = "rows that callwright bench desk wrote, beside their folder traces"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge what is missing and print the table."""
    options = _build_parser().parse_args(arguments)
    try:
        runs, gold = read_runs(options.desk, options.half, options.sample)
        if not options.report:
            left = asyncio.run(_run_judge(options, runs))
            sys.stderr.write(
                f"{left} verdicts are missing; the same command goes on\n" if left else ""
            )
        rows = keep_latest_rows(read_rows(options.out))
    except CallwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{len(runs)} runs, {sum(gold.values())} of them right by code.\n\n")
    sys.stdout.write(
        render_check_table([row for row in rows if _is_about_gold(row["item"], gold)], gold) + "\n"
    )
    return 0


def read_runs(
    rows: Path, half: str = "all", sample: int = 0
) -> tuple[dict[str, Trajectory], dict[str, bool]]:
    """``task strategy model`` -> its trajectory, and whether it was right, of rows with a trace.
    ``sample``: so many runs, in the order of their keys' sha256, half right and half wrong as far
    as there are such.

    Raises ConfigError where there is none.
    """
    found: dict[str, JsonObject] = {}
    for row in read_rows(rows):
        if not row.get("error") and row.get("trace") and half in ("all", row["half"]):
            found[f"{row['task']} {row['strategy']} {row['model']} {row['config']}"] = row
    gold = {key: bool(row["success"]) for key, row in found.items()}
    traces = {key: _find_trace(rows, row) for key, row in found.items()}
    keys = _balance_sample(
        [key for key in sorted(found, key=hash_text) if traces[key].exists()], gold, sample
    )
    if not keys:
        raise ConfigError(f"{rows} holds no run with a trace", hint=HINT)
    return {key: build_trajectory(read_jsonl(traces[key]), key) for key in keys}, {
        key: gold[key] for key in keys
    }


def build_items(
    runs: dict[str, Trajectory], measures: Sequence[str], said: Sequence[JsonObject] = ()
) -> list[Item]:
    """Return the items to judge: every run, and every pair of runs of one task. ``said``: the rows
    so far. Their sopr verdicts decide which sowr questions can be skipped.
    """
    items = [
        build_pass_item(m, key, run, system=key.split(" ")[1])
        for m in measures
        for key, run in runs.items()
        if m in _ALONE
    ]
    solved = {
        key: take_majority(runs_.values()) for key, runs_ in group_verdicts(said, "sopr").items()
    }
    by_query: dict[str, list[str]] = {}
    for key, run in runs.items():
        by_query.setdefault(run.query, []).append(key)
    for measure in (m for m in measures if m not in _ALONE):
        for keys in by_query.values():
            for one, other in pairwise(keys):
                standing = (solved.get(one, ""), solved.get(other, ""))
                items.append(
                    build_win_item(measure, f"{one} | {other}", runs[one], runs[other], standing)
                )
    return items


_ALONE = ("sopr", "pr")


async def _run_judge(options: argparse.Namespace, runs: dict[str, Trajectory]) -> int:
    measures = options.measures.split(",")
    if unknown := [m for m in measures if m not in MEASURES or m == "recovery"]:
        raise ConfigError(
            f"there is no measure {unknown[0]!r} here", hint="--measures sopr,pr,sowr,wr"
        )
    model = open_model(options.model)
    try:
        judge = await Judge.of(model, options.temperature, options.chars)
        stages = [
            partial(build_items, runs, some)
            for some in (
                [m for m in measures if m in _ALONE],
                [m for m in measures if m not in _ALONE],
            )
        ]
        return await judge_in_turn(
            judge,
            stages,
            options.out,
            runs=options.runs,
            limit_seconds=options.limit_seconds,
            on_row=print_verdict,
        )
    finally:
        await model.aclose()


def print_verdict(row: JsonObject, left: int) -> None:
    """One line to the terminal for each verdict."""
    more = f"/{row['more']}" if row["more"] else ""
    sys.stderr.write(
        f"{row['measure']:8} {row['verdict'] or 'unread'}{more}  {row['item']}  ({left} left)\n"
    )
    sys.stderr.flush()


def add_judge_options(parser: argparse.ArgumentParser, out: Path) -> None:
    """The options of every command that judges."""
    parser.add_argument(
        "--runs", type=int, default=RUNS, help="how often each is judged (%(default)s)"
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.0,
        help="of the judge (%(default)s, as in the papers)",
    )
    parser.add_argument(
        "--chars", type=int, default=CHARS, help="of a chain that the judge is shown (%(default)s)"
    )
    parser.add_argument(
        "--limit-seconds", type=float, default=0.0, help="start nothing after this time"
    )
    parser.add_argument("--out", type=Path, default=out, help="rows (%(default)s)")
    parser.add_argument(
        "--report", action="store_true", help="only print the tables of the rows so far"
    )


def _build_parser() -> argparse.ArgumentParser:
    known = argparse.ArgumentParser(
        prog="callwright bench judge", description=(__doc__ or "").partition(": ")[2]
    )
    known.add_argument(
        "--desk",
        type=Path,
        default=Path("runs/desk/results.jsonl"),
        help="runs to judge (%(default)s)",
    )
    known.add_argument(
        "--half",
        choices=("dev", "final", "all"),
        default="all",
        help="of which tasks (%(default)s)",
    )
    known.add_argument(
        "--sample", type=int, default=0, help="so many runs, right and wrong ones alike (all)"
    )
    known.add_argument(
        "--model", default=None, help="the judge: local (default), local:PATH or URL#MODEL"
    )
    known.add_argument("--measures", default="sopr,pr", help="of sopr, pr, sowr, wr (%(default)s)")
    add_judge_options(known, Path("runs/judge/desk.jsonl"))
    return known


def _find_trace(rows: Path, row: JsonObject) -> Path:
    """Return the path of a row's trace: the recorded path, or else ``traces`` beside the rows,
    which may have been moved.
    """
    named = Path(row["trace"])
    return named if named.exists() else rows.parent / "traces" / named.name


def _balance_sample(keys: Sequence[str], gold: dict[str, bool], sample: int) -> list[str]:
    if not sample:
        return list(keys)
    right, wrong = [k for k in keys if gold[k]], [k for k in keys if not gold[k]]
    few = min(len(right), len(wrong), sample // 2)
    taken = {*right[: max(few, sample - len(wrong))], *wrong[: max(few, sample - len(right))]}
    return [key for key in keys if key in taken][:sample]


def _is_about_gold(item: str, gold: dict[str, bool]) -> bool:
    return all(part in gold for part in item.split(" | "))


if __name__ == "__main__":
    sys.exit(main())
