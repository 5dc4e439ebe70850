"""Supervised fine-tuning on both kinds of rows at once (Tool-MVR, Eq. (6) to (8)), on TRL.

Differs from the paper's LLaMA-Factory in: 1) loss is a mean over the step's learned tokens, as
TRL's is, in which a reflection's tokens count lambda times; with lambda 1 both are the same
objective; 2) logits are made only where there is loss, which a long prompt makes most of the saving
on a CPU.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.nouns.errors import MissingExtra
from callwright_lab.training.resumption import Checkpoints
from callwright_lab.training.toolmvr.mask import IGNORED, Tokens
from callwright_lab.training.toolmvr.settings import Settings, build_sharding_options
from callwright_lab.training.tuning import (
    choose_learned,
    describe_run,
    open_given,
    run_stage,
    share_batch,
)

try:
    import torch
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None


class JointTrainer(SFTTrainer):  # type: ignore[misc]
    """TRL's trainer with a weight a row: L = L_V + lambda L_R."""

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        target = inputs["labels"][:, 1:]
        places = (target != IGNORED).any(0).nonzero().squeeze(-1)
        outputs = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            use_cache=False,
            logits_to_keep=places,
        )
        wanted = target[:, places]
        losses = torch.nn.functional.cross_entropy(
            outputs.logits.float().transpose(1, 2), wanted, ignore_index=IGNORED, reduction="none"
        )
        count = (wanted != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        loss = (losses * inputs["weight"].unsqueeze(1)).sum() / torch.as_tensor(count).clamp(min=1)
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            loss = loss * self.accelerator.num_processes
        return (loss, outputs) if return_outputs else loss


class Padded:
    """Rows as a batch, padded on the right."""

    def __init__(self, padding: int) -> None:
        self.padding = padding

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        longest = max(len(row["input_ids"]) for row in rows)
        ids = [
            [*row["input_ids"], *[self.padding] * (longest - len(row["input_ids"]))] for row in rows
        ]
        labels = [[*row["labels"], *[IGNORED] * (longest - len(row["labels"]))] for row in rows]
        seen = [
            [1] * len(row["input_ids"]) + [0] * (longest - len(row["input_ids"])) for row in rows
        ]
        made = {"input_ids": ids, "labels": labels, "attention_mask": seen}
        return {k: torch.tensor(v) for k, v in made.items()} | {
            "weight": torch.tensor([r["weight"] for r in rows])
        }


def mix_epoch(
    verified: Sequence[Tokens], reflections: Sequence[Tokens], ratio: float, seed: int = 0
) -> list[Tokens]:
    """One epoch: every V row, and one R row for each ``ratio`` of them, shuffled; 0: all R rows,
    each once.

    Where there are fewer R rows than that asks for, they come again.
    """
    rng = random.Random(f"mix {seed}")
    count = len(reflections) if not ratio else round(len(verified) / ratio)
    drawn: list[Tokens] = []
    while reflections and len(drawn) < count:
        drawn += rng.sample(list(reflections), min(len(reflections), count - len(drawn)))
    rows = [*verified, *drawn]
    rng.shuffle(rows)
    return rows


def run_sft(
    model: Any, tokenizer: Any, rows: Sequence[Tokens], settings: Settings, out: Path,
    *, seconds: float = 0, resume: bool = False, result: Path | None = None,
) -> list[float]:  # fmt: skip
    """Learn the rows; the loss of every step. It ends with the epochs, ``settings.steps`` or after
    ``seconds``.

    ``resume`` and ``result``: see :func:`callwright_lab.training.tuning.run_stage`.
    """
    told_rows = [
        {"input_ids": list(r.ids), "labels": list(r.labels), "weight": r.weight} for r in rows
    ]
    padding = (
        tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    )

    def make(_: Path | None, callback: Checkpoints) -> JointTrainer:
        opened = open_given(model, settings)
        return JointTrainer(
            opened,
            args=build_sft_config(settings, out),
            train_dataset=Dataset.from_list(told_rows),
            processing_class=tokenizer,
            data_collator=Padded(padding),
            callbacks=[callback],
            peft_config=choose_learned(opened, settings),
        )

    order = {"steps": settings.steps, "epochs": settings.epochs, "seconds": seconds}
    log = run_stage(make, settings, out, order, resume=resume, result=result)
    return [row["loss"] for row in log if "loss" in row]


def build_sft_config(settings: Settings, out: Path, gpu: bool = False) -> Any:
    """Return the configuration of the TRL trainer; ``gpu`` shows it as on a machine with CUDA."""
    micro, passes = share_batch(settings.sft_batch, settings.micro)
    return SFTConfig(
        **{
            **describe_run(settings, out, settings.steps, settings.sft_rate, gpu),
            "lr_scheduler_type": "cosine",
            **build_sharding_options(settings),
        },
        warmup_steps=settings.warmup,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=passes,
        max_length=settings.context,
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
    )
