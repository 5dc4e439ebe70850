"""Words and expressions of a language as data: TOML files in one folder, each read when it is first
asked for.

An entry is named ``file.entry``. It holds one of ``words`` (a text of words between spaces),
``phrases`` (an array), ``expression`` (parts of a regular expression, joined, with ``flags``) or
``table``; ``source`` says where it comes from. Nothing else is read: no clock, no locale, no
directory but the own one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import compute_digest

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


class Vocabulary:
    """The entries of one folder. Immutable; reading is lazy and each file is parsed once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def words(self, name: str) -> frozenset[str]:
        """The words of an entry, as a set."""
        return frozenset(self.listed(name))

    def listed(self, name: str) -> tuple[str, ...]:
        """The words, or the phrases, of an entry in their order."""
        entry = self.entry(name)
        return tuple(entry["phrases"] if "phrases" in entry else entry["words"].split())

    def pattern(self, name: str) -> re.Pattern[str]:
        """The regular expression of an entry, compiled."""
        flags = 0
        for letter in self.entry(name).get("flags", ""):
            flags |= _FLAGS[letter]
        return re.compile(self.expression(name), flags)

    def expression(self, name: str) -> str:
        """The text of an entry's regular expression."""
        return "".join(self.entry(name)["expression"])

    def table(self, name: str) -> Mapping[str, Any]:
        """The table of an entry: word -> what it stands for, in the order of the file."""
        return MappingProxyType(self.entry(name)["table"])

    def entry(self, name: str) -> Mapping[str, Any]:
        """An entry as it stands in its file. Raises ConfigError where there is none."""
        file, _, key = name.partition(".")
        try:
            entry: Mapping[str, Any] = self.file(file)[key]
        except (KeyError, FileNotFoundError):
            raise ConfigError(f"the vocabulary {self.folder!r} has no entry {name!r}") from None
        return entry

    def has(self, name: str) -> bool:
        """Return True if there is such an entry."""
        file, _, key = name.partition(".")
        return file in self.names() and key in self.file(file)

    def file(self, name: str) -> Mapping[str, Any]:
        """All entries of one file."""
        return _read_file(self.folder, name)

    def names(self) -> tuple[str, ...]:
        """The names of the files, sorted."""
        return _list_files(self.folder)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits over the content of all entries; sources, comments and line breaks
        do not count.
        """
        return compute_digest({name: _read_entries(self.file(name)) for name in self.names()})


def _read_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a file's entries, without their sources."""
    found: dict[str, Any] = {}
    for key, entry in entries.items():
        said = {kind: value for kind, value in entry.items() if kind != "source"}
        if "words" in said:
            said["words"] = said["words"].split()
        if "expression" in said:
            said["expression"] = "".join(said["expression"])
        found[key] = said
    return found


def _locate_file(folder: str, name: str) -> Any:
    return files(__package__).joinpath(folder, f"{name}.toml")


@cache
def _read_file(folder: str, name: str) -> Mapping[str, Any]:
    return tomllib.loads(_locate_file(folder, name).read_text(encoding="utf-8"))


@cache
def _list_files(folder: str) -> tuple[str, ...]:
    found = (path.name for path in files(__package__).joinpath(folder).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))
