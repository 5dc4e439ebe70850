"""SQLite files that several processes share: opened so that neither a crash nor another process
damages them.

SQLite comes with apsw, because the one of Python is often older than 3.51.3, which repaired a loss
of data in the write-ahead log.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

import apsw

from callwright.nouns.errors import ConfigError
from callwright.nouns.installation import render_library_hint

OLDEST = (3, 51, 3)
_BUSY = 5_000  # milliseconds to wait for another process: a writer, or a reader that checkpoints as it closes


def open_database(
    path: Path | str, synchronous: Literal["FULL", "NORMAL"] = "FULL"
) -> apsw.Connection:
    """A database with a write-ahead log. ``FULL``: what is committed survives a power cut;
    ``NORMAL``: it survives the death of the process, and a power cut may take the last commits but
    damages nothing (sqlite.org/wal.html).

    Raises ConfigError for an SQLite that may lose entries, apsw.Error where the file cannot be
    opened.
    """
    if _encode_version(OLDEST) > apsw.SQLITE_VERSION_NUMBER:
        raise ConfigError(
            f"SQLite {apsw.sqlite_lib_version()} may lose what was written",
            hint=render_library_hint("--upgrade", "apsw"),
        )
    make_private(path)
    database = apsw.Connection(str(path))
    try:
        database.set_busy_timeout(_BUSY)
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", synchronous)
    except BaseException:
        database.close()
        raise
    return database


def make_private(path: Path | str) -> None:
    """Have a file that only its user may read and write: made empty where there is none.

    SQLite gives the files that it puts beside a database the database's own mode. One that is there
    is not opened here: to close it would take this process's locks from it (POSIX record locks).
    Raises apsw.CantOpenError.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if os.name == "posix":
            with suppress(OSError):  # it is somebody else's
                os.chmod(path, os.stat(path).st_mode & 0o700)
    except OSError as exc:
        raise apsw.CantOpenError(str(exc)) from exc


def make_private_folder(path: Path) -> None:
    """Have a folder; one that is made here, and every folder above it that is made, only its user
    may enter.
    """
    if not path.is_dir():
        make_private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def state_dir() -> Path:
    """The user's folder for what Callwright keeps between runs (XDG base directories)."""
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "callwright"
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "callwright"


def _encode_version(version: tuple[int, int, int]) -> int:
    major, minor, patch = version
    return major * 1_000_000 + minor * 1_000 + patch
