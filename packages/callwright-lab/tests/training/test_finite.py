"""Steps whose gradients are not finite."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch

from callwright.nouns.errors import ConfigError
from callwright_lab.training.finite import MOST, FiniteSteps, avoid_cudnn_attention
from callwright_lab.training.refiner.runs import run_sft
from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def see(steps: FiniteSteps, model: torch.nn.Module, value: float) -> None:
    for weight in model.parameters():
        weight.grad = torch.full_like(weight, value)
    steps.on_pre_optimizer_step(None, SimpleNamespace(global_step=0), None, model=model)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_such_gradients_are_dropped_and_others_are_kept(value: float) -> None:
    steps, model = FiniteSteps(), torch.nn.Linear(2, 2)
    see(steps, model, value)
    assert all(weight.grad is None for weight in model.parameters())
    see(steps, model, 1.0)
    assert all(weight.grad is not None for weight in model.parameters())
    assert steps.left_out == 1


def test_too_many_in_a_row_end_the_run_and_others_between_them_do_not() -> None:
    steps, model = FiniteSteps(), torch.nn.Linear(2, 2)
    for value in [*[float("nan")] * (MOST - 1), 1.0, *[float("nan")] * (MOST - 1)]:
        see(steps, model, value)
    with pytest.raises(ConfigError, match="not finite"):
        see(steps, model, float("nan"))


def test_a_run_with_one_such_step_learns_from_the_others(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    seen: list[int] = []

    def spoil(gradient: torch.Tensor) -> torch.Tensor:
        seen.append(1)
        return gradient * float("nan") if len(seen) == 2 else gradient

    before = [weight.clone() for weight in model.parameters()]
    next(model.parameters()).register_hook(spoil)
    settings = replace(TOY, sft_steps=3)
    losses = run_sft(model, tokenizer, samples(), settings, tmp_path / "run")
    assert len(losses) == 3
    assert all(loss == loss for loss in losses)
    assert all(torch.isfinite(weight).all() for weight in model.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_attention_is_left_to_other_kernels_where_there_is_cuda() -> None:
    avoid_cudnn_attention()
    assert not torch.cuda.is_available() or not torch.backends.cuda.cudnn_sdp_enabled()
