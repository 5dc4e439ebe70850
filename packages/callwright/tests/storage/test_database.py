"""A database that several processes share is opened with a log, and waits for the others."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import apsw
import pytest

from callwright.storage.database import make_private, make_private_folder, open_database, state_dir


def test_a_reader_sees_what_was_committed_while_another_writes(tmp_path: Path) -> None:
    writer, reader = open_database(tmp_path / "a.db"), open_database(tmp_path / "a.db", "NORMAL")
    writer.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
    assert reader.execute("SELECT x FROM t").fetchall() == [(1,)]
    writer.execute("COMMIT")
    assert reader.execute("SELECT x FROM t").fetchall() == [(1,), (2,)]
    for database in (writer, reader):
        database.close()


def test_the_log_is_written_ahead_and_flushed_as_asked(tmp_path: Path) -> None:
    for level, number in (("FULL", 2), ("NORMAL", 1)):
        database = open_database(tmp_path / "a.db", level)  # type: ignore[arg-type]
        assert (database.pragma("journal_mode"), database.pragma("synchronous")) == ("wal", number)
        database.close()


def test_what_is_no_database_is_refused_and_let_go(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database" * 1000)
    with pytest.raises(apsw.NotADBError):
        open_database(tmp_path / "a.db")
    (tmp_path / "a.db").unlink()


def test_state_lies_where_xdg_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_dir() == tmp_path / "callwright"


posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file modes")


@posix
def test_nobody_else_reads_a_database_its_log_or_a_folder_made_for_it(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        make_private_folder(tmp_path / "a" / "b")
        database = open_database(tmp_path / "a" / "b" / "x.db")
        database.execute("CREATE TABLE t (x)")
        found = {path.stat().st_mode & 0o777 for path in (tmp_path / "a" / "b").iterdir()}
        database.close()
        (tmp_path / "open").mkdir(mode=0o755)
        make_private_folder(tmp_path / "open")
    finally:
        os.umask(before)
    assert found == {0o600}
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")} == {0o700}
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o755, (
        "what is there already is its owner's affair"
    )


@posix
def test_what_is_there_keeps_its_content_and_its_locks_and_only_loses_readers(
    tmp_path: Path,
) -> None:
    writer = open_database(tmp_path / "a.db")
    writer.execute("CREATE TABLE t (x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
    (tmp_path / "a.db").chmod(0o664)
    make_private(tmp_path / "a.db")
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600
    other = apsw.Connection(str(tmp_path / "a.db"))
    with pytest.raises(apsw.BusyError):
        other.execute("BEGIN IMMEDIATE")
    writer.execute("COMMIT")
    for database in (writer, other):
        database.close()
    with pytest.raises(apsw.CantOpenError):
        make_private(tmp_path / "none" / "a.db")
