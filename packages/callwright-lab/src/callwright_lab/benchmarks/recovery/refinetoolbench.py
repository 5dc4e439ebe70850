"""``callwright bench refinetoolbench``: recovery from injected errors, after Tool-MVR's
RefineToolBench (4.1.2).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from callwright.models import open_model
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.trace import read_jsonl
from callwright.nouns.types import JsonObject, compute_digest
from callwright.simulation.simulator import extend_limits
from callwright.tools.overlay import Overlay
from callwright_lab.benchmarks.comparison.comparison import LIMITS, build_parser, compare_strategies
from callwright_lab.benchmarks.comparison.published import published_recovery
from callwright_lab.benchmarks.comparison.report import name_system
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.comparison.task_sets import hash_text
from callwright_lab.benchmarks.desk.tasks import load_desk
from callwright_lab.benchmarks.judge.questions import ask_recovery
from callwright_lab.benchmarks.judge.rows import Item, digest_run
from callwright_lab.benchmarks.recovery.bench import (
    add_judge,
    get_judged_path,
    judge_items,
    render_judged_section,
)
from callwright_lab.benchmarks.recovery.build import (
    Building,
    Made,
    iter_catalogue_cases,
    iter_desk_cases,
    iter_file_cases,
    iter_published_cases,
    make_desk_live,
    render_build_report,
)
from callwright_lab.benchmarks.recovery.cases import (
    PARTS,
    ErrorCase,
    digest_cases,
    read_cases,
    write_cases,
)
from callwright_lab.benchmarks.recovery.continuation import Entry, ErrorCases, trim_trajectory
from callwright_lab.benchmarks.recovery.live import LiveTools
from callwright_lab.benchmarks.recovery.plots import write_recovery_plots
from callwright_lab.benchmarks.recovery.report import item_key, recovery_report
from callwright_lab.transcripts.run_trajectory import build_trajectory


def main(arguments: Sequence[str] | None = None) -> int:
    """Build cases, or run what is missing of them, or judge the runs; then print the tables."""
    options = _build_parser().parse_args(arguments)
    try:
        if options.published:
            sys.stdout.write(published_recovery() + "\n")
            return 0
        if options.build:
            return asyncio.run(_build_cases(options))
        if options.judge:
            rows, folder = read_rows(options.out), options.out.parent
            left = asyncio.run(
                judge_items(options, build_case_items(_load_cases(options), rows, folder))
            )
            sys.stderr.write(
                f"{left} verdicts are missing; the same command goes on\n" if left else ""
            )
            sys.stdout.write(render_judged_section(options.out) + "\n")
            return 0
        limits = extend_limits(LIMITS) if options.simulator else LIMITS
        code = compare_strategies(
            options, lambda: _load_cases(options), limits, recovery_report, write_recovery_plots
        )
        if options.report and get_judged_path(options.out).exists():
            sys.stdout.write(f"\n{render_judged_section(options.out)}\n")
        return code
    except CallwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


async def _build_cases(options: argparse.Namespace) -> int:
    async with AsyncExitStack() as stack:
        by = open_model(options.by) if options.by else None
        simulator = open_model(options.simulator) if options.simulator else None
        author = open_model(options.author) if options.author else None
        for model in filter(None, (by, simulator, author)):
            stack.push_async_callback(model.aclose)
        how = Building(
            by,
            simulator,
            _build_live_tools(options, simulator),
            options.each,
            not options.unfiltered,
        )
        made = [one async for one in _iter_attempts(options, how, author or by)]
    cases = [one for one in made if isinstance(one, ErrorCase)]
    if not cases:
        sys.stdout.write(render_build_report(made) + "\n")
        raise ConfigError(
            f"no error case came of {_get_source(options)}",
            hint="the table says why; --simulator MODEL?",
        )
    write_cases(options.build, cases)
    sys.stdout.write(
        f"{render_build_report(made)}\n\n{digest_cases(cases)}  written to {options.build}\n"
    )
    return 0


def _iter_attempts(
    options: argparse.Namespace, how: Building, author: ChatModel | None
) -> AsyncIterator[Made]:
    source = _get_source(options)
    if source == "desk":
        return iter_desk_cases(load_desk(options.desk), how)
    if source == "catalogue":
        if how.live is None or author is None:
            raise ConfigError(
                "cases of a catalogue need its tools, and a model that writes the requests",
                hint=(
                    "--from catalogue --tools SOURCE --author MODEL, with --overlay FILE of verify"
                    " apis --apply"
                ),
            )
        return iter_catalogue_cases(how.live, author, how)
    path = Path(source)
    return (
        iter_published_cases(path, how)
        if (path / "I1.json").exists()
        else iter_file_cases(path, how)
    )


def _get_source(options: argparse.Namespace) -> str:
    """Return the source of the cases: the named one, or else the tool catalogue if one is given, or
    else the desk.
    """
    return options.source or ("catalogue" if options.tools else "desk")


def _build_live_tools(options: argparse.Namespace, simulator: ChatModel | None) -> LiveTools | None:
    """The tools that ``--tools`` names; None without it. Raises ConfigError for what says more of
    no tools.
    """
    if not options.tools:
        if options.overlay or options.sandbox:
            raise ConfigError(
                "--overlay and --sandbox say more of live tools, and there are none",
                hint="--tools SOURCE",
            )
        return None
    overlay = Overlay.read(options.overlay) if options.overlay else None
    return LiveTools(tuple(options.tools), overlay, options.sandbox, simulator)


def _load_cases(options: argparse.Namespace) -> ErrorCases:
    cases = read_cases(options.cases)
    simulator = open_model(options.simulator) if options.simulator else None
    entry: Entry = options.entry
    tools = _build_live_tools(options, simulator)
    if tools and options.live_desk:
        raise ConfigError(
            "either the desk's tools answer or others", hint="--live-desk, or --tools SOURCE"
        )
    if options.live_desk:
        live = make_desk_live(load_desk(options.desk))
    elif tools:
        live = tools.of
    else:
        live = None
    parts = options.part.upper().replace(" ", "").split(",") if options.part else PARTS
    if wrong := [part for part in parts if part not in PARTS]:
        raise ConfigError(f"there is no part {wrong[0]!r}", hint=f"--part {','.join(PARTS)}")
    mine = {
        part: sorted((c for c in cases if c.part == part), key=lambda c: hash_text(c.id))
        for part in parts
    }
    chosen = tuple(case for part in mine for case in mine[part][: options.per_part or None])
    if not chosen:
        raise ConfigError(
            f"{options.cases} holds no case of {', '.join(parts)}", hint="leave out --part"
        )
    return ErrorCases(chosen, entry, simulator, live)


def build_case_items(cases: ErrorCases, rows: Sequence[JsonObject], folder: Path) -> list[Item]:
    """Every run of an error case, for the questions of Tool-MVR's Table 7."""
    by_id = {case.id: case for case in cases.tasks}
    items = []
    for row in rows:
        trace = Path(row.get("trace") or "")
        trace = trace if trace.exists() else folder / "traces" / trace.name
        if row.get("error") or row["task"] not in by_id or not trace.is_file():
            continue
        head = {"system": name_system(row), "part": row["part"]}
        items.append(_build_item(item_key(row), by_id[row["task"]], trace, cases.entry, **head))
    return items


def _build_item(key: str, case: ErrorCase, trace: Path, entry: Entry, **head: object) -> Item:
    after = trim_trajectory(case, build_trajectory(read_jsonl(trace), case.id), entry)
    return Item(
        "recovery",
        key,
        compute_digest([digest_run(after), case.row]),
        lambda way: ask_recovery(case.query, case.tools, case.before, case.wrong, after, way),
        head,
    )


def _build_parser() -> argparse.ArgumentParser:
    about = (__doc__ or "").partition(": ")[2]
    known = build_parser("refinetoolbench", about, Path("runs/refinetoolbench/results.jsonl"))
    known.set_defaults(half="all", strategies="react,layered")
    add = known.add_argument
    add(
        "--cases",
        type=Path,
        default=Path("runs/refinetoolbench/cases.jsonl"),
        help="error cases (%(default)s)",
    )
    add("--part", default="", help="only I1, I2 or I3, with commas between")
    add("--per-part", type=int, default=0, help="so many cases of each part, by digest (all)")
    add(
        "--entry",
        choices=("result", "call"),
        default="result",
        help="how the error enters a run (%(default)s)",
    )
    add("--simulator", default=None, help="a model that imitates tools where nothing is on record")
    add("--live-desk", action="store_true", help="cases built from the desk: its own tools answer")
    add("--desk", type=Path, default=None, help="the folder examples/desk, where it is not found")
    add("--build", type=Path, default=None, help="make cases and write them to this file")
    add(
        "--from",
        dest="source",
        default=None,
        help=(
            "desk, catalogue (of --tools), the published samples, or trajectories (desk; with"
            " --tools catalogue)"
        ),
    )
    add(
        "--tools",
        action="append",
        default=[],
        help="live tools, to build and to run with (default: simulated)",
    )
    add(
        "--overlay",
        type=Path,
        default=None,
        help="what verify apis found out about them; the dead are simulated",
    )
    add(
        "--sandbox",
        action="store_true",
        help="what the live tools change is thrown away (else they are only read)",
    )
    add("--by", default=None, help="a model that writes the errors (default: rules)")
    add(
        "--author",
        default=None,
        help="a model that writes the requests of a catalogue (default: --by)",
    )
    add(
        "--each",
        type=int,
        default=1,
        help="attempts for each trajectory and kind of error (%(default)s)",
    )
    add(
        "--unfiltered",
        action="store_true",
        help="keep published samples that the filter would drop, saying why",
    )
    add("--published", action="store_true", help="only print the published table")
    add_judge(known)
    return known


if __name__ == "__main__":
    sys.exit(main())
