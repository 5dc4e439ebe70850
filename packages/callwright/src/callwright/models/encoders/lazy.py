"""An encoder that is opened when it first has something to encode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from callwright.nouns.protocols import Encoder

if TYPE_CHECKING:
    from numpy import ndarray


class LazyEncoder:
    """The encoder that ``opened`` gives, known by name and width before. Thread-safe.

    Loading a model takes longer than searching with vectors that are remembered. Raises whatever
    ``opened`` raises, where it is first needed.
    """

    def __init__(self, name: str, width: int, opened: Callable[[], Encoder]) -> None:
        self.name = name
        self.width = width
        self._open = opened
        self._encoder: Encoder | None = None
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> ndarray[Any, Any]:
        """As the encoder underneath; of no texts, nothing is opened."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), np.float32)
        with self._lock:
            if self._encoder is None:
                self._encoder = self._open()
        return self._encoder.encode(texts)
