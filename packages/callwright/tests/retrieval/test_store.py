"""An index saved and loaded is the index, and what is saved over it replaces it whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright.retrieval import MODES, ToolIndex
from callwright.retrieval.store import FORMAT, is_index, load, save
from tests.retrieval.conftest import WordEncoder, tool

REQUESTS = [
    "the weather forecast of Oslo",
    "book a hotel and find flights. Then translate a text.",
    "money",
    "xyzzy",
]


def test_saving_and_loading_changes_nothing(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    index = ToolIndex.build(tools, encoder)
    save(index, tmp_path / "index")
    encoder.read.clear()
    loaded = load(tmp_path / "index", encoder)
    assert not encoder.read, "nothing was encoded again"
    assert loaded.documents == index.documents
    for request in REQUESTS:
        for mode in MODES:
            assert loaded.search(request, mode=mode) == index.search(request, mode=mode)


def test_vectors_and_scores_are_memory_mapped(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    save(ToolIndex.build(tools, encoder), tmp_path)
    loaded = load(tmp_path, encoder)
    assert isinstance(loaded.vectors, np.memmap)
    assert isinstance(loaded.fields.tools.scored.base, np.memmap)


def test_a_loaded_index_is_updated_like_a_built_one(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    save(ToolIndex.build(tools, encoder), tmp_path)
    encoder.read.clear()
    changed = [*tools[2:], tool("tides", "High and low water.", source="sea")]
    updated = load(tmp_path, encoder).synced(changed)
    assert encoder.read == ["tides: High and low water."]
    at_once = ToolIndex.build(changed, encoder)
    assert all(updated.search(r) == at_once.search(r) for r in [*REQUESTS, "low water"])
    save(updated, tmp_path)
    assert load(tmp_path, encoder).search("low water") == at_once.search("low water")
    assert len([p for p in tmp_path.iterdir() if p.is_dir()]) == 1, "the old data is gone"


def test_an_index_is_searched_by_words_without_its_encoder(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    save(ToolIndex.build(tools, encoder), tmp_path)
    assert load(tmp_path).search("hotel") == ToolIndex.build(tools).search("hotel")


def test_vectors_of_another_encoder_are_not_used(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    save(ToolIndex.build(tools, encoder), tmp_path)
    other = WordEncoder()
    other.name = "other"
    assert load(tmp_path, other).search("hotel") == ToolIndex.build(tools, other).search("hotel")
    assert len(other.read) > len(tools)


@pytest.mark.parametrize("tools_", [[], [tool("a")]], ids=["none", "one without words"])
def test_an_index_of_hardly_anything_is_kept_too(tools_: list[Tool], tmp_path: Path) -> None:
    save(ToolIndex.build(tools_), tmp_path)
    assert load(tmp_path).search("hotel") == ()
    assert len(load(tmp_path)) == len(tools_)


def test_what_is_no_index_is_said(tmp_path: Path) -> None:
    assert not is_index(tmp_path)
    with pytest.raises(ConfigError, match="holds no index"):
        load(tmp_path)
    (tmp_path / "index.json").write_text(json.dumps({"format": 99}))
    assert is_index(tmp_path)
    with pytest.raises(ConfigError, match="another version"):
        load(tmp_path)
    (tmp_path / "index.json").write_text(
        json.dumps({"format": FORMAT, "data": "gone", "encoder": None})
    )
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)


def test_what_is_there_already_is_not_written_again(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    save(ToolIndex.build(tools, encoder), tmp_path)
    written = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    save(ToolIndex.build(tools, encoder), tmp_path)
    save(load(tmp_path), tmp_path)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == written, (
        "nor are vectors dropped"
    )
    other = WordEncoder()
    other.name = "other"
    save(load(tmp_path, other), tmp_path)
    other.read.clear()
    load(tmp_path, other)
    assert not other.read, "vectors of another encoder are kept in place of the first one's"


def test_the_graph_of_very_many_tools_is_kept_and_updated(
    tools: list[Tool], encoder: WordEncoder, tmp_path: Path
) -> None:
    index = ToolIndex.build(tools, encoder, exact=2)
    save(index, tmp_path)
    loaded = load(tmp_path, encoder, exact=2)
    assert loaded.fields.near is not None
    assert all(loaded.search(r) == index.search(r) for r in REQUESTS)
    tides = tool("tides", "High and low water.", source="sea")
    save(loaded.updated([tides]), tmp_path)
    again = load(tmp_path, encoder, exact=2)
    assert again.search("low water") == ToolIndex.build([*tools, tides], encoder).search(
        "low water"
    )
