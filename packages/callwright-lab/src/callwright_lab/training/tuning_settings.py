"""Holds the settings that all training runs on language models share."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

from callwright.nouns.errors import ConfigError
from callwright.weights import REGISTRY

T = TypeVar("T", bound="Tuning")
Loss = Literal["dapo", "grpo"]
Adapter = Literal["none", "lora", "qlora"]
Optimiser = Literal["adamw", "adamw-8bit", "paged-adamw-8bit"]
Targets = Literal["linear", "attention"]


@dataclass(frozen=True, slots=True)
class Optimisation:
    """Settings of the model that is trained, and the objective of its reinforcement."""

    model: str = "Qwen/Qwen3-1.7B"
    rate: float = 1e-6
    epochs: float = 1.0
    steps: int = 0  # optimiser steps; 0: as many as the epochs have
    batch: int = 16
    group: int = 16
    attempts: int = 48
    low: float = 0.2  # clip_ratio_low
    high: float = 0.28  # clip_ratio_high
    # averaged over all tokens of a batch (dapo) or over each reply first (grpo)
    loss: Loss = "dapo"
    beta: float = 0.0  # weight of the KL divergence from where the run began


@dataclass(frozen=True, slots=True)
class Fitting(Optimisation):
    """Settings by which a run fits into the memory there is; none changes what a step learns from.

    ``adapter``: ``lora`` learns low-rank updates of linear layers (Hu et al., 2021) on a base that
    is not changed, in bfloat16 with ``bf16``; ``qlora`` keeps that base in 4 bits (Dettmers et al.,
    2023). ``targets``: all linear layers, or only the four projections of attention. The 8-bit
    optimisers need CUDA; elsewhere AdamW is taken.
    ``rollouts`` costs memory for the cache of so many replies, and saves time.
    ``micro`` and ``sft_micro`` are how many replies and rows are in one pass of one process: the
    rest of a batch is accumulated.
    """

    adapter: Adapter = "none"
    rank: int = 16
    alpha: int = 32
    targets: Targets = "linear"
    optimiser: Optimiser = "adamw"
    micro: int = 2
    sft_micro: int = 1
    recompute: bool = True  # activations in the backward pass, rather than keep them
    rollouts: int = 0  # replies sampled at once by transformers; 0: those of one prompt
    vllm_share: float = 0.3  # of the GPU's memory; vLLM sleeps while the model learns


@dataclass(frozen=True, slots=True)
class Tuning(Fitting):
    """Supervised warm start and reinforcement by groups of replies. Lengths are in tokens.

    ``batch`` counts prompts an optimiser step, ``group`` replies a prompt, ``attempts`` prompts
    sampled at most for one step; with as many attempts as prompts nothing is sampled again, which
    is GRPO. ``sft_batch`` counts rows an optimiser step, over all processes.
    """

    longest: int = 4096  # a reply ends here
    context: int = 4096  # longer prompts are left out
    temperature: float = 1.0
    sft_steps: int = 0
    sft_rate: float = 1e-5
    sft_batch: int = 16
    bf16: bool = True
    # rollouts by vLLM where it is installed and there is a GPU; it reads checkpoints, not GGUF files
    vllm: bool = True
    top: int = 0  # learn only this many of the last layers; 0: all weights
    shared: bool = False  # compute each prompt once for its whole group: exact, and what makes a CPU run possible
    save_every: int = 20
    seed: int = 0

    @property
    def replies_at_once(self) -> int:
        """Greedy replies that are generated at once."""
        return self.rollouts or 8

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise ConfigError(
                f"there is no loss {self.loss!r}", hint=f"losses: {', '.join(get_args(Loss))}"
            )
        if self.batch * self.group % self.micro and not self.shared:
            raise ConfigError(
                f"{self.batch} x {self.group} replies cannot be cut into passes of {self.micro}"
            )
        choices = {"adapter": Adapter, "optimiser": Optimiser, "targets": Targets}
        for name, kind in choices.items():
            if getattr(self, name) not in get_args(kind):
                raise ConfigError(
                    f"there is no {name} {getattr(self, name)!r}",
                    hint=f"there are: {', '.join(get_args(kind))}",
                )
        if self.adapter != "none" and self.top:
            raise ConfigError(
                "an adapter learns beside all layers, --top learns the last of them",
                hint="leave one of --adapter and --top out",
            )
        if self.attempts < self.batch:
            raise ConfigError(f"{self.attempts} attempts cannot fill a batch of {self.batch}")


def is_gguf(name: str) -> bool:
    """Return True if this model is a GGUF file, or a name of ``callwright weights``."""
    return name in REGISTRY or (name.endswith(".gguf") and Path(name).expanduser().is_file())


def add_options(
    parser: argparse.ArgumentParser, settings: Tuning, of: str, names: Collection[str] | None = None
) -> None:
    """A flag for every setting, or for those of these ``names``: the ones that the command goes by.
    ``settings`` are those ``of`` which the help tells.
    """
    for field in fields(settings):
        if names is not None and field.name not in names:
            continue
        value = getattr(settings, field.name)
        kind, flag = type(value), f"--{field.name.replace('_', '-')}"
        if kind is bool:
            parser.add_argument(flag, dest=field.name, action=argparse.BooleanOptionalAction)
        else:
            parser.add_argument(flag, dest=field.name, type=kind, help=f"{of}: {value}")


def with_options(settings: T, args: argparse.Namespace) -> T:
    """The settings with what was given on the command line."""
    names = {f.name for f in fields(settings)}
    return replace(
        settings, **{k: v for k, v in vars(args).items() if k in names and v is not None}
    )
