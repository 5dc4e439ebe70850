"""What a row was told from outside before its finding stood: replies of models and results of tools, each once.

A sweep that is ended in the middle of a row replays them: judging is a deterministic function of the row and of what
it is told, so it goes on where it stood, and nothing is asked twice but what was under way.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from callwright.types import Json, JsonObject, digest


class Memory:
    """The answers of one row by what was asked, handed out once each, in the order in which they came.

    ``known`` are notes as ``keep`` was given them.
    """

    def __init__(self, known: Iterable[JsonObject] = (), keep: Callable[[JsonObject], None] = lambda _: None) -> None:
        self._keep = keep
        self._answers: dict[str, deque[Json]] = defaultdict(deque)
        for note in known:
            self._answers[note["asked"]].append(note["told"])

    def knows(self, asked: str) -> bool:
        """Whether an answer is there that was not handed out yet."""
        return bool(self._answers[asked])

    def recall(self, asked: str) -> Json:
        """The next answer. Raises IndexError where there is none."""
        return self._answers[asked].popleft()

    def tell(self, asked: str, told: Json) -> None:
        """Note an answer."""
        self._keep({"asked": asked, "told": told})


def question(kind: str, *what: Json) -> str:
    """The name of something that is asked."""
    return digest([kind, *what])
