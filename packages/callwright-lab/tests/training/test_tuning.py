"""Runs on a language model: what TRL is told, what is opened, what is learned, and a run that goes
on.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch
from peft import get_peft_model

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training import checkpoints
from callwright_lab.training.checkpoints import open_model
from callwright_lab.training.memory import Shape, count_learned
from callwright_lab.training.refiner.settings import CPU, PAPER
from callwright_lab.training.tuning import (
    choose_learned,
    describe_run,
    group_config,
    learn_only_top,
    open_learner,
    open_measured,
    run_grpo,
)
from tests.training.refiner_case import TOY, save_tiny_model, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_trl_is_told_what_the_paper_says(tmp_path: Path) -> None:
    config = group_config(replace(PAPER, bf16=False), tmp_path)
    assert (config.loss_type, config.epsilon, config.epsilon_high, config.beta) == (
        "dapo",
        0.2,
        0.28,
        0.0,
    )
    assert (config.num_generations, config.max_completion_length, config.learning_rate) == (
        16,
        4096,
        1e-6,
    )
    assert config.generation_batch_size == 16 * 16
    assert config.gradient_accumulation_steps * config.per_device_train_batch_size == 16 * 16
    assert (config.num_train_epochs, config.max_steps, config.scale_rewards) == (1, -1, "group")
    seen = group_config(PAPER, tmp_path, gpu=True)
    assert (seen.use_vllm, seen.vllm_mode, seen.vllm_max_model_length) == (True, "colocate", 8192)
    packed = group_config(replace(CPU, bf16=False), tmp_path)
    assert packed.gradient_accumulation_steps == 1


@pytest.mark.parametrize("processes", [2, 4, 16])
def test_a_batch_is_shared_among_processes(tmp_path: Path, processes: int) -> None:
    config = group_config(replace(PAPER, bf16=False, vllm=False), tmp_path, processes=processes)
    assert (
        config.per_device_train_batch_size * config.gradient_accumulation_steps * processes
        == 16 * 16
    )
    odd = replace(PAPER, bf16=False, batch=24 * processes + 1, attempts=1000)
    with pytest.raises(ConfigError, match="cannot be shared among"):
        group_config(odd, tmp_path, processes=processes)


def test_a_model_that_is_nowhere_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConfigError, match="cannot be opened") as raised:
        open_model(str(tmp_path / "nothing"))
    assert "transformers checkpoint" in raised.value.hint


def test_only_the_top_is_learned_where_asked() -> None:
    model = tiny_model(tiny_tokenizer())
    learn_only_top(model, 1)
    learned = {name for name, p in model.named_parameters() if p.requires_grad}
    assert any(name.startswith("model.layers.1.") for name in learned)
    assert not any("layers.0." in name or "embed" in name for name in learned)


@pytest.mark.parametrize(("targets", "count"), [("linear", 7), ("attention", 4)])
def test_an_adapter_learns_beside_all_linear_layers_or_those_of_attention(
    targets: str, count: int
) -> None:
    model = tiny_model(tiny_tokenizer())
    settings = replace(TOY, adapter="lora", rank=4, targets=targets)  # type: ignore[arg-type]
    adapted = get_peft_model(model, choose_learned(model, settings))
    learned = [p for p in adapted.parameters() if p.requires_grad]
    assert len(learned) == 2 * 2 * count
    shape = Shape(2, 32, 48, 32, 16, 0)
    assert sum(p.numel() for p in learned) == count_learned(settings, shape)


def test_rows_that_fill_no_batch_are_refused_rather_than_learned_from_in_no_step(
    tmp_path: Path,
) -> None:
    rows = [{"prompt": [{"role": "user", "content": "Rain?"}]}]
    with pytest.raises(ConfigError, match="1 rows cannot fill a batch of 2 prompts") as raised:
        run_grpo(tiny_model(tiny_tokenizer()), tiny_tokenizer(), rows, [], TOY, tmp_path / "run")
    assert "--batch" in raised.value.hint
    assert not (tmp_path / "run").exists()


def test_an_optimiser_in_8_bits_names_the_extra_that_it_needs_before_the_model_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(TOY, optimiser="paged-adamw-8bit")
    assert describe_run(asked, tmp_path, 1, 0.1)["optim"] == "adamw_torch"
    assert describe_run(asked, tmp_path, 1, 0.1, gpu=True)["optim"] == "paged_adamw_8bit"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(MissingExtra, match="--optimiser paged-adamw-8bit needs") as raised:
        describe_run(asked, tmp_path, 1, 0.1)
    assert "qlora" in raised.value.hint


def test_a_machine_without_instructions_for_bfloat16_computes_in_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(TOY, adapter="lora", bf16=True)
    start = save_tiny_model(tmp_path / "start")
    for has, kind in ((True, torch.bfloat16), (False, torch.float32)):
        monkeypatch.setattr(checkpoints, "supports_bfloat16", lambda has=has: has)
        assert open_learner(start, settings)[0].dtype == kind
        assert open_measured(start, settings).dtype == kind
        assert describe_run(settings, tmp_path, 1, 1e-4)["bf16"] is has
    assert open_learner(start, replace(settings, adapter="none"))[0].dtype == torch.float32
    assert describe_run(settings, tmp_path, 1, 1e-4, gpu=True)["bf16"] is True, "as there is CUDA"
