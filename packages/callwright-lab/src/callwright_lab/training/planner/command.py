"""``callwright train planner``: tasks, SFT, curation, GRPO and the held-out score of a planner
(Beyond ReAct).

Stages, in order, each leaving its result in ``--out``; ``--stages`` names those to run:

* ``data``: rows of request, tools and plan, ``data.jsonl`` and the counts in ``data.md``; made by
  ``--teacher`` of the ``--tools`` of any catalogue (journal ``drafts.jsonl``, reasons
  ``dropped.jsonl``), or from ``--sources``
* ``sft``: the model after SFT, folder ``sft``
* ``curate``: how often it solves what is to be reinforced on, ``curated.jsonl`` and ``curated.md``
* ``grpo``: folder ``grpo`` with checkpoints and ``curve.jsonl``, drawn in ``curve.svg`` and
  ``curve.md``; the result in ``planner``
* ``measure``: the untrained model and both others on held-out tasks, ``scores.md``, every reply in
  ``scores.json``

``--dry-run`` says what the run would be and cost, and does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from callwright.models import open_model
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import to_json as as_json
from callwright.storage import lines
from callwright.tools.catalog import open_catalog
from callwright.tools.trust import TrustStore
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.files import example_from_row
from callwright_lab.datasets.sources import list_sources, load_examples
from callwright_lab.training.planner import data as planner_data
from callwright_lab.training.planner.curation import (
    Solved,
    append_solved,
    measure_solved,
    read_solved,
    split_curated,
)
from callwright_lab.training.planner.curation import report_curation as curation
from callwright_lab.training.planner.drafts import Draft, to_json
from callwright_lab.training.planner.generator import PAPER, PARTS, Recipe, Run, build_recipe
from callwright_lab.training.planner.generator import report_drafts as generated
from callwright_lab.training.planner.settings import PRESETS, Settings
from callwright_lab.training.processes import do_once, is_main_process
from callwright_lab.training.progress import print_progress
from callwright_lab.training.refiner.curve import curve_svg, curve_table, read_curve
from callwright_lab.training.release import require_sources
from callwright_lab.training.run_parser import build_run_parser, sample_held_out, use_threads
from callwright_lab.training.tuning_settings import add_options, with_options

STAGES = ("data", "sft", "curate", "grpo", "measure")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; progress to standard error, tables to standard output."""
    args = _build_parser().parse_args(arguments)
    settings = with_options(PRESETS[args.preset], args)
    if args.dry_run:
        from callwright_lab.training.planner.dry import report_dry_run

        path = args.out / "data.jsonl"
        sys.stdout.write(
            report_dry_run(
                settings, planner_data.read_rows(path) if path.is_file() else None, args.out
            )
            + "\n"
        )
        return 0
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    args.out.mkdir(parents=True, exist_ok=True)
    if "data" in args.stages and not (args.resume and (args.out / "data.jsonl").is_file()):
        do_once(args.out / "data.done", lambda: _build_data(args))
    rest = [stage for stage in args.stages if stage != "data"]
    if rest:
        _run_training(args, settings, rest)
    return 0


# ---------------------------------------------------------------- data


def _build_data(args: argparse.Namespace) -> None:
    if bool(args.tools) == bool(args.sources):
        raise ConfigError(
            "rows come from a catalogue or from data sets: one of --tools and --sources",
            hint=(
                "--tools examples/desk --teacher local, or --sources"
                " nestools,seal_tools,nestful,tmdb"
            ),
        )
    if args.sources:
        names = args.sources.split(",")
        require_sources([name for name in names if name in list_sources()], args.private)
        loaded = (load_examples(name, args.data) for name in names)
        rows = planner_data.split_parts(
            e for some in loaded for e in planner_data.mix_distractors(some, args.distractors)
        )
        text = planner_data.report_rows(rows)
    else:
        rows, text = asyncio.run(_generate_rows(args))
    (args.out / "data.md").write_text(text + "\n", encoding="utf-8")
    # what was solved of rows before says nothing of these, which may have their ids
    (args.out / "curated.jsonl").unlink(missing_ok=True)
    planner_data.write_rows(args.out / "data.jsonl", rows)  # last: by it the stage is finished
    sys.stdout.write(text + "\n")


async def _generate_rows(args: argparse.Namespace) -> tuple[dict[str, list[PlanExample]], str]:
    wanted = _build_recipe(args)
    async with open_catalog(args.tools, trust=TrustStore()) as catalog:
        tools = catalog.tools
    run = Run(wanted, tools, args.out, print_progress)
    model = open_model(args.teacher)
    try:
        kept, dropped = await run.finish(model, args.concurrency)
    finally:
        await model.aclose()
    lines.write_rows(args.out / "dropped.jsonl", map(to_json, dropped))
    rows: dict[str, list[PlanExample]] = {part: [] for part in PARTS}
    for draft in kept:
        rows[draft.part].append(_build_example(draft))
    return rows, f"{generated(kept, dropped, wanted)}\n\n{planner_data.report_rows(rows)}"


def _build_example(draft: Draft) -> PlanExample:
    made = example_from_row({**to_json(draft), "source": f"generated {draft.difficulty}"})
    assert made is not None, "a label is an acyclic graph of the tools on offer"
    return made


def _build_recipe(args: argparse.Namespace) -> Recipe:
    test, sft, rl = (getattr(args, part) for part in PARTS)
    if not (test or sft or rl):
        return Recipe(PAPER.counts, args.agreement, args.seed or 0)
    none = (0, 0, 0)
    return build_recipe(test or none, sft or none, rl or none, args.agreement, args.seed or 0)


# ---------------------------------------------------------------- training


def _run_training(args: argparse.Namespace, settings: Settings, stages: Sequence[str]) -> None:
    use_threads(args, "training the planner")
    from callwright_lab.training import checkpoints
    from callwright_lab.training.planner import runs

    tokenizer = checkpoints.open_tokenizer(settings.model)
    rows = planner_data.read_rows(args.out / "data.jsonl")
    fit = {part: runs.select_fitting(some, tokenizer, settings) for part, some in rows.items()}
    print_progress(
        "; ".join(
            f"{part}: {len(fit[part])} of {len(rows[part])} rows fit the lengths" for part in PARTS
        )
    )
    if "sft" in stages:
        losses = runs.run_sft(
            settings.model,
            tokenizer,
            _require_examples(fit["sft"], "sft"),
            settings,
            args.out / "sft-run",
            args.minutes * 60,
            args.resume,
            args.out / "sft",
        )
        print_progress(
            f"sft: {len(losses)} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}"
            if losses
            else "sft: finished before"
        )
    start = str(args.out / "sft") if (args.out / "sft").is_dir() else settings.model
    if "curate" in stages:
        asked = _require_examples(fit["rl"], "rl")
        do_once(args.out / "curate.done", lambda: _curate_examples(args, settings, asked, start))
    if "grpo" in stages:
        _run_grpo(args, settings, fit["rl"], start)
    if "measure" in stages and is_main_process():
        held = {"test": sample_held_out(_require_examples(fit["test"], "test"), args.held)}
        watched = split_curated(fit["rl"], read_solved(args.out / "curated.jsonl"))[1]
        _measure_models(args, settings, held | ({"watched": watched} if watched else {}), tokenizer)


def _require_examples(examples: Sequence[PlanExample], part: str) -> Sequence[PlanExample]:
    if not examples:
        raise ConfigError(
            f"no row of part {part} fits the lengths",
            hint="raise --context or --longest, or add rows",
        )
    return examples


def _curate_examples(
    args: argparse.Namespace, settings: Settings, examples: Sequence[PlanExample], start: str
) -> None:
    """Ask the model after SFT several times for every task; what is known from before is not asked
    again.
    """
    from callwright_lab.training import checkpoints, generation, tuning

    path = args.out / "curated.jsonl"
    found = read_solved(path, may_cut=True)
    left = [e for e in examples if e.id not in found]
    if left:
        model = tuning.open_measured(start, settings)
        tokenizer = checkpoints.open_tokenizer(start)
    for number, example in enumerate(left, 1):
        # each task has draws of its own, whichever were asked before it in this process
        generation.seed_draws(f"{settings.seed} {example.id}")
        (texts,) = generation.generate_replies(
            model, tokenizer, [planner_data.build_chat(example)], settings.longest,
            samples=settings.samples, temperature=settings.temperature,
        )  # fmt: skip
        found[example.id] = measure_solved(example, texts, settings.connected)
        append_solved(path, found[example.id])
        if number % 20 == 0:
            print_progress(f"curated {number} of {len(left)}")
    text = curation(examples, found)
    (args.out / "curated.md").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def _run_grpo(
    args: argparse.Namespace, settings: Settings, examples: Sequence[PlanExample], start: str
) -> None:
    from callwright_lab.training import checkpoints
    from callwright_lab.training.planner import runs

    found: dict[str, Solved] = read_solved(args.out / "curated.jsonl")
    trained = split_curated(examples, found)[0] if found else list(examples)
    whole = trained if settings.connected == "gold" else planner_data.select_connected(trained)
    print_progress(
        f"grpo: {len(whole)} tasks; {len(trained) - len(whole)} left out, whose gold Eq. (3) would"
        " punish"
    )
    runs.run_grpo(
        start,
        checkpoints.open_tokenizer(start),
        _require_examples(whole, "rl"),
        settings,
        args.out / "grpo",
        args.minutes * 60,
        args.resume,
        args.out / "planner",
    )
    curve = read_curve(args.out / "grpo" / "curve.jsonl")
    (args.out / "curve.svg").write_text(curve_svg(curve), encoding="utf-8")
    (args.out / "curve.md").write_text(curve_table(curve) + "\n", encoding="utf-8")
    print_progress(f"grpo: {curve[-1]['step']:g} steps")


def _measure_models(
    args: argparse.Namespace,
    settings: Settings,
    held: Mapping[str, Sequence[PlanExample]],
    tokenizer: Any,
) -> None:
    """Every model there is on the test tasks, and on those that curation kept to be watched
    only.
    """
    from callwright_lab.training import tuning
    from callwright_lab.training.planner.scores import (
        Measured,
        compare_planners,
        measure_planner,
        render_table,
    )

    places = {"untrained": settings.model}
    places |= {
        n: str(args.out / f)
        for f, n in {"sft": "SFT", "planner": "SFT+RL"}.items()
        if (args.out / f).is_dir()
    }
    found: dict[str, dict[str, Measured]] = {part: {} for part in held}
    for name, place in places.items():
        model = tuning.open_measured(place, settings)
        for part, examples in held.items():
            found[part][name] = measure_planner(model, tokenizer, examples, settings)
        del model  # the next one needs its memory
    (args.out / "scores.json").write_text(json.dumps(as_json(found), indent=1), encoding="utf-8")
    last = list(places)[-1]
    text = "\n".join(
        f"{part}:\n\n{render_table(some)}\n\n{compare_planners(some, last)}\n"
        for part, some in found.items()
    )
    (args.out / "scores.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


# ---------------------------------------------------------------- arguments


def _parse_counts(text: str) -> tuple[int, int, int]:
    """Easy, medium and hard rows."""
    try:
        easy, medium, hard = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not EASY,MEDIUM,HARD, such as 20,10,0"
        ) from None
    return easy, medium, hard


def _build_parser() -> argparse.ArgumentParser:
    p = build_run_parser(
        "planner",
        __doc__,
        PRESETS,
        "qwen3-8b",
        STAGES,
        timed="each of SFT and GRPO",
    )
    p.add_argument(
        "--tools",
        action="append",
        default=[],
        help="catalogue to make tasks from, as for run; repeatable",
    )
    p.add_argument(
        "--teacher",
        default="local",
        help="model that makes the tasks, as for run (the paper: DeepSeek-V3)",
    )
    for part, about in (
        ("test", "measured on"),
        ("sft", "learned from"),
        ("rl", "offered to curation"),
    ):
        p.add_argument(
            f"--{part}",
            type=_parse_counts,
            help=f"rows {about}, as EASY,MEDIUM,HARD (default: the paper's)",
        )
    p.add_argument(
        "--agreement",
        type=float,
        default=0.5,
        help="least node and edge F1 of label and workflow; 0: paper",
    )
    p.add_argument(
        "--concurrency",
        type=int,
        default=4,
        help="tasks that are made at once (default: %(default)s)",
    )
    p.add_argument("--sources", help="instead of --tools: data sets or files of plans, by comma")
    p.add_argument(
        "--private",
        action="store_true",
        help=(
            "allow sources whose licence forbids passing weights on; such weights are never shipped"
        ),
    )
    p.add_argument(
        "--distractors",
        type=int,
        default=2,
        help="with --sources: at most so many other tools on offer",
    )
    p.add_argument(
        "--held", type=int, default=0, help="tasks that are measured on (0: all of part test)"
    )
    add_options(p, PRESETS["qwen3-8b"], "the preset qwen3-8b")
    return p


if __name__ == "__main__":
    raise SystemExit(main())
