"""Estimates a run of Tool-MVR and its cost on any machine: no GPU, no model, nothing written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from callwright_lab.training.cost import LEARN, render_hours
from callwright_lab.training.memory import find_shape, render_memory
from callwright_lab.training.processes import count_processes
from callwright_lab.training.toolmvr.data import Row
from callwright_lab.training.toolmvr.settings import GOES_BY, Settings

PAPER = (
    11_765,
    3_625,
    1_500,
)  # V rows, R rows, tokens a row (about: those of the published samples)
_FIELDS = ("learning_rate", "lr_scheduler_type", "warmup_steps", "per_device_train_batch_size",
           "gradient_accumulation_steps", "num_train_epochs", "max_steps", "max_length", "bf16")  # fmt: skip


def report_dry_run(settings: Settings, rows: Sequence[Row] | None, out: Path) -> str:
    """The settings, what TRL is told, and the cost for these rows (or for the paper's counts), as
    Markdown.
    """
    lines = ["| setting | this run |", "|---|---|"]
    lines += [f"| {name} | {getattr(settings, name)} |" for name in GOES_BY]
    return "\n".join(
        [*lines, "", *_render_trainer_table(settings, out), "", *estimate_cost(settings, rows)]
    )


def estimate_cost(settings: Settings, rows: Sequence[Row] | None) -> list[str]:
    """Rows, tokens, memory and hours, in lines of text."""
    verified, reflected, mean = PAPER if rows is None else _count_rows(rows, settings.context)
    drawn = round(verified / settings.ratio) if settings.ratio else reflected
    joint = verified + (drawn if reflected else 0)
    mean = min(mean, settings.context)
    steps = settings.steps or math.ceil(joint * settings.epochs / settings.sft_batch)
    seen = settings.steps * settings.sft_batch * mean or joint * mean * settings.epochs
    alone = settings.steps * settings.sft_batch * mean or verified * mean * settings.epochs
    told = [
        _describe_basis(settings, rows),
        (
            f"V and R: {verified} + {drawn if reflected else 0} rows an epoch (of {reflected} R"
            f" rows; ratio {settings.ratio:g}) x {mean} tokens, {steps} steps of"
            f" {settings.sft_batch}: {seen / 1e6:.2f} M tokens. V only: {alone / 1e6:.2f} M tokens."
        ),
    ]
    shape = find_shape(settings.model)
    if shape is None:
        return [*told, f"The shape of {settings.model} is not known here: no hours, no memory."]
    shared = settings.sharding != "none"
    processes = count_processes()
    # a pass has ``micro`` rows here, and a row's reply is within its ``context``
    passes = replace(settings, sft_micro=settings.micro, longest=0)
    return [
        *told,
        render_hours({"V and R": (seen, LEARN)}, shape.parameters),
        render_memory(passes, "sft", shards=processes if shared else 1),
        f"sharding: {settings.sharding}, processes: {processes}.",
    ]


def _describe_basis(settings: Settings, rows: Sequence[Row] | None) -> str:
    """Return a sentence on the rows that the counts are based on."""
    if rows is None:
        return (
            f"No rows are here yet, so the counts are the paper's ({PAPER[0]:,} V and {PAPER[1]:,}"
            " R rows): --stages data makes rows, --rows FILE takes others."
        )
    held = sum(row.part == "test" for row in rows)
    long = sum(row.part == "train" and row.tokens > settings.context for row in rows)
    return (
        f"Of {len(rows)} rows {len(rows) - held - long} are learned from: {held} are held out,"
        f" {long} longer than {settings.context} tokens (at four characters a token)."
    )


def _count_rows(rows: Sequence[Row], context: int) -> tuple[int, int, int]:
    train = [r for r in rows if r.part == "train" and r.tokens <= context]
    mean = round(sum(r.tokens for r in train) / max(1, len(train)))
    return sum(r.kind == "V" for r in train), sum(r.kind == "R" for r in train), mean


def _render_trainer_table(settings: Settings, out: Path) -> list[str]:
    if any(find_spec(name) is None for name in ("torch", "trl", "peft", "datasets", "gguf")):
        return ["TRL is not installed: its configuration was not made."]
    from callwright_lab.training.toolmvr.runs import build_sft_config

    # what this machine lacks for the run is none of the configuration's business
    made = build_sft_config(replace(settings, bf16=False, sharding="none"), out)
    rows = [f"| {name} | {getattr(made, name)} |" for name in _FIELDS if name != "bf16"]
    return ["| TRL's SFTConfig | value |", "|---|---|", *rows, f"| bf16 | {settings.bf16} |"]
