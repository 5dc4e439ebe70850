"""Holds the settings that all training runs on language models share."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeVar, get_args

from callwright.nouns.errors import ConfigError

T = TypeVar("T", bound="Tuning")
Loss = Literal["dapo", "grpo"]


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
class Tuning(Optimisation):
    """Supervised warm start and reinforcement by groups of replies. Lengths are in tokens.

    ``batch`` counts prompts an optimiser step, ``group`` replies a prompt, ``attempts`` prompts
    sampled at most for one step; with as many attempts as prompts nothing is sampled again, which
    is GRPO. ``micro`` is how many replies are in one forward pass.
    """

    longest: int = 4096  # a reply ends here
    context: int = 4096  # longer prompts are left out
    temperature: float = 1.0
    micro: int = 8
    sft_steps: int = 0
    sft_rate: float = 1e-5
    sft_batch: int = 16
    bf16: bool = True
    vllm: bool = True  # rollouts by vLLM where it is installed and there is a GPU
    top: int = 0  # learn only this many of the last layers; 0: all weights
    shared: bool = False  # compute each prompt once for its whole group: exact, and what makes a CPU run possible
    save_every: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise ConfigError(
                f"there is no loss {self.loss!r}", hint=f"losses: {', '.join(get_args(Loss))}"
            )
        if self.batch * self.group % self.micro and not self.shared:
            raise ConfigError(
                f"{self.batch} x {self.group} replies cannot be cut into passes of {self.micro}"
            )
        if self.attempts < self.batch:
            raise ConfigError(f"{self.attempts} attempts cannot fill a batch of {self.batch}")


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
