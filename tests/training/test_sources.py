"""The registry of data sources: which there are, what may be passed on, and what to do where a file is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.errors import ConfigError
from callwright.training.data_nested import SOURCES as NESTED
from callwright.training.sources import data_root, load, sources


def test_an_unknown_source_and_an_absent_file_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="sources: nestful"):
        load("nothing")
    for name in ("nestools", "seal_tools", "tmdb", "ultratool", "complextool_plan", "stabletoolbench", "dta_tool"):
        with pytest.raises(ConfigError, match="there is no data file") as caught:
            load(name, tmp_path)
        assert len(caught.value.hint) > 20


def test_sources_that_must_not_be_passed_on_are_marked() -> None:
    assert {n for n, s in sources().items() if not s.train} == {"ultratool", "complextool_plan", "dta_tool"}


def test_every_source_stands_under_its_own_name_and_says_its_licence() -> None:
    assert {s.name for s in NESTED} < set(sources())
    for name, source in sources().items():
        assert source.name == name
        assert source.licence


def test_data_is_looked_for_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLWRIGHT_DATA", str(tmp_path))
    assert data_root() == tmp_path
    with pytest.raises(ConfigError, match="there is no data file") as caught:
        load("nestools")
    assert str(tmp_path) in caught.value.message


def test_what_was_read_once_is_not_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "nestools"
    folder.mkdir()
    file = folder / "test_data.jsonl"
    file.write_text("")
    first = load("nestools", tmp_path)
    file.unlink()
    assert load("nestools", tmp_path) is first
