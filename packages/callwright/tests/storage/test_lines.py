"""Rows on disk: whole or last, all or nothing, and a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.storage import lines


def numbers(path: Path, cut: bool = False) -> list[int]:
    return lines.read_rows(
        path, lambda row: int(row["n"]), what="number", hint="write it anew", cut=cut
    )


def test_rows_are_added_and_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines.append_rows(path, [{"n": 1}, {"n": 2, "text": "ä\u2028b"}])
    lines.append_rows(path, [{"n": 3}])
    path.write_text(path.read_text() + "\n\n")
    assert numbers(path) == [1, 2, 3], "a line separator inside a text ends no line"


def test_writing_replaces_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines.append_rows(path, [{"n": 1}])

    def broken():  # type: ignore[no-untyped-def]
        yield {"n": 2}
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        lines.write_rows(path, broken())
    assert numbers(path) == [1]
    lines.write_rows(path, [{"n": 4}])
    assert numbers(path) == [4]
    lines.write_rows(path, [])
    assert numbers(path) == []


def test_a_last_line_that_was_cut_is_left_out_only_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"n": 1}\n{"n": 2')
    assert numbers(path, cut=True) == [1]
    with pytest.raises(ConfigError, match=r"line 2 of .* is not a number") as raised:
        numbers(path)
    assert raised.value.hint == "write it anew"
    path.write_text('{"n": 1}\n{"m": 2}\n')
    with pytest.raises(ConfigError, match="KeyError"):
        numbers(path, cut=True)


def test_half_a_surrogate_pair_is_no_reason_to_lose_a_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines.append_rows(path, [{"n": 1, "text": "\ud800"}])
    assert numbers(path) == [1]


def test_a_file_that_somebody_named_gets_its_folder_or_is_said_and_nothing_beside_it_is_touched(
    tmp_path: Path,
) -> None:
    beside = tmp_path / "rows.new"
    beside.write_text("somebody's")
    lines.save_rows(tmp_path / "deep" / "rows.jsonl", [{"n": 1}])
    lines.save_rows(tmp_path / "rows.jsonl", [{"n": 2}])
    assert numbers(tmp_path / "deep" / "rows.jsonl") == [1]
    assert beside.read_text() == "somebody's"
    for path in (tmp_path / "deep", tmp_path / "rows.new" / "below.jsonl"):
        with pytest.raises(ConfigError, match="cannot be written"):
            lines.save_rows(path, [{"n": 3}])
    assert {p.name for p in tmp_path.iterdir()} == {"deep", "rows.jsonl", "rows.new"}


def test_a_file_that_is_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is no UTF-8 text"):
        numbers(tmp_path / "rows.jsonl")
