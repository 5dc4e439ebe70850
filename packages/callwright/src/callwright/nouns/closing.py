"""Objects that are closed at the end of the ``with`` block that they are used in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that enters as itself and leaves by :meth:`close`, also after an error,
    which goes on.
    """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything that is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
