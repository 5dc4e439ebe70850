"""Notes: Markdown files in one folder that no name can leave."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, TypedDict

from callwright.nouns.errors import ToolError

from .world import fold, home

NoteName = Annotated[str, "file name of a note, ending in .md"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}\.md")


class NoteNames(TypedDict):
    notes: list[str]


class Note(TypedDict):
    name: str
    text: str


class NoteLine(TypedDict):
    name: str
    line: str


class NoteLines(TypedDict):
    lines: list[NoteLine]


class NoteSaved(TypedDict):
    name: str
    characters: int


class NoteDeleted(TypedDict):
    deleted: str


def list_notes() -> NoteNames:
    """The names of all notes."""
    return NoteNames(notes=sorted(p.name for p in _folder().glob("*.md")))


def search_notes(text: Annotated[str, "word or phrase to look for"]) -> NoteLines:
    """Lines of notes that contain a word or phrase, with the name of the note."""
    wanted = fold(text)
    if not wanted:
        raise ToolError("give a word or phrase to look for")
    found = [
        NoteLine(name=path.name, line=line.strip())
        for path in sorted(_folder().glob("*.md"))
        if not path.is_symlink()
        for line in path.read_text(encoding="utf-8").splitlines()
        if wanted in fold(line) or (line.startswith("# ") and wanted in fold(path.stem))
    ]
    return NoteLines(lines=found[:20])


def read_note(name: NoteName) -> Note:
    """The whole text of one note."""
    path = _existing(name)
    return Note(name=path.name, text=path.read_text(encoding="utf-8"))


def write_note(name: NoteName, text: str) -> NoteSaved:
    """Write a note; a note of that name is replaced."""
    _check_length(text)
    path = _path(name)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return NoteSaved(name=path.name, characters=len(text))


def append_note(name: NoteName, text: str) -> NoteSaved:
    """Add lines at the end of a note that exists."""
    path = _existing(name)
    whole = path.read_text(encoding="utf-8").rstrip("\n") + "\n" + text.rstrip("\n") + "\n"
    _check_length(whole)
    path.write_text(whole, encoding="utf-8")
    return NoteSaved(name=path.name, characters=len(whole))


def delete_note(name: NoteName) -> NoteDeleted:
    """Delete a note for good."""
    path = _existing(name)
    path.unlink()
    return NoteDeleted(deleted=path.name)


def _check_length(text: str) -> None:
    if len(text) > 20_000:
        raise ToolError("a note holds at most 20000 characters")


def _folder() -> Path:
    return home() / "notes"


def _path(name: str) -> Path:
    """Only plain names pass, and a link that leads elsewhere is not followed."""
    if not _NAME.fullmatch(name):
        raise ToolError(
            f"{name!r} is not the name of a note: letters, digits, - and _, ending in .md"
        )
    path = _folder() / name
    if path.is_symlink():
        raise ToolError(f"{name!r} is a link, and links are not followed")
    return path


def _existing(name: str) -> Path:
    path = _path(name)
    if not path.is_file():
        raise ToolError(f"there is no note {name!r}; list_notes names those that exist")
    return path
