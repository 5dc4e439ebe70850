"""Remembers vectors: the last few thousand in memory, all of them in a file if one is named."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from callwright.nouns.errors import ConfigError, convert_errors
from callwright.nouns.protocols import Encoder

if TYPE_CHECKING:
    from numpy import ndarray

_TABLE = (
    "create table if not exists vectors (key blob primary key, vector blob not null) without rowid"
)
_CHUNK = 256  # texts between two commits: an interrupted run keeps what it has


class CachedEncoder:
    """An encoder that asks another one only for texts it has not seen. Thread-safe.

    Keys are sha256 of the encoder's name, width and the text, so one file may serve several
    encoders: two encoders of different weights must therefore have different names.
    """

    def __init__(self, encoder: Encoder, path: Path | None = None, *, memory: int = 4096) -> None:
        self._encoder = encoder
        self._path = path
        self._memory = memory
        self._recent: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = Lock()
        self.name = encoder.name
        if path is not None:
            with convert_errors(
                ConfigError, f"the vector cache {path} cannot be used", hint="name another file"
            ):
                path.parent.mkdir(parents=True, exist_ok=True)
                with closing(self._connect()) as file, file:
                    file.execute(_TABLE)

    @property
    def width(self) -> int:
        return self._encoder.width

    def encode(self, texts: Sequence[str]) -> ndarray[Any, Any]:
        """As the encoder underneath would, float32 of shape (len(texts), width)."""
        import numpy as np

        keys = [self._key(text) for text in texts]
        with self._lock:
            found = self._known(set(keys))
            todo = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            found |= self._encode(todo)
            self._remember(keys, found)
        if not keys:
            return np.zeros((0, self.width), np.float32)
        return np.stack([np.frombuffer(found[key], np.float32) for key in keys])

    def _encode(self, todo: dict[bytes, str]) -> dict[bytes, bytes]:
        import numpy as np

        made: dict[bytes, bytes] = {}
        keys = sorted(todo, key=lambda key: len(todo[key]))
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            vectors = self._encoder.encode([todo[key] for key in part])
            rows = [np.ascontiguousarray(row, np.float32).tobytes() for row in vectors]
            fresh = dict(zip(part, rows, strict=True))
            self._store(fresh)
            made |= fresh
        return made

    def _known(self, keys: set[bytes]) -> dict[bytes, bytes]:
        found = {key: self._recent[key] for key in keys if key in self._recent}
        missing = list(keys - found.keys())
        if self._path is None or not missing:
            return found
        with closing(self._connect()) as file:
            for start in range(0, len(missing), 500):
                part = missing[start : start + 500]
                marks = ",".join("?" * len(part))
                found |= dict(
                    file.execute(f"select key, vector from vectors where key in ({marks})", part)
                )
        return found

    def _store(self, fresh: dict[bytes, bytes]) -> None:
        if self._path is None:
            return
        with closing(self._connect()) as file, file:
            file.executemany("insert or ignore into vectors values (?, ?)", fresh.items())

    def _remember(self, keys: Sequence[bytes], found: dict[bytes, bytes]) -> None:
        for key in keys:
            self._recent[key] = found[key]
            self._recent.move_to_end(key)
        while len(self._recent) > self._memory:
            self._recent.popitem(last=False)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(
            f"{self.name}\0{self.width}\0{text}".encode("utf-8", "surrogatepass")
        ).digest()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(str(self._path), timeout=30)
