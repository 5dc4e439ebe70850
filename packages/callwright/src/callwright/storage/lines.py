"""Rows on disk, one JSON object a line: added as they come, so that what was made before a stop is
not lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject

T = TypeVar("T")


def append_rows(path: Path, rows: Iterable[JsonObject], *, synced: bool = False) -> None:
    """Add rows to a file; each line is whole or, if the process is ended in it, the last one. Half
    a surrogate pair, which tools may return and no UTF-8 file can hold, is written as "?".
    ``synced``: on the disk when this returns, also if the machine ends.
    """
    with path.open("a", encoding="utf-8", errors="replace") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        if synced:
            file.flush()
            os.fsync(file.fileno())


def write_rows(path: Path, rows: Iterable[JsonObject]) -> None:
    """The rows in place of what the file held, all or nothing."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.touch()
    append_rows(new, rows)
    new.replace(path)


def save_rows(path: Path, rows: Iterable[JsonObject]) -> None:
    """:func:`write_rows` for a file that somebody named: its folder is made. Raises ConfigError where it
    cannot be.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, rows)
    except OSError as error:
        with suppress(OSError):
            path.with_name(f"{path.name}.new").unlink()
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="name another file"
        ) from None


def read_rows(
    path: Path, made: Callable[[dict[str, Any]], T], *, what: str, hint: str, cut: bool = False
) -> list[T]:
    """Return the results of ``made`` for all rows. Raises ConfigError that names the line without a
    valid ``what``.

    ``cut``: an unfinished last line, of a process that was ended, is left out.
    """
    found = []
    try:
        *lines, last = path.read_bytes().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no UTF-8 text ({error.reason})", hint=hint) from None
    for number, line in enumerate(lines if cut else [*lines, last], 1):
        if not line.strip():
            continue
        try:
            found.append(made(parse(line)))
        except (ValueError, KeyError, TypeError, AttributeError, JsonError) as error:
            raise ConfigError(
                f"line {number} of {path} is not a {what} ({type(error).__name__}: {error})",
                hint=hint,
            ) from None
    return found
