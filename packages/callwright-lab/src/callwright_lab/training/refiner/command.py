"""``callwright train refiner``: data, supervised warm start, DAPO and the held-out score of a
tool-use refiner.

Stages, in order, each leaving its result in ``--out``; ``--stages`` names those to run:

* ``data``: samples by recipe, ``data.jsonl``; counts and licences in ``data.md``; the other stages
  read the first
* ``own``: with ``--own``, replies of the base model, or of each ``--own-model``, as further
  samples, ``own.jsonl``
* ``sft``: the warm start, folder ``sft``
* ``draws``: with ``--draws``, replies drawn from the warm start for so many samples, those of
  ``own`` first, with their rewards, ``draws.jsonl``; DAPO then learns from the samples whose replies
  did not all earn the same
* ``rejection``: rejection sampling, the warm start trained on by SFT on those of these replies that
  have full marks, if there are any, folder ``rejection``
* ``dapo``: folder ``dapo`` with checkpoints and ``curve.jsonl``, drawn in ``curve.svg`` and
  ``curve.md``; the result in ``refiner``
* ``against``: the warm start trained on by SFT for the seconds that DAPO took, folder ``against``
* ``measure``: all of them on tasks never learned from, ``scores.md``, and every reply in
  ``scores.json``

``--dry-run`` looks at all of it on any machine, and does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from callwright.models import ModelOptions, open_model
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.types import to_json
from callwright_lab.datasets.sources import data_root
from callwright_lab.training.processes import do_once, is_main_process
from callwright_lab.training.progress import print_progress
from callwright_lab.training.refiner import store
from callwright_lab.training.refiner.curve import curve_svg, curve_table, read_curve
from callwright_lab.training.refiner.data import (
    ABLATIONS,
    PAPER,
    Recipe,
    Tasks,
    build_rule_samples,
    report_samples,
    split_recipe,
)
from callwright_lab.training.refiner.licences import list_limits, render_licences
from callwright_lab.training.refiner.settings import PRESETS, Settings
from callwright_lab.training.refiner.sources import load_tasks
from callwright_lab.training.refiner.spoil import Spoiling
from callwright_lab.training.refiner.task import RULE, Sample, Task, split_held_out
from callwright_lab.training.run_parser import build_run_parser, use_threads
from callwright_lab.training.tuning_settings import add_options, with_options

STAGES = ("data", "own", "sft", "draws", "rejection", "dapo", "against", "measure")
MEASURED = {
    "sft": "sft",
    "rejection": "sft + rejection",
    "against": "sft alone, equal time",
    "refiner": "sft + dapo",
}
"""Folders of trained models, and their names in ``scores.md``."""
_DRAWS = "draws.jsonl"
RECIPES = {
    "paper": PAPER,
    "24gb": PAPER,
    "80gb": replace(
        PAPER, sources=("seal_tools",), each=120, correct=1000, full=600, simplified=200, held=400
    ),
    "two-cores": replace(
        PAPER, sources=("seal_tools",), each=36, correct=300, full=120, simplified=40, held=240
    ),
    "cpu": Recipe(
        sources=("toolrl",), upstreams=1, each=250, correct=150, full=60, simplified=250, held=300
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; progress to standard error, tables to standard output."""
    args = _build_parser().parse_args(arguments)
    settings = with_options(PRESETS[args.preset], args)
    if "overlong" in args.ablate:
        settings = replace(settings, overlong=False)
    if args.dry_run:
        from callwright_lab.training.refiner.dry import report_dry_run

        text, ready = report_dry_run(
            settings, _build_recipe(args), args.data or data_root(), args.out, len(args.upstream)
        )
        sys.stdout.write(text + "\n")
        return 0 if ready else 1
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    args.out.mkdir(parents=True, exist_ok=True)
    if "data" in args.stages and not (args.resume and (args.out / "data.jsonl").is_file()):
        do_once(args.out / "data.done", lambda: _write_samples(args.out, _build_samples(args)))
    if "own" in args.stages and args.own and not (args.resume and _own_file(args).is_file()):
        do_once(args.out / "own.done", lambda: _ask_own(args, settings))
    rest = [stage for stage in args.stages if stage not in ("data", "own")]
    if rest:
        _run_training(args, settings, _read_samples(args), rest)
    return 0


# ---------------------------------------------------------------- data


def _build_samples(args: argparse.Namespace) -> list[Sample]:
    """The samples by the recipe, errors by rule or by the models that were named."""
    recipe = _build_recipe(args)
    given = split_recipe(
        recipe, {name: load_tasks(name, args.data or data_root()) for name in recipe.data_sets}
    )
    asked: dict[str, Any] = {
        **({"each": 0} if args.upstream else {}),
        **({"full": 0, "simplified": 0} if args.shuffler else {}),
    }
    made = build_rule_samples(
        [(replace(part, **asked), found) for part, found in given], args.seed or 0
    )
    if asked:
        made += asyncio.run(_ask_samples(args, given))
        random.Random(args.seed or 0).shuffle(made)
    return made


def _build_recipe(args: argparse.Namespace) -> Recipe:
    recipe: Recipe = RECIPES[args.preset]
    if args.sources:
        recipe = replace(recipe, sources=tuple(args.sources.split(",")))
    for name in ("nested", "each", "correct", "full", "simplified", "held"):
        if getattr(args, name) is not None:
            recipe = replace(recipe, **{name: getattr(args, name)})
    return recipe


async def _ask_samples(
    args: argparse.Namespace, given: Sequence[tuple[Recipe, Tasks]]
) -> list[Sample]:
    """Samples spoiled by models with the paper's prompts, all models at once. Each is kept in
    ``asked.jsonl`` as it comes, and not asked for again when the stage is run again.
    """
    path = args.out / "asked.jsonl"
    known = store.reopen_samples(path)
    seen: list[Sample] = []

    async def work(spec: str, shuffle: bool) -> None:
        model = open_model(spec)
        one = Spoiling(model, known, lambda s: store.append_samples(path, [s]), args.seed or 0)
        try:
            for place, (part, found) in enumerate(given):
                if shuffle:
                    await one.shuffled(part, found)
                else:  # of the samples to measure on, all models together make as many as rules would
                    each = math.ceil(part.each / len(args.upstream)) if place else part.each
                    await one.erroneous(replace(part, each=each), found)
        finally:
            await model.aclose()
        print_progress(f"{spec}: {len(one.made)} samples, {one.useless} replies of no use")
        seen.extend(one.made)

    failed: CallwrightError | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for spec in args.upstream:
                group.create_task(work(spec, False))
            if args.shuffler:
                group.create_task(work(args.shuffler, True))
    except* (
        CallwrightError
    ) as errors:  # one dead endpoint is one error; what the others made is kept
        failed = next(e for e in errors.exceptions if isinstance(e, CallwrightError))
    if failed is not None:
        raise failed
    return seen


def _write_samples(out: Path, samples: Sequence[Sample]) -> None:
    learned = split_held_out(samples)[0]
    parts = [report_samples(samples), render_licences(learned), *list_limits(learned)]
    text = "\n\n".join(parts)
    (out / "data.md").write_text(text + "\n", encoding="utf-8")
    store.write_samples(out / "data.jsonl", samples)  # last: by it the stage is finished
    sys.stdout.write(text + "\n")


def _read_samples(args: argparse.Namespace) -> list[Sample]:
    """Return the samples that the stages ``data`` and ``own`` wrote."""
    path = args.out / "data.jsonl"
    if not path.is_file():
        raise ConfigError(
            f"there are no samples in {args.out}",
            hint="run the stage data first, or copy a data.jsonl",
        )
    own = _own_file(args)
    return store.read_samples(path) + (store.read_samples(own) if own.is_file() else [])


def _own_file(args: argparse.Namespace) -> Path:
    return Path(args.out / "own.jsonl")


def _ask_own(args: argparse.Namespace, settings: Settings) -> None:
    """Write samples of a model's own replies: ``--own`` tasks to learn from, and a fifth as many of
    those to measure on, for each of ``--own-model`` or for the base in memory.
    """
    use_threads(args, "training the refiner")
    from callwright_lab.training import checkpoints, tuning
    from callwright_lab.training.refiner.own import build_own_samples, select_own_tasks

    _own_file(args).unlink(missing_ok=True)
    learn, held = split_held_out(_read_samples(args))
    tasks = [*select_own_tasks(learn, args.own), *select_own_tasks(held, math.ceil(args.own / 5))]
    if args.own_model:
        made = asyncio.run(_ask_endpoints(args, tasks, settings.longest))
    else:
        tokenizer = checkpoints.open_tokenizer(settings.model)
        model = tuning.open_measured(settings.model, settings)
        made = build_own_samples(model, tokenizer, tasks, settings, Path(settings.model).name)
    store.write_samples(_own_file(args), made)
    wrong = sum(sample.error != "none" for sample in made)
    print_progress(f"own: {len(made)} replies to {len(tasks)} tasks, {wrong} of them wrong")


async def _ask_endpoints(
    args: argparse.Namespace, tasks: Sequence[Task], longest: int
) -> list[Sample]:
    """The replies of each ``--own-model``, in turn. Each is kept in ``own-asked.jsonl`` as it comes,
    and not asked for again when the stage is run again.
    """
    from callwright_lab.training.refiner.own import ask_own_samples

    path = args.out / "own-asked.jsonl"
    made = store.reopen_samples(path)

    def keep(sample: Sample) -> None:
        store.append_samples(path, [sample])
        made.append(sample)

    for spec in args.own_model:
        model = open_model(spec, ModelOptions(at_once=args.jobs))
        known = {sample.task.id for sample in made if sample.by == model.name}
        left = [task for task in tasks if task.id not in known]
        try:
            useless = await ask_own_samples(model, left, longest, keep, args.jobs)
        finally:
            await model.aclose()
        print_progress(f"{spec}: {len(left)} tasks, {useless} replies of no use")
    return made


# ---------------------------------------------------------------- training


def _run_training(
    args: argparse.Namespace, settings: Settings, samples: Sequence[Sample], stages: Sequence[str]
) -> None:
    use_threads(args, "training the refiner")
    from callwright_lab.training import checkpoints
    from callwright_lab.training.refiner import runs

    tokenizer = checkpoints.open_tokenizer(settings.model)
    learn, held = (
        runs.select_fitting(part, tokenizer, settings) for part in split_held_out(samples)
    )
    if "simplified" in args.ablate:
        learn = [s for s in learn if s.kind != "shuffled_simplified"]
    held = _sample_held_out(held, args.held or len(held))
    print_progress(
        f"{len(learn)} samples to learn from, {len(held)} to measure on, of {len(samples)}"
    )
    if not learn or not held:
        raise ConfigError(
            "no sample fits the lengths", hint="raise --context or --longest, or choose other data"
        )
    if "untrained" in args.ablate:
        places = {"upstream": "", "untrained": settings.model}
        _measure_models(args.out, places, tokenizer, held, settings)
        return
    for stage in (s for s in STAGES[2:-1] if s in stages):
        _run_stage(args, settings, stage, learn, tokenizer)
    if "measure" in stages and is_main_process():
        folders = {name: args.out / folder for folder, name in MEASURED.items()}
        there = {name: str(folder) for name, folder in folders.items() if folder.is_dir()}
        _measure_models(args.out, {"upstream": "", **there}, tokenizer, held, settings)


def _run_stage(
    args: argparse.Namespace,
    settings: Settings,
    stage: str,
    learn: Sequence[Sample],
    tokenizer: Any,
) -> None:
    """The warm start, or what is trained from it."""
    from callwright_lab.training.refiner import draws, runs

    warm, out = args.out / "sft", args.out
    if stage in ("draws", "dapo") and settings.overlong:
        learn = runs.leave_out_long(learn, tokenizer, settings)
    start = str(warm) if stage != "sft" and warm.is_dir() else settings.model
    if stage == "sft" and settings.sft_steps:
        losses = runs.run_sft(
            start, tokenizer, learn, settings, out / "sft-run", resume=args.resume, result=warm
        )
        print_progress(_describe_losses("sft", losses))
    if stage == "draws" and args.draws:
        _draw_replies(args, settings, start, learn, tokenizer)
    if stage == "rejection" and (best := draws.choose_best(draws.read_draws(out / _DRAWS))):
        losses = runs.run_rejection(
            start, tokenizer, best, settings, out / "rejection-run", args.resume,
            out / "rejection",
        )  # fmt: skip
        print_progress(_describe_losses("rejection", losses))
    if stage == "dapo":
        drawn = draws.read_draws(out / _DRAWS)
        chosen = [one.sample for one in drawn if one.differs] if drawn else learn
        rows = runs.run_dapo(
            start, tokenizer, chosen, settings, out / "dapo", args.minutes * 60, args.resume,
            out / "refiner",
        )  # fmt: skip
        curve = _write_curve(out)
        print_progress(f"dapo: {curve[-1]['step']} steps, {len(rows)} of them now")
    if stage == "against":
        losses = runs.run_sft(
            start, tokenizer, learn, settings, out / "against-run", _read_dapo_seconds(out),
            args.resume, out / "against",
        )  # fmt: skip
        print_progress(_describe_losses("sft alone for as long", losses))


def _draw_replies(
    args: argparse.Namespace,
    settings: Settings,
    start: str,
    learn: Sequence[Sample],
    tokenizer: Any,
) -> None:
    """Write the draws of ``--draws`` samples; with ``--resume`` of those that have none."""
    from callwright_lab.training import tuning
    from callwright_lab.training.refiner import draws

    path = args.out / _DRAWS
    if not args.resume:
        path.unlink(missing_ok=True)
    done = [one.sample for one in draws.read_draws(path)]
    chosen = sorted(learn, key=lambda s: s.by == RULE)[: args.draws]
    left = [sample for sample in chosen if sample not in done]
    if left:
        draws.draw_replies(
            tuning.open_measured(start, settings), tokenizer, left, settings,
            lambda some: draws.append_draws(path, some),
        )  # fmt: skip
    drawn = draws.read_draws(path)
    print_progress(
        f"draws: {len(drawn)} samples, the replies of {sum(one.differs for one in drawn)} differ in"
        f" reward, {len(draws.choose_best(drawn))} have one of full marks"
    )


def _describe_losses(stage: str, losses: Sequence[float]) -> str:
    if not losses:
        return f"{stage}: finished before"
    return f"{stage}: {len(losses)} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}"


def _sample_held_out(held: Sequence[Sample], count: int) -> list[Sample]:
    """``count`` held-out samples, each task once, the same ones every time."""
    once = {s.task.id + s.kind + s.by: s for s in held}
    return random.Random("held out").sample(list(once.values()), min(count, len(once)))


def _write_curve(out: Path) -> Sequence[Mapping[str, float]]:
    """The curve as a picture and a table."""
    curve = read_curve(out / "dapo" / "curve.jsonl")
    (out / "curve.svg").write_text(curve_svg(curve), encoding="utf-8")
    (out / "curve.md").write_text(curve_table(curve) + "\n", encoding="utf-8")
    return curve


def _read_dapo_seconds(out: Path) -> float:
    """The seconds DAPO took, over all its resumptions."""
    path = out / "dapo" / "curve.jsonl"
    curve = read_curve(path) if path.is_file() else []
    if not curve:
        raise ConfigError(
            f"there is no DAPO run in {out} to be as long as", hint="run the stage dapo first"
        )
    return curve[-1]["seconds"]


def _measure_models(
    out: Path, places: Mapping[str, str], tokenizer: Any, held: Sequence[Sample], settings: Settings
) -> None:
    """Each model in turn, by the place that it is opened from; of the upstream there is none."""
    from callwright_lab.training import tuning
    from callwright_lab.training.refiner.scores import (
        compare_refiners,
        measure_refiner,
        render_table,
    )

    scores = {
        name: measure_refiner(
            tuning.open_measured(place, settings) if place else None, tokenizer, held, settings
        )
        for name, place in places.items()
    }
    (out / "scores.json").write_text(json.dumps(to_json(scores), indent=1), encoding="utf-8")
    text = f"{render_table(scores)}\n\n{compare_refiners(scores, list(scores)[-1])}\n"
    (out / "scores.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


# ---------------------------------------------------------------- arguments


def _build_parser() -> argparse.ArgumentParser:
    p = build_run_parser(
        "refiner",
        __doc__,
        PRESETS,
        "paper",
        STAGES,
        timed="DAPO",
        preset_help="the paper's run, or one for a card of 24 or 80 GB, for two cores, for one",
    )
    p.add_argument(
        "--sources",
        help="conventional data sets by comma: glaive, toolace, xlam, toolrl, seal_tools, or files",
    )
    p.add_argument("--nested", help="nested data set (default: nestools)")
    p.add_argument(
        "--upstream",
        action="append",
        default=[],
        help="model that spoils its own answers, as URL#MODEL; repeatable",
    )
    p.add_argument(
        "--shuffler", help="model that shuffles nested calls, as URL#MODEL (the paper: Qwen3-14B)"
    )
    p.add_argument("--each", type=int, help="erroneous samples per upstream, error kind and source")
    p.add_argument("--correct", type=int)
    p.add_argument(
        "--own", type=int, default=0, help="tasks that a model answers itself (default: none)"
    )
    p.add_argument(
        "--own-model",
        action="append",
        default=[],
        help="that model, your upstream, as URL#MODEL; repeatable (default: the base in memory)",
    )
    p.add_argument(
        "--jobs", type=int, default=1, help="questions to an --own-model at a time (default: 1)"
    )
    p.add_argument(
        "--draws", type=int, default=0, help="samples that replies are drawn for (default: none)"
    )
    p.add_argument("--full", type=int, help="shuffled nested samples in the full format")
    p.add_argument(
        "--simplified", type=int, help="shuffled nested samples in the simplified format"
    )
    what = "; ".join(f"{name} ({about})" for name, about in ABLATIONS.items())
    p.add_argument("--ablate", action="append", default=[], choices=tuple(ABLATIONS), help=what)
    p.add_argument(
        "--held", type=int, help=f"samples held out to measure on (the paper preset: {PAPER.held})"
    )
    add_options(p, PRESETS["paper"], "the paper preset")
    return p


if __name__ == "__main__":
    raise SystemExit(main())
