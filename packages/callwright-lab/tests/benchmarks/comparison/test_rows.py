from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows


def test_a_row_is_read_as_it_was_appended_and_the_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    assert read_rows(path) == []
    append_row(path, {"task": "ø", "n": 1})
    append_row(path, {"task": "b"})
    assert read_rows(path) == [{"task": "ø", "n": 1}, {"task": "b"}]


def test_a_half_written_line_is_not_read_and_gone_with_the_next_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":')
    assert read_rows(path) == [{"n": 1}]
    append_row(path, {"n": 2})
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'


def test_a_first_row_that_was_only_begun_is_gone_as_well(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n":')
    append_row(path, {"n": 2})
    assert path.read_bytes() == b'{"n":2}\n'


def test_a_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"task": 1}\nnonsense\n{"task": 2}\n')
    with pytest.raises(ConfigError, match="line 2"):
        read_rows(path)
