"""A file of results: one JSON line a row, appended as soon as it is known."""

from __future__ import annotations

from os import SEEK_END
from pathlib import Path

import orjson

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject


def read_rows(path: Path) -> list[JsonObject]:
    """The rows of a results file; none where it does not exist yet. A half-written last line is
    dropped.

    Raises ConfigError on a line that is no row.
    """
    text = path.read_bytes() if path.exists() else b""
    rows: list[JsonObject] = []
    for number, line in enumerate(text.split(b"\n")[:-1], 1):
        try:
            rows.append(parse(line))
        except JsonError as error:
            raise ConfigError(f"{path}, line {number} is no row of results: {error}") from error
    return rows


def append_row(path: Path, row: JsonObject) -> None:
    """One line, written at once, the file made if need be. What a killed bench left half-written is
    dropped first.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as out:
        if end := out.seek(0, SEEK_END):
            out.seek(end - 1)
            if out.read(1) != b"\n":
                out.seek(0)
                out.truncate(out.read().rfind(b"\n") + 1)
        out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
