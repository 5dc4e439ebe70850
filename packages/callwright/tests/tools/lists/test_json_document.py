from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.lists.json_document import MAX_BYTES, NotJson, json_value, read_bytes


def test_a_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": [1]}')
    assert json_value(read_bytes(path), "a.json") == {"a": [1]}


def test_a_file_beyond_the_bound_or_not_there_is_refused(tmp_path: Path) -> None:
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(CatalogError, match="longer than"):
        read_bytes(big)
    for path in (tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(CatalogError, match="cannot be read"):
            read_bytes(path)


def test_what_is_no_json_is_said_with_its_place() -> None:
    with pytest.raises(NotJson, match=r"^a\.json is not JSON: .* line 1"):
        json_value("{'a': 1}", "a.json")


def test_a_document_is_refused_before_its_values_take_memory() -> None:
    text = b"[" + b"{}," * 4_000_000 + b"{}]"  # 12 MB of text, 300 MB of dicts
    tracemalloc.start()
    with pytest.raises(CatalogError, match="too large"):
        json_value(text, "a.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(text)


def test_a_text_full_of_commas_is_one_value() -> None:
    text = '"' + "," * 5_000_000 + '"'
    assert json_value(text, "a.json") == text[1:-1]


@pytest.mark.parametrize("levels", [201, 1024, 100_000])
def test_a_deep_document_is_refused(levels: int) -> None:
    with pytest.raises(CatalogError, match=r"levels inside each other|depth"):
        json_value("[" * levels + "]" * levels, "a.json")
