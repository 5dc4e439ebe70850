"""``callwright train toolmvr``: supervised fine-tuning on verified trajectories and reflections
(Tool-MVR, 3.4).

Stages, in order, each leaving its result in ``--out``; ``--stages`` names those to run:

* ``data``: ToolBench-V and -R records of sources whose licences allow it, ``data.jsonl``, counts in
  ``data.md``; ``--rows`` takes files of your own in any layout that ``callwright convert`` reads
* ``v``: the model after V rows alone ("w/o stage 2"), folder ``v``
* ``vr``: the model after V and R rows together, Eq. (8), folder ``vr``
* ``measure``: the untrained model and both others on held-out rows: loss, and the corrected calls
  they write; ``scores.md``, every reply in ``scores.json``
* ``report``: ``scores.md`` once more from ``scores.json``; no model is asked (measure ends with it)

``--dry-run`` says what the run would be and cost, and does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import to_json
from callwright_lab.datasets.sources import data_root
from callwright_lab.training.processes import do_once, is_main_process
from callwright_lab.training.progress import print_progress
from callwright_lab.training.run_parser import build_run_parser, sample_held_out, use_threads
from callwright_lab.training.toolmvr import data as toolmvr_data
from callwright_lab.training.toolmvr.data import Kind, Part, Row
from callwright_lab.training.toolmvr.settings import GOES_BY, PRESETS, Settings
from callwright_lab.training.tuning_settings import add_options, with_options

STAGES = ("data", "v", "vr", "measure", "report")
DEFAULT_SOURCES = "nestools,seal_tools,complexfuncbench,toolbench"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; progress to standard error, tables to standard output."""
    args = _build_parser().parse_args(arguments)
    settings = with_options(PRESETS[args.preset], args)
    if args.dry_run:
        from callwright_lab.training.toolmvr.dry import report_dry_run

        paths = args.rows or [args.out / "data.jsonl"]
        known = args.rows or all(
            path.exists() for path in paths
        )  # of files that were named nothing is assumed
        sys.stdout.write(
            report_dry_run(settings, toolmvr_data.read_rows(paths) if known else None, args.out)
            + "\n"
        )
        return 0
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "data.jsonl"
    if "data" in args.stages and not (args.resume and not args.rows and path.is_file()):
        do_once(args.out / "data.done", lambda: _build_data(args, settings))
    rest = [stage for stage in args.stages if stage not in ("data", "report")]
    if rest:
        _run_training(args, settings, rest)
    if "report" in args.stages and "measure" not in rest:
        _write_report(args)
    return 0


def _build_data(args: argparse.Namespace, settings: Settings) -> None:
    """Make rows of the sources, or take those that are there; either way count them."""
    if not args.rows:
        from callwright_lab.training.toolmvr.sources import read_source

        root = args.data or data_root()
        found = [t for name in args.sources.split(",") for t in read_source(name, root)]
        random.Random(f"rows {settings.seed}").shuffle(found)
        records = toolmvr_data.build_records(found, context=settings.context, seed=settings.seed)
        toolmvr_data.save_records(
            args.out / "data.jsonl", toolmvr_data.limit_tokens(records, args.tokens)
        )
    text = toolmvr_data.report_rows(toolmvr_data.read_rows(args.rows or [args.out / "data.jsonl"]))
    (args.out / "data.md").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def _run_training(args: argparse.Namespace, settings: Settings, stages: Sequence[str]) -> None:
    use_threads(args, "training Tool-MVR")
    from callwright_lab.training import checkpoints
    from callwright_lab.training.templates import use_training_template
    from callwright_lab.training.toolmvr.mask import tokenize_row

    rows = toolmvr_data.read_rows(args.rows or [args.out / "data.jsonl"])
    tokenizer = checkpoints.open_tokenizer(settings.model)
    use_training_template(tokenizer)
    made = {
        row.id: tokenize_row(tokenizer, row.messages, settings.lam if row.kind == "R" else 1.0)
        for row in rows
    }
    fit = [
        row for row in rows if len(made[row.id].ids) <= settings.context and made[row.id].learned
    ]
    total = sum(len(made[r.id].ids) for r in fit)
    print_progress(
        f"{len(fit)} of {len(rows)} rows fit {settings.context} tokens; {total:,} tokens in them"
    )
    for stage in (s for s in ("v", "vr") if s in stages):
        _run_stage(args, settings, stage, fit, made, tokenizer)
    if "measure" in stages and is_main_process():
        _measure_models(args, settings, fit, made, tokenizer)


def _run_stage(
    args: argparse.Namespace,
    settings: Settings,
    stage: str,
    fit: Sequence[Row],
    made: dict[str, Any],
    tokenizer: Any,
) -> None:
    """One run from the untrained model: V alone, or both kinds at once."""
    from callwright_lab.training.toolmvr import runs

    verified = [made[r.id] for r in _require_rows(fit, "V", "train")]
    reflected = [made[r.id] for r in _require_rows(fit, "R", "train")] if stage == "vr" else []
    rows = runs.mix_epoch(verified, reflected, settings.ratio, settings.seed)
    learned = sum(r.learned for r in rows)
    print_progress(
        f"{stage}: {len(rows)} rows an epoch, {sum(len(r.ids) for r in rows):,} tokens, {learned:,}"
        " with loss"
    )
    losses = runs.run_sft(
        settings.model,
        tokenizer,
        rows,
        settings,
        args.out / f"{stage}-run",
        seconds=args.minutes * 60,
        resume=args.resume,
        result=args.out / stage,
    )
    print_progress(
        f"{stage}: {len(losses)} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}"
        if losses
        else f"{stage}: finished before"
    )


def _measure_models(
    args: argparse.Namespace,
    settings: Settings,
    fit: Sequence[Row],
    made: dict[str, Any],
    tokenizer: Any,
) -> None:
    from callwright_lab.training import tuning
    from callwright_lab.training.toolmvr import scores
    from callwright_lab.training.toolmvr.report import Measured

    verified = sample_held_out(_require_rows(fit, "V", "test"), args.held)
    reflected = sample_held_out(_require_rows(fit, "R", "test"), args.held)
    places = {"untrained": settings.model}
    names = {"v": "V only", "vr": "V and R"}
    places |= {names[n]: str(args.out / n) for n in names if (args.out / n).is_dir()}
    found = {}
    for name, place in places.items():
        model = tuning.open_measured(place, settings)
        losses = [
            scores.measure_loss(model, [made[r.id] for r in some]) for some in (verified, reflected)
        ]
        written = scores.generate_corrections(model, tokenizer, reflected, settings.longest)
        found[name] = Measured(losses[0], losses[1], written)
        del model  # the next one needs its memory
        print_progress(f"measured: {name}")
    (args.out / "scores.json").write_text(json.dumps(to_json(found), indent=1), encoding="utf-8")
    _write_report(args)


def _write_report(args: argparse.Namespace) -> None:
    """The tables of ``scores.json``, whoever wrote it and when."""
    from callwright_lab.training.toolmvr import report as toolmvr_report

    rows = toolmvr_data.read_rows(args.rows or [args.out / "data.jsonl"])
    text = toolmvr_report.render_report(toolmvr_report.read_scores(args.out / "scores.json", rows))
    (args.out / "scores.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _require_rows(rows: Sequence[Row], kind: Kind, part: Part) -> list[Row]:
    found = [r for r in rows if (r.kind, r.part) == (kind, part)]
    if not found:
        raise ConfigError(
            f"no {kind} row of part {part} fits the length",
            hint="raise --context, or add rows: --rows, --tokens",
        )
    return found


def _build_parser() -> argparse.ArgumentParser:
    p = build_run_parser(
        "toolmvr",
        __doc__,
        PRESETS,
        "qwen2.5-7b",
        STAGES,
        timed="each of v and vr",
    )
    p.add_argument(
        "--rows",
        type=Path,
        action="append",
        default=[],
        help="learn from this file instead; repeatable",
    )
    p.add_argument(
        "--sources",
        default=DEFAULT_SOURCES,
        help="data sets to make rows of, by comma (%(default)s)",
    )
    p.add_argument(
        "--tokens",
        type=int,
        default=450_000,
        help="about so many tokens of rows; 0: all (%(default)s)",
    )
    p.add_argument(
        "--held",
        type=int,
        default=0,
        help="rows of each kind that are measured on (0: all of part test)",
    )
    add_options(p, PRESETS["qwen2.5-7b"], "the preset qwen2.5-7b", GOES_BY)
    return p


if __name__ == "__main__":
    raise SystemExit(main())
