"""Holds the settings of refiner runs: the paper's run for GPUs, and a run for two CPU cores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.refiner_settings import Prompt
from callwright_lab.training.refiner.rewards import Variant
from callwright_lab.training.tuning_settings import Tuning


@dataclass(frozen=True, slots=True)
class Settings(Tuning):
    """Defaults are the paper's (section 3.4 and Appendix D.1); open in it are ``temperature``,
    ``micro``, and that ``attempts`` (its "up to 48 sampling attempts") is three times the batch. It
    starts from the instruction-tuned model, without a warm start (``sft_steps`` 0).
    """

    free: int = 1024  # a reply up to this length is not punished; at ``longest`` it has the whole penalty of 1
    overlong: bool = True
    variant: Variant = "paper"
    prompt: Prompt = "paper"

    def __post_init__(self) -> None:
        Tuning.__post_init__(self)
        if self.variant not in get_args(Variant) or self.prompt not in get_args(Prompt):
            raise ConfigError(
                f"there is no reward {self.variant!r} or no prompt {self.prompt!r}",
                hint=(
                    f"rewards: {', '.join(get_args(Variant))}; prompts:"
                    f" {', '.join(get_args(Prompt))}"
                ),
            )
        if not 0 < self.free < self.longest:
            raise ConfigError("the penalty must begin before the longest reply ends")


PAPER = Settings()
CPU = (
    Settings(  # one prompt a step and short texts: what one core can do in minutes rather than days
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
        sft_micro=4,
        vllm=False,
        top=8,
        shared=True,
        save_every=10,
        recompute=False,
    )
)
ONE_CARD = replace(  # LoRA on the embedded model, for a card of 24 GB
    PAPER, model="qwen2.5-coder-1.5b", adapter="lora", rate=1e-5, micro=4, free=512, longest=1024,
    context=2048, sft_steps=100, sft_rate=1e-4,
)  # fmt: skip
LARGE_CARD = replace(  # the same for a card of 80 GB: nothing is recomputed, 256 replies at once
    ONE_CARD, micro=16, free=160, longest=256, context=1536, prompt="short", sft_steps=200, sft_batch=32,
    sft_micro=8, steps=16, batch=16, group=8, attempts=48, rollouts=256, recompute=False, rank=8, alpha=16,
)  # fmt: skip
TWO_CORES = replace(  # on two CPU cores, with resume points of 26 MB: 1,008 rows, 64 prompts x 4 replies
    ONE_CARD, targets="attention", rank=8, alpha=16, steps=16, batch=4, group=4, attempts=6, free=120,
    longest=160, context=448, prompt="short", sft_steps=126, sft_batch=8, sft_rate=2e-4, vllm=False,
    shared=True, save_every=10, recompute=False, rollouts=16,
)  # fmt: skip
PRESETS = {"paper": PAPER, "24gb": ONE_CARD, "80gb": LARGE_CARD, "two-cores": TWO_CORES, "cpu": CPU}
