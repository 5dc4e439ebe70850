"""Runs of several processes on one machine: the same batch, and one whole result."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch
from safetensors.torch import load_file

from callwright_lab.training.tuning import share_batch
from tests.training.processes_case import start_processes
from tests.training.refiner_case import tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def _weights(folder: Path) -> dict[str, Any]:
    return dict(load_file(folder / "result" / "model.safetensors"))


def test_two_processes_take_the_steps_of_one(tmp_path: Path) -> None:
    start_processes(1, "sft", tmp_path / "one")
    start_processes(2, "sft", tmp_path / "two")
    one, two = _weights(tmp_path / "one"), _weights(tmp_path / "two")
    assert one.keys() == two.keys()
    assert all(torch.allclose(one[k], two[k], atol=1e-5) for k in one)
    begun = tiny_model(tiny_tokenizer()).state_dict()
    assert any(not torch.allclose(one[k], begun[k], atol=1e-3) for k in one), "nothing was learned"


def test_shards_are_gathered_into_a_whole_result(tmp_path: Path) -> None:
    start_processes(2, "fsdp", tmp_path)
    found = _weights(tmp_path)
    begun = tiny_model(tiny_tokenizer()).state_dict()
    assert {k: v.shape for k, v in found.items()} == {k: v.shape for k, v in begun.items()}
    assert any(not torch.allclose(found[k], begun[k], atol=1e-3) for k in found)


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_a_batch_is_the_same_on_any_number_of_processes(processes: int) -> None:
    for micro in (1, 2, 4):
        rows, passes = share_batch(16, micro, processes)
        assert rows * passes * processes == 16
        assert rows <= micro
