"""``callwright train refiner --dry-run``: what a run would do, as TRL would be told it, without a
GPU or the model.

The data sets are read and counted, TRL's own configuration is made (it refuses what it does not
know), and every value that the paper states is printed beside the value that will be used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright_lab.training.cost import ASK, LEARN, REINFORCE, render_hours
from callwright_lab.training.memory import find_shape, render_memory
from callwright_lab.training.refiner.data import ERROR_KINDS, PAPER_UPSTREAMS, Recipe
from callwright_lab.training.refiner.settings import PAPER, Settings
from callwright_lab.training.refiner.sources import load_tasks

TOLD = (
    "learning_rate", "num_train_epochs", "max_steps", "loss_type", "epsilon", "epsilon_high", "beta", "scale_rewards",
    "num_generations", "generation_batch_size", "per_device_train_batch_size", "gradient_accumulation_steps",
    "max_completion_length", "temperature", "mask_truncated_completions", "use_vllm",
    "vllm_mode", "vllm_max_model_length",
)  # fmt: skip
"""TRL's fields that are set."""


def report_dry_run(
    settings: Settings, recipe: Recipe, data: Path, out: Path, upstreams: int
) -> tuple[str, bool]:
    """(report as Markdown, whether the run could begin). ``upstreams``: models that were named to
    spoil answers.
    """
    found, missing = _render_data(recipe, data)
    told, short = _render_trainer(settings, out)
    lines = [
        *_render_settings(settings),
        "",
        *_render_recipe(recipe, settings, upstreams),
        "",
        *_render_cost(recipe, settings),
        "",
        *found,
        "",
        *told,
    ]
    lacks = [*missing, *short]
    lines += ["", "Nothing is missing." if not lacks else "Missing: " + "; ".join(lacks)]
    return "\n".join(lines), not lacks


def _render_table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return lines + [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]


def _render_settings(settings: Settings) -> list[str]:
    names = (f.name for f in fields(Settings))
    return _render_table(
        ("setting", "this run", "the paper's"),
        ((n, getattr(settings, n), getattr(PAPER, n)) for n in names),
    )


def _render_recipe(recipe: Recipe, settings: Settings, upstreams: int) -> list[str]:
    makers = f"{upstreams} models" if upstreams else f"rules {recipe.upstreams} times"
    product = f"{makers} x {len(ERROR_KINDS)} errors x {len(recipe.sources)} sets x {recipe.each}"
    recipe = replace(recipe, upstreams=upstreams or recipe.upstreams)
    rows: list[Sequence[object]] = [
        ("erroneous", recipe.erroneous, product),
        ("correct", recipe.correct, "of each set the same"),
        ("shuffled, full", recipe.full, recipe.nested),
        ("shuffled, simplified", recipe.simplified, recipe.nested),
        ("held out to measure on", recipe.held, "other tasks, the same proportions"),
        ("seen by SFT", settings.sft_steps * settings.sft_batch, f"{settings.sft_steps} steps"),
    ]
    lines = _render_table(("samples", "count", "from"), iter(rows))
    if not upstreams:
        names = ", ".join(PAPER_UPSTREAMS)
        lines += ["", f"In the paper the erroneous ones are made by five --upstream: {names}."]
    steps = settings.steps or math.floor(settings.epochs * recipe.total / settings.batch)
    lines += ["", f"{steps} optimiser steps of {settings.batch} prompts x {settings.group} replies, at most "
              f"{settings.attempts} prompts sampled for each."]  # fmt: skip
    return lines


def _render_cost(recipe: Recipe, settings: Settings) -> list[str]:
    """Hours and memory at the longest prompts and replies that the settings take."""
    shape = find_shape(settings.model)
    if shape is None:
        return [f"The shape of {settings.model} is not known here: no hours, no memory."]
    steps = settings.steps or math.floor(settings.epochs * recipe.total / settings.batch)
    row = settings.context + settings.longest
    reinforced = (steps * settings.batch * settings.group * row, REINFORCE)
    work = {
        "SFT": (settings.sft_steps * settings.sft_batch * row, LEARN),
        "DAPO": reinforced,
        "the stage against": reinforced,  # it is as long
        "measure": (3 * recipe.held * row, ASK),  # after SFT, after DAPO, and after against
    }
    lines = [render_hours({k: v for k, v in work.items() if v[0]}, shape.parameters)]
    if settings.sft_steps:
        lines += ["", f"SFT: {render_memory(settings, 'sft')}"]
    return [*lines, "", f"DAPO: {render_memory(settings, 'groups')}"]


def _render_data(recipe: Recipe, data: Path) -> tuple[list[str], list[str]]:
    rows: list[Sequence[object]] = []
    missing: list[str] = []
    for name in recipe.data_sets:
        try:
            found = load_tasks(name, data)
        except ConfigError as error:
            rows.append((name, 0, 0, error.hint))
            missing.append(error.message)
            continue
        held = sum(t.held_out for t in found)
        rows.append((name, len(found) - held, held, "read"))
        if not held or held == len(found):
            missing.append(f"tasks of {name} on both sides of the split")
    return _render_table(
        ("data set", "tasks to learn from", "held out", "how"), iter(rows)
    ), missing


def _render_trainer(settings: Settings, out: Path) -> tuple[list[str], list[str]]:
    if any(find_spec(name) is None for name in ("torch", "trl", "peft", "datasets", "gguf")):
        return ["TRL is not installed: its configuration was not made."], ["the extra 'train'"]
    from callwright_lab.training.tuning import group_config

    config: Any = group_config(settings, out, gpu=settings.vllm)
    lines = _render_table(("TRL's GRPOConfig", "value"), ((n, getattr(config, n)) for n in TOLD))
    vllm = "vLLM" if settings.vllm else "transformers"
    note = (
        "" if find_spec("vllm") or not settings.vllm else " where it is installed; here it is not"
    )
    return [*lines, "", f"Replies are sampled by {vllm}{note}. bf16: {settings.bf16}."], []
