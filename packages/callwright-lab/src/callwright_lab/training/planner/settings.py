"""Holds the settings of planner runs: Qwen3 on GPUs as in Beyond ReAct, and a run for a CPU core.

The paper says which models, that SFT minimises the negative log-likelihood of the plan, that GRPO
follows with the reward of Eq. (3), and how many rows each sees (3,000 and 80 % of 787). It gives no
number of either optimiser. Chosen here: for SFT a rate of 1e-5 (2e-5 for the two small models),
three epochs, batches of 16; for GRPO a rate of 1e-6, 8 replies a prompt, 16 prompts a step, three
epochs, and DeepSeekMath's clip of 0.2 and KL weight of 0.04, its own settings where it has them
(Shao et al., 2024); temperature 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from callwright.nouns.errors import ConfigError
from callwright_lab.training.planner.reward import Connected
from callwright_lab.training.tuning_settings import Loss, Tuning


@dataclass(frozen=True, slots=True)
class Settings(Tuning):
    """``samples``: replies a task, by which curation tells what is always and what is never
    solved.
    """

    model: str = "Qwen/Qwen3-8B"
    epochs: float = 3.0
    group: int = 8
    attempts: int = 16  # as many as the batch: GRPO samples nothing again
    high: float = 0.2
    loss: Loss = "grpo"
    beta: float = 0.04
    longest: int = 256
    sft_epochs: float = 3.0
    samples: int = 8
    connected: Connected = "paper"

    def __post_init__(self) -> None:
        Tuning.__post_init__(self)
        if self.connected not in get_args(Connected):
            raise ConfigError(
                f"there is no rule {self.connected!r}",
                hint=f"rules: {', '.join(get_args(Connected))}",
            )
        if self.samples < 2:
            raise ConfigError(
                "one reply does not tell whether a task is always or never solved",
                hint="--samples 8",
            )


QWEN3_8B = Settings()
QWEN3_4B = replace(QWEN3_8B, model="Qwen/Qwen3-4B")
QWEN3_1_7B = replace(QWEN3_8B, model="Qwen/Qwen3-1.7B", sft_rate=2e-5)
QWEN3_0_6B = replace(
    QWEN3_8B, model="Qwen/Qwen3-0.6B", sft_rate=2e-5
)  # RL was unstable at this size in the paper
CPU = Settings(  # short prompts, few layers, one prompt a step
    model="smollm2-135m",
    rate=2e-5,
    epochs=1.0,
    steps=60,
    batch=1,
    attempts=1,
    beta=0.0,
    longest=40,
    context=384,
    sft_rate=2e-4,
    sft_batch=4,
    sft_micro=4,
    sft_epochs=1.0,
    bf16=False,
    vllm=False,
    top=8,
    shared=True,
    save_every=10,
    recompute=False,
    connected="gold",
)
ONE_CARD = replace(  # LoRA on the embedded model, for a card of 24 GB
    QWEN3_8B, model="qwen2.5-coder-1.5b", adapter="lora", rate=1e-5, sft_rate=1e-4,
    micro=4, context=2048,
)  # fmt: skip
TWO_CORES = replace(  # on two CPU cores, in a file of 18 MB: short prompts, few of them
    ONE_CARD, rank=8, alpha=16, steps=16, batch=4, group=4, attempts=4, beta=0.0, epochs=1.0, sft_epochs=1.0,
    sft_steps=125, sft_batch=4, context=384, longest=80, vllm=False, shared=True,
    save_every=5, connected="gold", samples=4,
)  # fmt: skip
PRESETS: Mapping[str, Settings] = {
    "qwen3-0.6b": QWEN3_0_6B,
    "qwen3-1.7b": QWEN3_1_7B,
    "qwen3-4b": QWEN3_4B,
    "qwen3-8b": QWEN3_8B,
    "24gb": ONE_CARD,
    "two-cores": TWO_CORES,
    "cpu": CPU,
}
