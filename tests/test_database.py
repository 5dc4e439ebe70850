"""A database that several processes share is opened with a log, and waits for the others."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from callwright.database import opened, state_dir


def test_a_reader_sees_what_was_committed_while_another_writes(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path / "a.db"), opened(tmp_path / "a.db", "NORMAL")
    writer.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
    assert reader.execute("SELECT x FROM t").fetchall() == [(1,)]
    writer.execute("COMMIT")
    assert reader.execute("SELECT x FROM t").fetchall() == [(1,), (2,)]
    for database in (writer, reader):
        database.close()


def test_the_log_is_written_ahead_and_flushed_as_asked(tmp_path: Path) -> None:
    for level, number in (("FULL", 2), ("NORMAL", 1)):
        database = opened(tmp_path / "a.db", level)  # type: ignore[arg-type]
        assert (database.pragma("journal_mode"), database.pragma("synchronous")) == ("wal", number)
        database.close()


def test_what_is_no_database_is_refused_and_let_go(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database" * 1000)
    with pytest.raises(apsw.NotADBError):
        opened(tmp_path / "a.db")
    (tmp_path / "a.db").unlink()


def test_state_lies_where_xdg_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_dir() == tmp_path / "callwright"
