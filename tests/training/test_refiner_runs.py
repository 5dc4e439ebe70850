"""Warm start, DAPO and the held-out score, on a tiny random model."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer

from callwright.errors import ConfigError
from callwright.training.refiner_runs import dapo, dapo_config, fitting, learn_only_top, open_model, sft
from callwright.training.refiner_settings import CPU, PAPER

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_the_warm_start_lowers_the_loss_of_the_gold_answer(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    losses = sft(model, tokenizer, samples(), replace(TOY, sft_steps=25, sft_rate=1e-2), tmp_path)
    assert len(losses) == 25
    assert losses[-1] < losses[0] - 0.5


def test_dapo_takes_its_steps_checkpoints_and_goes_on(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    found = samples()
    with pytest.raises(ConfigError, match="no checkpoint"):
        dapo(tiny_model(tokenizer), tokenizer, found, TOY, tmp_path / "none", resume=True)
    rows = dapo(tiny_model(tokenizer), tokenizer, found, TOY, tmp_path)
    assert [r["step"] for r in rows] == [1, 2]
    assert {"dapo/dropped", "dapo/spread", "dapo/sampled", "completions/mean_length", "rewards/overlong/mean"} <= set(
        rows[0]
    )
    with pytest.raises(ConfigError, match="already a run"):
        dapo(tiny_model(tokenizer), tokenizer, found, TOY, tmp_path)
    more = dapo(tiny_model(tokenizer), tokenizer, found, replace(TOY, steps=3), tmp_path, resume=True)
    assert more[-1]["step"] == 3
    rows = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert sorted({row["step"] for row in rows}) == [1, 2, 3]
    times = [row["seconds"] for row in rows if "reward" in row]
    assert times == sorted(times), "the time of a resumed run goes on where its checkpoint was"
    assert times[0] > 0


def test_a_time_limit_ends_the_run_with_a_checkpoint(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    dapo(tiny_model(tokenizer), tokenizer, samples(), replace(TOY, steps=50, save_every=40), tmp_path, seconds=1e-9)
    assert [p.name for p in tmp_path.glob("checkpoint-*")] == ["checkpoint-1"]


def test_trl_is_told_what_the_paper_says(tmp_path: Path) -> None:
    config = dapo_config(replace(PAPER, bf16=False), tmp_path)
    assert (config.loss_type, config.epsilon, config.epsilon_high, config.beta) == ("dapo", 0.2, 0.28, 0.0)
    assert (config.num_generations, config.max_completion_length, config.learning_rate) == (16, 4096, 1e-6)
    assert config.generation_batch_size == 16 * 16
    assert config.gradient_accumulation_steps * config.per_device_train_batch_size == 16 * 16
    assert (config.num_train_epochs, config.max_steps, config.scale_rewards) == (1, -1, "group")
    seen = dapo_config(PAPER, tmp_path, gpu=True)
    assert (seen.use_vllm, seen.vllm_mode, seen.vllm_max_model_length) == (True, "colocate", 8192)
    packed = dapo_config(replace(CPU, bf16=False), tmp_path)
    assert packed.gradient_accumulation_steps == 1


@pytest.mark.parametrize("processes", [2, 4, 16])
def test_a_batch_is_shared_among_processes(tmp_path: Path, processes: int) -> None:
    config = dapo_config(replace(PAPER, bf16=False, vllm=False), tmp_path, processes=processes)
    assert config.per_device_train_batch_size * config.gradient_accumulation_steps * processes == 16 * 16
    odd = replace(PAPER, bf16=False, batch=24 * processes + 1, attempts=1000)
    with pytest.raises(ConfigError, match="cannot be shared among"):
        dapo_config(odd, tmp_path, processes=processes)


def test_a_model_that_is_nowhere_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConfigError, match="cannot be opened") as raised:
        open_model(str(tmp_path / "nothing"))
    assert "transformers checkpoint" in raised.value.hint


def test_only_samples_within_the_lengths_are_used() -> None:
    tokenizer = tiny_tokenizer()
    found = samples()
    assert fitting(found, tokenizer, replace(TOY, longest=1000)) == found
    assert fitting(found, tokenizer, replace(TOY, context=50, longest=1000)) == []


def test_only_the_top_is_learned_where_asked() -> None:
    model = tiny_model(tiny_tokenizer())
    learn_only_top(model, 1)
    learned = {name for name, p in model.named_parameters() if p.requires_grad}
    assert any(name.startswith("model.layers.1.") for name in learned)
    assert not any("layers.0." in name or "embed" in name for name in learned)
