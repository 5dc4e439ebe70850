"""Eq. (6) to (8) on a tiny random model."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch
from datasets import Dataset

from callwright.nouns.errors import ConfigError
from callwright_lab.training.toolmvr.mask import IGNORED, Tokens
from callwright_lab.training.toolmvr.runs import (
    JointTrainer,
    Padded,
    build_sft_config,
    mix_epoch,
    run_sft,
)
from callwright_lab.training.toolmvr.settings import QWEN
from tests.training.refiner_case import tiny_model, tiny_tokenizer
from tests.training.toolmvr_case import TOY

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train

V = Tokens((3, 4, 5, 6, 7), (IGNORED, IGNORED, 5, 6, IGNORED))
R = Tokens((8, 9, 3), (IGNORED, IGNORED, 3), weight=2.0)


def _batch(*rows: Tokens) -> dict[str, torch.Tensor]:
    return Padded(0)([{"input_ids": r.ids, "labels": r.labels, "weight": r.weight} for r in rows])


def _by_hand(model: torch.nn.Module, row: Tokens) -> torch.Tensor:
    """The summed loss of one row, read alone and whole."""
    logits = model(torch.tensor([row.ids])).logits[0].float()
    places = [i for i, label in enumerate(row.labels) if label != IGNORED]
    wanted = torch.tensor([row.labels[i] for i in places])
    return torch.nn.functional.cross_entropy(
        logits[[i - 1 for i in places]], wanted, reduction="sum"
    )


def test_the_loss_is_that_of_v_plus_lambda_times_that_of_r_over_the_learned_tokens(
    tmp_path: Path,
) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    rows = Dataset.from_list([{"input_ids": [1], "labels": [1], "weight": 1.0}])
    trainer = JointTrainer(
        model, args=build_sft_config(TOY, tmp_path), train_dataset=rows, processing_class=tokenizer
    )
    with torch.no_grad():
        expected = (_by_hand(model, V) + 2.0 * _by_hand(model, R)) / 3
        whole = trainer.compute_loss(model, _batch(V, R))
        passes = [trainer.compute_loss(model, _batch(row), num_items_in_batch=3) for row in (V, R)]
    assert whole.item() == pytest.approx(expected.item(), rel=1e-4)
    assert sum(passes).item() == pytest.approx(expected.item(), rel=1e-4), (
        "a step in passes is the same step"
    )


def test_rows_are_padded_on_the_right_and_padding_is_neither_seen_nor_learned() -> None:
    made = _batch(V, R)
    assert made["input_ids"].tolist()[1] == [8, 9, 3, 0, 0]
    assert made["attention_mask"].tolist()[1] == [1, 1, 1, 0, 0]
    assert made["labels"].tolist()[1] == [IGNORED, IGNORED, 3, IGNORED, IGNORED]
    assert made["weight"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("ratio", "expected"), [(10, 2), (2, 10), (1, 20), (0, 4)])
def test_an_epoch_has_one_reflection_for_so_many_v_rows(ratio: float, expected: int) -> None:
    rows = mix_epoch([V] * 20, [R] * 4, ratio)
    assert (rows.count(V), rows.count(R)) == (20, expected)
    assert mix_epoch([V] * 20, [R] * 4, ratio) == rows
    assert mix_epoch([V] * 3, [], ratio) == [V] * 3


@pytest.mark.heavy
def test_a_run_lowers_the_loss_ends_in_time_and_goes_on(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    rows = mix_epoch([V] * 8, [R] * 8, 1)
    losses = run_sft(tiny_model(tokenizer), tokenizer, rows, replace(TOY, steps=8), tmp_path)
    assert len(losses) == 8
    assert losses[-1] < losses[0]
    with pytest.raises(ConfigError, match="already a run"):
        run_sft(tiny_model(tokenizer), tokenizer, rows, TOY, tmp_path)
    more = run_sft(
        tiny_model(tokenizer), tokenizer, rows, replace(TOY, steps=10), tmp_path, resume=True
    )
    assert more[:8] == losses
    assert len(more) == 10
    short = run_sft(
        tiny_model(tokenizer),
        tokenizer,
        rows,
        replace(TOY, steps=8),
        tmp_path / "short",
        seconds=1e-9,
    )
    assert len(short) == 1


def test_trl_is_told_the_papers_optimiser(tmp_path: Path) -> None:
    made = build_sft_config(replace(QWEN, bf16=False), tmp_path)
    assert (made.learning_rate, made.warmup_steps, made.lr_scheduler_type) == (2e-5, 0.04, "cosine")
    assert made.per_device_train_batch_size * made.gradient_accumulation_steps == 16
