"""The folder a desk works in: a database, notes and a git repository, made the same way every time.

Everything that a tool can change lies below one folder, so a benchmark gives each task a fresh one
and compares what is left with what should be left.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import tomllib
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shutil import copytree
from typing import Any

DATA = Path(__file__).parent / "data"
TODAY = "2025-06-20"
"""The desk's own date. Tools read it from here and never from a clock, so answers stay the same."""

TABLES = ("offices", "employees", "trips", "expenses", "rooms", "bookings")


def home() -> Path:
    """The folder in use: ``$CALLWRIGHT_DESK_HOME``, else ``examples/desk/home``; made on first
    use.
    """
    folder = Path(
        os.environ.get("CALLWRIGHT_DESK_HOME") or Path(__file__).parent / "home"
    ).resolve()
    if not (folder / "company.sqlite").exists():
        build(folder)
    return folder


def use(folder: Path) -> Path:
    """Make the tools of this process, and of servers it starts, work in ``folder`` from now on."""
    os.environ["CALLWRIGHT_DESK_HOME"] = str(folder.resolve())
    return folder


def build(folder: Path) -> Path:
    """Make a fresh desk in an empty or absent folder. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    copytree(DATA / "notes", folder / "notes")
    _build_repository(folder / "handbook")
    draft = folder / "company.sqlite.new"
    draft.unlink(missing_ok=True)
    with sqlite3.connect(draft) as made:
        made.executescript((DATA / "company.sql").read_text(encoding="utf-8"))
    made.close()
    return draft.rename(folder / "company.sqlite").parent


def _build_repository(folder: Path) -> None:
    """Commit the handbook with fixed authors and dates, so that its commit hashes never change."""
    story = tomllib.loads((DATA / "handbook.toml").read_text(encoding="utf-8"))
    folder.mkdir()
    _git(folder, "init", "-q", "-b", story["branch"])
    _git(folder, "fast-import", "--quiet", stdin=_stream(story))
    _git(folder, "reset", "-q", "--hard")


def _stream(story: dict[str, Any]) -> bytes:
    """The history in the format of git fast-import."""
    parts: list[bytes] = []
    for number, commit in enumerate(story["commits"], 1):
        when = datetime.fromisoformat(commit["date"])
        who = f"{commit['author']} <{commit['email']}> {when.timestamp():.0f} {when:%z}"
        parts.append(
            f"commit refs/heads/{story['branch']}\nmark :{number}\nauthor {who}\ncommitter {who}\n".encode()
        )
        parts.append(_blob(commit["message"] + "\n"))
        for name, text in commit["files"].items():
            parts += [f"M 100644 inline {name}\n".encode(), _blob(text)]
    parts += [
        f"reset refs/heads/{name}\nfrom :{number}\n".encode()
        for name, number in story["branches"].items()
    ]
    return b"".join(parts)


def _blob(text: str) -> bytes:
    data = text.encode()
    return b"data %d\n%s\n" % (len(data), data)


def _git(folder: Path, *words: str, stdin: bytes = b"") -> str:
    """Run git untouched by the user's own configuration."""
    clean = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "core.autocrlf=false", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **clean},
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


@contextmanager
def database(*, write: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that can only read unless ``write``; changes are kept only if the block ends
    well.
    """
    mode = "rw" if write else "ro"
    held = sqlite3.connect(f"{(home() / 'company.sqlite').as_uri()}?mode={mode}", uri=True)
    held.row_factory = sqlite3.Row
    try:
        with held:
            yield held
    finally:
        held.close()


def fold(text: str) -> str:
    """Lower case without accents: how names are compared."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold().strip()


def snapshot(folder: Path) -> dict[str, dict[str, Any]]:
    """What the folder holds now: ``{"trips": {id: row}, …, "notes": {name: text}, "git": {ref:
    commit}}``.
    """
    held = sqlite3.connect(f"{(folder / 'company.sqlite').as_uri()}?mode=ro", uri=True)
    try:
        state = {table: _rows(held, table) for table in TABLES}
    finally:
        held.close()
    notes = {
        p.name: p.read_text(encoding="utf-8")
        for p in sorted((folder / "notes").iterdir())
        if p.is_file()
    }
    return {**state, "notes": notes, "git": _git_state(folder / "handbook")}


def _rows(held: sqlite3.Connection, table: str) -> dict[str, Any]:
    found = held.execute(f"SELECT * FROM {table} ORDER BY 1")
    names = [column[0] for column in found.description]
    return {row[0]: dict(zip(names, row, strict=True)) for row in found}


def _git_state(folder: Path) -> dict[str, str]:
    lines = _git(folder, "for-each-ref", "--format=%(refname:short) %(objectname)").splitlines()
    refs = dict(line.split(" ", 1) for line in lines)
    head, *changes = _git(folder, "status", "--porcelain", "--branch").splitlines()
    return {**refs, "HEAD": head.removeprefix("## "), "changes": "\n".join(changes)}
