"""The rows of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.training.toolmvr_case import bought

from callwright.errors import ConfigError
from callwright.training.toolmvr_data import made, part_of, read, report, save, within
from callwright.transcripts import FORMATS, Transcript, write, write_records

RECORDS = list(made(map(bought, range(12)), context=4000))


def test_every_trajectory_gives_a_v_and_an_r_record_of_the_same_part(tmp_path: Path) -> None:
    save(tmp_path / "data.jsonl", RECORDS)
    rows = read([tmp_path / "data.jsonl"])
    assert [r.kind for r in rows] == ["V", "R"] * 12
    assert all(v.part == r.part for v, r in zip(rows[::2], rows[1::2], strict=True))
    assert {r.part for r in rows} == {"train", "test"}
    assert len({r.error for r in rows if r.kind == "R"}) > 4, "kinds of errors come equally often"
    assert all((len(r.right) == 1) == (r.kind == "R") for r in rows)
    assert "| train | V |" in report(rows)


def test_rows_that_are_too_long_or_that_python_cannot_say_are_left_out() -> None:
    assert list(made([bought()], context=100)) == []


def test_so_many_tokens_are_kept_with_whole_trajectories() -> None:
    assert within(RECORDS, 0) == RECORDS
    some = within(RECORDS, 2000)
    assert 2 <= len(some) < len(RECORDS)
    assert some == RECORDS[: len(some)]
    assert RECORDS[len(some)]["kind"] == "V"


def test_files_of_others_are_read_in_any_layout_and_parted_by_their_request(tmp_path: Path) -> None:
    theirs = write(Transcript(bought(3), context=frozenset({0, 1})), FORMATS["openai"])
    write_records(tmp_path / "theirs.json", "list", [("", theirs)])
    (row,) = read([tmp_path / "theirs.json"])
    assert (row.kind, row.part, row.error) == ("R", part_of(bought(3)), "")
    assert [m.get("no_loss") for m in row.messages if m["role"] == "assistant"] == [True, True, False]
    with pytest.raises(ConfigError, match="there are no rows"):
        read([tmp_path / "nothing.jsonl"])
