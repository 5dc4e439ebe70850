"""Records of a model's writes at an endpoint, as ``callwright doctor`` found them. The proxy's guard
reads them: a model that is right on its own needs nobody who keeps its calls back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from callwright.models.probe import Memory, build_memory_key

LEAST_CASES = 20
LEAST_PERCENT = 95
CASES_VERSION = 1
"""Of the cases that ``doctor`` runs. A record of others says nothing here."""
_FIELD = "writes"


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """``right`` of ``of`` cases, run ``at`` a time (ISO 8601) with this version of the cases."""

    right: int
    of: int
    at: str
    version: int = CASES_VERSION

    @property
    def is_trusted(self) -> bool:
        """Return True if the model makes its writes right without a guard."""
        return (
            self.version == CASES_VERSION
            and self.of >= LEAST_CASES
            and 100 * self.right >= LEAST_PERCENT * self.of
        )


class WriteRecords:
    """The records of one endpoint's models, as the memory file has them now: it may be written by
    another process at any time.
    """

    def __init__(self, base_url: str, memory: Memory) -> None:
        self._base_url = base_url
        self._memory = memory
        self._stamp: tuple[int, ...] | None = None
        self._trusted: frozenset[str] = frozenset()

    @property
    def path(self) -> Path:
        """Return the memory file."""
        return self._memory.path

    def get(self, model: str) -> WriteRecord | None:
        """Return the record of a model; None where there is none that can be read."""
        entry = self._memory.read_entry(build_memory_key(self._base_url, model))
        return _read_record(entry.get(_FIELD))

    def put(self, model: str, record: WriteRecord) -> bool:
        """Record a model. Return False if the file cannot be written."""
        key = build_memory_key(self._base_url, model)
        return self._memory.update_entry(key, {_FIELD: asdict(record)})

    def is_trusted(self, model: str) -> bool:
        """Return True if the model is on record as right. The file is read only where it has
        changed.
        """
        stamp = self._stat()
        if stamp != self._stamp:
            self._stamp, self._trusted = stamp, frozenset(self._list_trusted())
        return model in self._trusted

    def _list_trusted(self) -> Iterator[str]:
        beginning = build_memory_key(self._base_url, "")
        for key, entry in self._memory.read_entries().items():
            record = _read_record(entry.get(_FIELD)) if isinstance(entry, dict) else None
            if key.startswith(beginning) and record is not None and record.is_trusted:
                yield key.removeprefix(beginning)

    def _stat(self) -> tuple[int, ...] | None:
        try:
            found = self._memory.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _read_record(value: Any) -> WriteRecord | None:
    if not isinstance(value, dict):
        return None
    numbers: list[Any] = [value.get(name) for name in ("right", "of", "version")]
    if not all(type(number) is int for number in numbers):
        return None
    right, of, version = numbers
    return WriteRecord(right, of, str(value.get("at", "")), version) if right <= of else None
