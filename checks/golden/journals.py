"""Journals of earlier code: stored as text, put back as SQLite files, and cut at any event.

A journal is stored as JSON lines. The first line holds the statements that make the tables, the
metadata, and what the recorded run came to. Then come the texts, the events and the marks, as the
tables hold them. Nothing here uses the package, so the format on the disk is stated independently.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw

FOLDER = Path(__file__).parent / "journals"
Row = tuple[int, int, float, str, str]  # life, seq, at, kind, data
# The questions of a run changed within a version: what was recorded before asks otherwise.
GENERATIONS = ("0.1.0", "0.1.0-one-prompt", "0.1.0-thoughts")  # the oldest first
GENERATION = GENERATIONS[-1]
_SELECT = "SELECT life, seq, at, kind, data FROM event ORDER BY life, seq"


@dataclass(frozen=True)
class Stored:
    """All that a journal holds. ``outcome`` says what the recorded run came to."""

    schema: tuple[str, ...]
    meta: dict[str, Any]
    texts: dict[str, str]
    rows: tuple[Row, ...]
    marks: tuple[tuple[int, int, str], ...]
    outcome: dict[str, Any]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the events, in order."""
        return tuple(row[3] for row in self.rows)

    def data(self, place: int) -> dict[str, Any]:
        """What one event says."""
        found: dict[str, Any] = json.loads(self.rows[place][4])
        return found

    def cut(self, kept: int) -> Stored:
        """The journal as it stood after so many events, as if each had been committed."""
        rows = self.rows[:kept]
        digests = {json.loads(row[4])["digest"] for row in rows if row[3] == "blob"}
        places = {row[:2] for row in rows}
        marks = [mark for mark in self.marks if mark[:2] in places]
        if rows and (not marks or marks[-1][:2] != rows[-1][:2]):
            marks.append((*rows[-1][:2], marked(self.meta, rows, marks)))
        return replace(
            self,
            meta={**self.meta, "life": rows[-1][0] if rows else 1},
            texts={key: text for key, text in self.texts.items() if key in digests},
            rows=rows,
            marks=tuple(marks),
        )


def marked(meta: dict[str, Any], rows: Sequence[Row], marks: Iterable[tuple[int, int, str]]) -> str:
    """Return the digest of what was recorded since the last of these marks."""
    last = max((mark[:2] for mark in marks), default=(0, -1))
    before = next((mark[2] for mark in marks if mark[:2] == last), first_mark(meta))
    lines = [
        f"{life} {seq} {at!r} {kind} {data}"
        for life, seq, at, kind, data in rows
        if (life, seq) > last
    ]
    return hashlib.sha256("\n".join([before, *lines]).encode("utf-8", "surrogatepass")).hexdigest()


def first_mark(meta: dict[str, Any]) -> str:
    """Return the digest that stands before the first commit."""
    return hashlib.sha256(
        json.dumps([meta["created"], meta["setup"]], sort_keys=True).encode()
    ).hexdigest()


def stored_from(path: Path, outcome: dict[str, Any]) -> Stored:
    """Read a journal that the package wrote."""
    database = apsw.Connection(str(path))
    try:
        schema = [
            row[0] for row in database.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")
        ]
        meta = {
            key: json.loads(value) for key, value in database.execute("SELECT key, value FROM meta")
        }
        texts = {
            key: bytes(text).decode("utf-8", "surrogatepass")
            for key, text in database.execute("SELECT * FROM blob")
        }
        rows = tuple(database.execute(_SELECT))
        marks = tuple(database.execute("SELECT life, seq, digest FROM mark ORDER BY life, seq"))
    finally:
        database.close()
    return Stored(tuple(schema), {**meta, "seal": ""}, texts, rows, marks, outcome)


def restore(stored: Stored, path: Path, seal: str = "") -> Path:
    """Put a journal back as the SQLite file that it was."""
    database = apsw.Connection(str(path))
    try:
        database.pragma("journal_mode", "wal")
        database.execute("BEGIN;" + ";".join(stored.schema))
        meta = {**stored.meta, "seal": seal}
        database.executemany(
            "INSERT INTO meta VALUES (?, ?)", [(k, json.dumps(v)) for k, v in meta.items()]
        )
        texts = [(key, text.encode("utf-8", "surrogatepass")) for key, text in stored.texts.items()]
        database.executemany("INSERT INTO blob VALUES (?, ?)", texts)
        database.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?)", stored.rows)
        database.executemany("INSERT INTO mark VALUES (?, ?, ?)", stored.marks)
        database.execute("COMMIT")
    finally:
        database.close()
    return path


def save(stored: Stored, path: Path) -> None:
    """Write a journal as text."""
    head = {"schema": stored.schema, "meta": stored.meta, "outcome": stored.outcome}
    lines: list[Any] = [head, *({"text": [key, text]} for key, text in stored.texts.items())]
    lines += [{"event": row} for row in stored.rows] + [{"mark": mark} for mark in stored.marks]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def load(path: Path) -> Stored:
    """Read a journal that was written as text."""
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    texts = dict(line["text"] for line in lines if "text" in line)
    rows = tuple(tuple(line["event"]) for line in lines if "event" in line)
    marks = tuple(tuple(line["mark"]) for line in lines if "mark" in line)
    return Stored(tuple(head["schema"]), head["meta"], texts, rows, marks, head["outcome"])


def recorded() -> dict[str, Path]:
    """Return the stored journals by ``version/scenario``; the version with what changed in it."""
    return {f"{p.parent.name}/{p.stem}": p for p in sorted(FOLDER.glob("*/*.jsonl"))}


def asks_otherwise(name: str, known: Collection[str]) -> bool:
    """Return True if a journal holds questions that no run of today asks: its scenario was recorded
    once more since. It goes on from its facts.
    """
    folder, _, scenario = name.partition("/")
    later = GENERATIONS[GENERATIONS.index(folder) + 1 :]
    return any(f"{generation}/{scenario}" in known for generation in later)
