"""Samples on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner import store
from tests.training.refiner_case import samples


def test_samples_come_back_as_they_were_with_their_side_of_the_split(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    store.write_samples(path, samples()[:2])
    store.write_samples(path, samples())
    found = store.read_samples(path)
    assert found == samples()
    assert [s.task.held_out for s in found] == [s.task.held_out for s in samples()]
    assert found[0].task.tools[0].input_schema == samples()[0].task.tools[0].input_schema


def test_a_line_cut_short_is_left_out_only_where_that_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    store.append_samples(path, samples()[:3])
    path.write_text(path.read_text()[:-40])
    assert store.read_samples(path, cut=True) == samples()[:2]
    with pytest.raises(ConfigError, match="line 3"):
        store.read_samples(path)


@pytest.mark.parametrize("line", ["{}", "[]", '{"kind": "odd"}', "no json"])
def test_a_line_that_is_no_sample_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ConfigError, match=r"line 1 of .* is not a sample"):
        store.read_samples(path)
