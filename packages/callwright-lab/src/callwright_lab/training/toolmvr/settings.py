"""Holds the settings of Tool-MVR runs: 7-8B models on GPUs as in Section 4.3, and a run for a CPU
core.

The paper: LLaMA-3.1-8B-Instruct and Qwen2.5-7B-Instruct, full parameters, learning rate 2e-5,
warmup ratio 0.04, lambda 1, 10:1 of ToolBench-V to ToolBench-R, DeepSpeed ZeRO-3, eight A800
(``--sharding zero3``, started by ``accelerate launch``). The paper does not state the following,
which are chosen here: three epochs, 16 rows a step, 8,192 tokens a row, a cosine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, get_args

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training.tuning_settings import Tuning

Sharding = Literal["none", "zero3", "fsdp"]


@dataclass(frozen=True, slots=True)
class Settings(Tuning):
    """``lam``: the weight of reflections, lambda of Eq. (8). ``ratio``: V rows for each R row in an
    epoch; 0: all rows as they are. ``micro``: rows in one pass. ``sharding``: how several GPUs
    share the model.
    """

    model: str = "Qwen/Qwen2.5-7B-Instruct"
    sft_rate: float = 2e-5
    warmup: float = 0.04
    lam: float = 1.0
    ratio: float = 10.0
    epochs: float = 3.0
    sft_batch: int = 16
    micro: int = 1
    context: int = 8192
    longest: int = 512
    save_every: int = 50
    sharding: Sharding = "none"

    def __post_init__(self) -> None:
        Tuning.__post_init__(self)
        if self.sharding not in get_args(Sharding):
            raise ConfigError(
                f"there is no sharding {self.sharding!r}",
                hint=f"shardings: {', '.join(get_args(Sharding))}",
            )
        if self.lam < 0 or self.ratio < 0:
            raise ConfigError(f"lambda {self.lam:g} and ratio {self.ratio:g} must be 0 or more")


GOES_BY = (
    "model", "sft_rate", "warmup", "epochs", "steps", "sft_batch", "micro", "context", "longest", "lam", "ratio",
    "top", "bf16", "sharding", "save_every", "seed", "adapter", "rank", "alpha", "targets", "optimiser",
    "recompute",
)  # fmt: skip
"""The settings that a run goes by; the others are reinforcement's."""

QWEN = Settings()
LLAMA = replace(QWEN, model="meta-llama/Llama-3.1-8B-Instruct")
CPU = Settings(  # short rows, few layers
    model="smollm2-135m",
    sft_rate=2e-4,
    epochs=1.0,
    sft_batch=4,
    context=1024,
    longest=160,
    bf16=False,
    vllm=False,
    top=8,
    save_every=20,
    recompute=False,
)
ONE_CARD = replace(  # LoRA on the embedded model, for a card of 24 GB
    QWEN, model="qwen2.5-coder-1.5b", adapter="lora", sft_rate=1e-4, context=4096
)
TWO_CORES = replace(  # on two CPU cores, in a file of 18 MB: 500 rows of the shorter ones
    ONE_CARD, rank=8, alpha=16, epochs=1.0, steps=125, sft_batch=4, context=512, longest=160, vllm=False,
    save_every=5,
)  # fmt: skip
PRESETS: Mapping[str, Settings] = {
    "qwen2.5-7b": QWEN,
    "llama-3.1-8b": LLAMA,
    "24gb": ONE_CARD,
    "two-cores": TWO_CORES,
    "cpu": CPU,
}

ZERO3: Mapping[str, Any] = {
    "zero_optimization": {
        "stage": 3,
        "overlap_comm": True,
        "contiguous_gradients": True,
        "stage3_gather_16bit_weights_on_model_save": True,
    },
    "bf16": {"enabled": "auto"},
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
}
"""DeepSpeed's configuration: stage 3, what else is the trainer's."""


def build_sharding_options(settings: Settings) -> dict[str, Any]:
    """Return the trainer arguments for sharing the model among processes. Raises MissingExtra for
    ``zero3`` where DeepSpeed is not installed.
    """
    if settings.sharding == "zero3":
        if find_spec("deepspeed") is None:
            raise MissingExtra("--sharding zero3", "deepspeed", "callwright-lab")
        return {"deepspeed": dict(ZERO3)}
    if settings.sharding == "fsdp":
        return {"fsdp": "full_shard auto_wrap"}
    return {}
