"""Estimates a planner's run and its cost on any machine: no GPU, no model, nothing written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright.models.chat import estimate_tokens
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.training.cost import LEARN, REINFORCE, render_hours
from callwright_lab.training.memory import find_shape, render_memory
from callwright_lab.training.planner.data import Parted, build_chat, render_gold
from callwright_lab.training.planner.settings import Settings

TOLD = (
    "loss_type", "num_generations", "learning_rate", "beta", "epsilon", "epsilon_high", "temperature",
    "max_completion_length", "per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs",
    "max_steps", "use_vllm",
)  # fmt: skip
"""TRL's fields that are set."""


def report_dry_run(settings: Settings, rows: Parted | None, out: Path) -> str:
    """The settings, what TRL is told, and the cost for these rows (or for the paper's counts), as
    Markdown.
    """
    lines = ["| setting | this run |", "|---|---|"]
    lines += [f"| {f.name} | {getattr(settings, f.name)} |" for f in fields(Settings)]
    return "\n".join(
        [*lines, "", *_render_trainer_table(settings, out), "", *estimate_cost(settings, rows)]
    )


def estimate_cost(settings: Settings, rows: Parted | None) -> list[str]:
    """Tokens, memory and hours, in lines of text."""
    learned, prompts, mean = (3000, 630, 900) if rows is None else _count_tokens(rows)
    mean = min(mean, settings.context)  # longer rows are left out
    seen = settings.sft_steps * settings.sft_batch or learned * settings.sft_epochs
    supervised = seen * mean
    steps = settings.steps or math.ceil(settings.epochs * prompts / settings.batch)
    replies = steps * settings.batch * settings.group
    sampled = replies * (mean + settings.longest // 4)
    told = [
        (f"SFT: {seen:g} rows read of {learned} x {mean} tokens: {supervised / 1e6:.2f} M tokens."),
        (
            f"GRPO: {steps} steps x {settings.batch} prompts x {settings.group} replies ="
            f" {replies:,} replies, {sampled / 1e6:.2f} million tokens read or written."
        ),
    ]
    shape = find_shape(settings.model)
    if shape is None:
        return [*told, f"The shape of {settings.model} is not known here: no hours, no memory."]
    work = {"SFT": (supervised, LEARN), "GRPO": (sampled, REINFORCE)}
    return [
        *told,
        render_hours(work, shape.parameters),
        f"SFT: {render_memory(settings, 'sft')}",
        f"GRPO: {render_memory(settings, 'groups')}",
    ]


def _count_tokens(rows: Parted) -> tuple[int, int, int]:
    """(rows to learn from, rows to reinforce on, mean tokens of a row), at four characters a
    token.
    """
    some: Sequence[PlanExample] = [*rows.get("sft", ()), *rows.get("rl", ())]
    lengths = [
        estimate_tokens("".join(m["content"] for m in build_chat(e)) + render_gold(e)) for e in some
    ]
    return (
        len(rows.get("sft", ())),
        len(rows.get("rl", ())),
        round(sum(lengths) / max(1, len(lengths))),
    )


def _render_trainer_table(settings: Settings, out: Path) -> list[str]:
    if any(find_spec(name) is None for name in ("torch", "trl", "peft", "datasets", "gguf")):
        return ["TRL is not installed: its configuration was not made."]
    from callwright_lab.training.tuning import group_config

    config: Any = group_config(settings, out, gpu=settings.vllm)
    return [
        "| TRL's GRPOConfig | value |",
        "|---|---|",
        *(f"| {n} | {getattr(config, n)} |" for n in TOLD),
    ]
