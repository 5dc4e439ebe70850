"""Records as data sets of Hugging Face's library."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright_lab.transcripts import FORMATS, WRITTEN, Transcript, read_record, write
from callwright_lab.transcripts.export import save_dataset, to_dataset
from tests.transcripts.trajectories import EXAMPLE

datasets = pytest.importorskip("datasets", reason="extra 'train' is not installed")


@pytest.mark.parametrize("name", WRITTEN)
def test_records_come_back_as_they_were_put_in(name: str, tmp_path: Path) -> None:
    record = write(Transcript(EXAMPLE), FORMATS[name])
    datasets.disable_progress_bars()
    save_dataset([record, record], tmp_path / "folder")
    back = datasets.load_from_disk(str(tmp_path / "folder"))
    assert [dict(row) for row in back] == [record, record]
    assert (
        read_record(back[0], id="t-1").trajectory.calls
        == read_record(record, id="t-1").trajectory.calls
    )


def test_parquet_is_written_where_the_name_says_so(tmp_path: Path) -> None:
    datasets.disable_progress_bars()
    save_dataset([{"id": "a", "n": 1}], tmp_path / "deep" / "rows.parquet")
    (row,) = datasets.Dataset.from_parquet(
        str(tmp_path / "deep" / "rows.parquet"), cache_dir=str(tmp_path)
    )
    assert row == {"id": "a", "n": 1}


def test_a_member_that_only_some_records_have_is_none_in_the_others() -> None:
    made = to_dataset([{"a": 1}, {"a": "x", "b": [1, "two", {"c": None}]}])
    assert [dict(row) for row in made] == [
        {"a": 1, "b": None},
        {"a": "x", "b": [1, "two", {"c": None}]},
    ]
    assert to_dataset([{"a": 2**70}])[0] == {"a": str(2**70)}
