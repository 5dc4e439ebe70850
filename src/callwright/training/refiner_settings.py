"""What a refiner run is set to: the paper's run for GPUs, and one that two CPU cores can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from callwright.errors import ConfigError
from callwright.refine.model import Prompt
from callwright.training.rewards import Variant


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults are the paper's (section 3.4 and Appendix D.1); what it leaves open says so.

    ``batch`` counts prompts an optimiser step, ``group`` replies a prompt, ``attempts`` prompts sampled at most for
    one step (the paper's "up to 48 sampling attempts": three times the batch). Lengths are in tokens.
    """

    model: str = "Qwen/Qwen3-1.7B"
    rate: float = 1e-6
    epochs: float = 1.0
    steps: int = 0  # optimiser steps; 0: as many as the epochs have
    batch: int = 16
    group: int = 16
    attempts: int = 48
    low: float = 0.2  # clip_ratio_low
    high: float = 0.28  # clip_ratio_high
    free: int = 1024  # a reply up to this length is not punished
    longest: int = 4096  # where it ends, with the whole penalty of 1
    context: int = 4096  # longer prompts are left out
    overlong: bool = True
    variant: Variant = "paper"
    prompt: Prompt = "paper"
    temperature: float = 1.0  # open in the paper
    micro: int = 8  # replies per forward pass; open in the paper
    sft_steps: int = 0  # the paper starts from the instruction-tuned model
    sft_rate: float = 1e-5
    sft_batch: int = 16
    bf16: bool = True
    vllm: bool = True  # rollouts by vLLM where it is installed and there is a GPU
    top: int = 0  # learn only this many of the last layers; 0: all weights
    shared: bool = False  # compute each prompt once for its whole group: exact, and what makes a CPU run possible
    save_every: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if self.variant not in get_args(Variant) or self.prompt not in get_args(Prompt):
            raise ConfigError(
                f"there is no reward {self.variant!r} or no prompt {self.prompt!r}",
                hint=f"rewards: {', '.join(get_args(Variant))}; prompts: {', '.join(get_args(Prompt))}",
            )
        if self.batch * self.group % self.micro and not self.shared:
            raise ConfigError(f"{self.batch} x {self.group} replies cannot be cut into passes of {self.micro}")
        if self.attempts < self.batch:
            raise ConfigError(f"{self.attempts} attempts cannot fill a batch of {self.batch}")
        if not 0 < self.free < self.longest:
            raise ConfigError("the penalty must begin before the longest reply ends")


PAPER = Settings()
CPU = Settings(  # one prompt a step and short texts: what one core can do in minutes rather than days
    model="smollm2-135m",
    rate=2e-5,
    steps=110,
    batch=1,
    group=8,
    attempts=3,
    free=40,
    longest=56,
    context=208,
    prompt="short",
    sft_steps=12,
    sft_rate=2e-4,
    sft_batch=4,
    vllm=False,
    top=8,
    shared=True,
    save_every=10,
)
PRESETS = {"paper": PAPER, "cpu": CPU}
