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

from callwright_lab.training.processes import count_processes, do_once, is_main_process
from callwright_lab.training.tuning import share_batch
from tests.training.processes_case import append, start_processes, take_part
from tests.training.refiner_case import tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def _weights(folder: Path, result: str = "whole") -> dict[str, Any]:
    return dict(load_file(folder / result / "model.safetensors"))


def _require_same(folder: Path) -> None:
    """A run that was killed after its first step and gone on with has the same weights."""
    one, other = _weights(folder), _weights(folder, "torn")
    assert all(torch.allclose(one[k], other[k], atol=1e-6) for k in one)


@pytest.mark.heavy
def test_two_processes_take_the_steps_of_one(tmp_path: Path) -> None:
    take_part("sft", tmp_path / "one")
    start_processes(2, "sft", tmp_path / "two")
    one, two = _weights(tmp_path / "one"), _weights(tmp_path / "two")
    assert one.keys() == two.keys()
    assert all(torch.allclose(one[k], two[k], atol=1e-5) for k in one)
    _require_same(tmp_path / "two")
    begun = tiny_model(tiny_tokenizer()).state_dict()
    assert any(not torch.allclose(one[k], begun[k], atol=1e-3) for k in one), "nothing was learned"


@pytest.mark.heavy
def test_shards_are_gathered_into_a_whole_result(tmp_path: Path) -> None:
    start_processes(2, "fsdp", tmp_path)
    found = _weights(tmp_path)
    _require_same(tmp_path)
    begun = tiny_model(tiny_tokenizer()).state_dict()
    assert {k: v.shape for k, v in found.items()} == {k: v.shape for k, v in begun.items()}
    assert any(not torch.allclose(found[k], begun[k], atol=1e-3) for k in found)


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_a_batch_is_the_same_on_any_number_of_processes(processes: int) -> None:
    for micro in (1, 2, 4):
        rows, passes = share_batch(16, micro, processes)
        assert rows * passes * processes == 16
        assert rows <= micro


def test_one_process_does_its_work_itself(tmp_path: Path) -> None:
    assert count_processes() == 1
    assert is_main_process()
    for _ in range(2):
        do_once(tmp_path / "done", lambda: append(tmp_path / "made"))
    assert (tmp_path / "made").read_text() == "made\n" * 2


@pytest.mark.heavy
def test_of_two_processes_one_works_and_the_other_waits(tmp_path: Path) -> None:
    (tmp_path / "done").touch()  # of a run before
    start_processes(2, "once", tmp_path)
    assert (tmp_path / "made").read_text() == "made\n"
    seen = [(tmp_path / f"seen-{rank}").read_text() for rank in range(2)]
    assert seen == ["made\n"] * 2, "the other went on before it was done"
    joined = [(tmp_path / f"joined-{rank}").read_text() for rank in range(2)]
    assert joined == ["True"] * 2, "each was alone, and the mark of before could be seen"


@pytest.mark.heavy
def test_processes_end_by_time_together(tmp_path: Path) -> None:
    """One that went on alone would wait for the others for ever."""
    start_processes(2, "time", tmp_path)
    assert [(tmp_path / f"ended-{rank}").read_text() for rank in range(2)] == ["True"] * 2
