"""``callwright train refiner``: data, supervised warm start, DAPO and the held-out score of a tool-use refiner.

Stages, in order, each leaving its result in ``--out``; ``--stages`` names those to run:

* ``data``: samples by recipe, ``data.jsonl`` and the counts in ``data.md``
* ``sft``: the warm start, folder ``sft``
* ``dapo``: folder ``dapo`` with checkpoints and ``curve.jsonl``, drawn in ``curve.svg``; the result in ``refiner``
* ``against``: the warm start trained on by SFT for the seconds that DAPO took, folder ``against``
* ``measure``: all of them on tasks never learned from, ``scores.md`` and ``scores.json``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from callwright.errors import ConfigError, MissingExtra
from callwright.jsontext import parse
from callwright.training.refiner_curve import curve_svg, read_curve
from callwright.training.refiner_data import ABLATIONS, PAPER, Recipe, compose, report
from callwright.training.refiner_settings import PRESETS, Settings
from callwright.training.refiner_sources import tasks
from callwright.training.refiner_spoil import spoil_with
from callwright.training.refiner_task import Sample, Task, split
from callwright.training.sources import data_root
from callwright.types import to_json

STAGES = ("data", "sft", "dapo", "against", "measure")
RECIPES = {
    "paper": PAPER,
    "cpu": Recipe(sources=("toolrl",), upstreams=("rule",), each=250, correct=150, full=60, simplified=250),
}
_FIELDS = tuple(f.name for f in fields(Settings))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; progress to standard error, tables to standard output."""
    args = _parser().parse_args(arguments)
    settings = replace(
        PRESETS[args.preset], **{k: v for k, v in vars(args).items() if k in _FIELDS and v is not None}
    )
    if "overlong" in args.ablate:
        settings = replace(settings, overlong=False)
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    args.out.mkdir(parents=True, exist_ok=True)
    samples = _samples(args)
    if "data" in args.stages:
        _keep(args.out, samples)
    rest = [stage for stage in args.stages if stage != "data"]
    if rest:
        _train(args, settings, samples, rest)
    return 0


# ---------------------------------------------------------------- data


def _samples(args: argparse.Namespace) -> list[Sample]:
    recipe = _recipe(args)
    names = dict.fromkeys([*recipe.sources, *(["nestools"] if recipe.full or recipe.simplified else [])])
    by_source = {name: tasks(name, args.data or data_root()) for name in names}
    if not args.upstream:
        return compose(recipe, by_source, args.seed or 0)
    made = compose(replace(recipe, upstreams=()), by_source, args.seed or 0)
    made += asyncio.run(_asked(args.upstream, by_source, recipe, args.seed or 0))
    random.Random(args.seed or 0).shuffle(made)
    return made


def _recipe(args: argparse.Namespace) -> Recipe:
    recipe: Recipe = RECIPES[args.preset]
    if args.sources:
        recipe = replace(recipe, sources=tuple(args.sources.split(",")))
    for name in ("each", "correct", "full", "simplified"):
        if getattr(args, name) is not None:
            recipe = replace(recipe, **{name: getattr(args, name)})
    return replace(recipe, simplified=0) if "simplified" in args.ablate else recipe


async def _asked(models: Sequence[str], by_source: dict[str, list[Task]], recipe: Recipe, seed: int) -> list[Sample]:
    """Erroneous samples spoiled by the models themselves, with the paper's prompts."""
    from callwright.models import open_model

    made: list[Sample] = []
    for spec in models:
        model = open_model(spec)
        try:
            found, useless = await spoil_with(model, by_source, recipe, seed)
        finally:
            await model.aclose()
        _progress(f"{spec}: {len(found)} samples, {useless} replies of no use")
        made += found
    return made


def _keep(out: Path, samples: Sequence[Sample]) -> None:
    with (out / "data.jsonl").open("w", encoding="utf-8") as file:
        for s in samples:
            row = {
                "task": s.task.id, "format": s.task.format, "kind": s.kind, "error": s.error, "by": s.by,
                "system": s.task.system, "query": s.task.query, "upstream": s.upstream, "answer": s.answer,
            }  # fmt: skip
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    text = report(samples)
    (out / "data.md").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


# ---------------------------------------------------------------- training


def _train(args: argparse.Namespace, settings: Settings, samples: Sequence[Sample], stages: Sequence[str]) -> None:
    try:
        import torch
    except ImportError:
        raise MissingExtra("training the refiner", "train") from None
    torch.set_num_threads(args.threads)
    from callwright.training import refiner_runs as runs

    model, tokenizer = runs.open_model(settings.model)
    learn, held = (runs.fitting(part, tokenizer, settings) for part in split(samples))
    held = _evenly(held, args.held)
    _progress(f"{len(learn)} samples to learn from, {len(held)} held out, of {len(samples)}")
    if not learn or not held:
        raise ConfigError("no sample fits the lengths", hint="raise --context or --longest, or choose other data")
    if "untrained" in args.ablate:
        _measure(args.out, {"upstream": None, "untrained": model}, tokenizer, held, settings)
        return
    if "sft" in stages and settings.sft_steps:
        losses = runs.sft(model, tokenizer, learn, settings, args.out / "sft-run")
        _save(model, tokenizer, args.out / "sft")
        _progress(f"sft: {len(losses)} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}")
    start = str(args.out / "sft") if (args.out / "sft").is_dir() else settings.model
    if "dapo" in stages:
        model, _ = runs.open_model(start)
        began = runs.clock()
        rows = runs.dapo(model, tokenizer, learn, settings, args.out / "dapo", args.minutes * 60, args.resume)
        _save(model, tokenizer, args.out / "refiner")
        _spent(args.out, runs.clock() - began, args.resume)
        curve = read_curve(args.out / "dapo" / "curve.jsonl")
        (args.out / "curve.svg").write_text(curve_svg(curve), encoding="utf-8")
        _progress(f"dapo: {curve[-1]['step']} steps, {len(rows)} of them now")
    if "against" in stages:
        model, _ = runs.open_model(start)
        losses = runs.sft(model, tokenizer, learn, settings, args.out / "against-run", _spent(args.out))
        _save(model, tokenizer, args.out / "against")
        _progress(f"sft alone for as long: {len(losses)} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}")
    if "measure" in stages:
        names = {"sft": "sft", "refiner": "sft + dapo", "against": "sft alone, equal time"}
        found: dict[str, Any] = {"upstream": None}
        for folder, name in names.items():
            if (args.out / folder).is_dir():
                found[name] = runs.open_model(str(args.out / folder))[0]
        _measure(args.out, found, tokenizer, held, settings)


def _evenly(held: Sequence[Sample], count: int) -> list[Sample]:
    """``count`` held-out samples, each task once, the same ones every time."""
    once = {s.task.id + s.kind: s for s in held}
    return random.Random("held out").sample(list(once.values()), min(count, len(once)))


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _spent(out: Path, seconds: float = 0, more: bool = False) -> float:
    """The seconds DAPO took, over all its resumptions; with ``seconds``, write them down."""
    path = out / "seconds.json"
    known = parse(path.read_text(encoding="utf-8"))["dapo"] if path.exists() and (more or not seconds) else 0.0
    if seconds:
        path.write_text(json.dumps({"dapo": known + seconds}), encoding="utf-8")
    elif not known:
        raise ConfigError(f"there is no DAPO run in {out} to be as long as", hint="run the stage dapo first")
    return float(known + seconds)


def _measure(out: Path, models: dict[str, Any], tokenizer: Any, held: Sequence[Sample], settings: Settings) -> None:
    from callwright.training.refiner_runs import measure, table

    scores = {name: measure(model, tokenizer, held, settings) for name, model in models.items()}
    (out / "scores.json").write_text(json.dumps(to_json(scores), indent=1), encoding="utf-8")
    (out / "scores.md").write_text(table(scores) + "\n", encoding="utf-8")
    sys.stdout.write(table(scores) + "\n")


def _progress(line: str) -> None:
    sys.stderr.write(line + "\n")


# ---------------------------------------------------------------- arguments


def _stages(text: str) -> list[str]:
    found = text.split(",")
    if unknown := [s for s in found if s not in STAGES]:
        raise argparse.ArgumentTypeError(f"no stage {unknown[0]!r}: {', '.join(STAGES)}")
    return found


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        "callwright train refiner", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--preset", choices=tuple(PRESETS), default="paper", help="the paper's run, or one for two cores")
    p.add_argument("--stages", type=_stages, default=list(STAGES), help=f"by comma: {','.join(STAGES)}")
    p.add_argument("--out", type=Path, default=Path("runs/refiner"), help="folder of the run (default: %(default)s)")
    p.add_argument("--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)")
    p.add_argument("--sources", help="conventional data sets by comma: glaive, toolace, xlam, toolrl")
    p.add_argument(
        "--upstream", action="append", default=[], help="model that spoils answers, as URL#MODEL; repeatable"
    )
    p.add_argument("--each", type=int, help="erroneous samples per upstream, error kind and source")
    p.add_argument("--correct", type=int)
    p.add_argument("--full", type=int, help="shuffled nested samples in the full format")
    p.add_argument("--simplified", type=int, help="shuffled nested samples in the simplified format")
    what = "; ".join(f"{name} ({about})" for name, about in ABLATIONS.items())
    p.add_argument("--ablate", action="append", default=[], choices=tuple(ABLATIONS), help=what)
    p.add_argument("--held", type=int, default=500, help="held-out samples to measure on (default: %(default)s)")
    p.add_argument("--minutes", type=float, default=0, help="end DAPO after this long, with a checkpoint")
    p.add_argument("--resume", action="store_true", help="go on from DAPO's last checkpoint")
    p.add_argument("--threads", type=int, default=1)
    paper = PRESETS["paper"]
    for name in _FIELDS:
        kind, flag = type(getattr(paper, name)), f"--{name.replace('_', '-')}"
        if kind is bool:
            p.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction)
        else:
            p.add_argument(flag, dest=name, type=kind, help=f"the paper preset: {getattr(paper, name)}")
    return p


if __name__ == "__main__":
    raise SystemExit(main())
