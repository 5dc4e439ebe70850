"""Warm start, DAPO and the held-out score, on a tiny random model."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner.runs import (
    leave_out_long,
    run_dapo,
    run_rejection,
    run_sft,
    select_fitting,
)
from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


@pytest.mark.heavy
def test_the_warm_start_lowers_the_loss_of_the_gold_answer(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    losses = run_sft(
        model, tokenizer, samples(), replace(TOY, sft_steps=25, sft_rate=1e-2), tmp_path
    )
    assert len(losses) == 25
    assert losses[-1] < losses[0] - 0.5


def test_a_right_answer_that_would_be_punished_for_its_length_is_left_out() -> None:
    tokenizer, found = tiny_tokenizer(), samples()
    lengths = [len(tokenizer(s.answer)["input_ids"]) for s in found]
    free = max(lengths)
    kept = leave_out_long(found, tokenizer, replace(TOY, free=free, longest=9999))
    assert kept == [s for s, n in zip(found, lengths, strict=True) if n < free]
    assert 0 < len(kept) < len(found)


@pytest.mark.heavy
def test_rejection_sampling_imitates_the_replies_that_it_is_given(tmp_path: Path) -> None:
    tokenizer, found = tiny_tokenizer(), samples()[:4]
    best = [(sample, "abc") for sample in found] * 12
    settings = replace(TOY, sft_rate=1e-2)
    losses = run_rejection(tiny_model(tokenizer), tokenizer, best, settings, tmp_path / "run")
    assert len(losses) == len(best) / TOY.sft_batch, "each once, however long the warm start was"
    assert losses[-1] < losses[0] - 0.5
    with pytest.raises(ConfigError, match="no drawn reply"):
        run_rejection("", tokenizer, [], settings, tmp_path / "none")


@pytest.mark.heavy
def test_dapo_takes_its_steps_checkpoints_and_goes_on(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    found = samples()
    rows = run_dapo(tiny_model(tokenizer), tokenizer, found, TOY, tmp_path)
    assert [r["step"] for r in rows] == [1, 2]
    assert {
        "dapo/dropped",
        "dapo/spread",
        "dapo/sampled",
        "completions/mean_length",
        "rewards/overlong/mean",
    } <= set(rows[0])
    with pytest.raises(ConfigError, match="already a run"):
        run_dapo(tiny_model(tokenizer), tokenizer, found, TOY, tmp_path)
    more = run_dapo(
        tiny_model(tokenizer), tokenizer, found, replace(TOY, steps=3), tmp_path, resume=True
    )
    assert more[-1]["step"] == 3
    rows = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert sorted({row["step"] for row in rows}) == [1, 2, 3]
    times = [row["seconds"] for row in rows if "reward" in row]
    assert times == sorted(times), "the time of a resumed run goes on where its checkpoint was"
    assert times[0] > 0


def test_a_time_limit_ends_the_run_with_a_checkpoint(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    run_dapo(
        tiny_model(tokenizer),
        tokenizer,
        samples(),
        replace(TOY, steps=50, save_every=40),
        tmp_path,
        seconds=1e-9,
    )
    assert [p.name for p in tmp_path.glob("checkpoint-*")] == ["checkpoint-1"]


def test_only_samples_within_the_lengths_are_used() -> None:
    tokenizer = tiny_tokenizer()
    found = samples()
    assert select_fitting(found, tokenizer, replace(TOY, longest=1000)) == found
    assert select_fitting(found, tokenizer, replace(TOY, context=50, longest=1000)) == []
