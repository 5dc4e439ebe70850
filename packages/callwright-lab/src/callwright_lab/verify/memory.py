"""Records the external answers to a row before its finding is complete: model replies and tool
results, each once.

A sweep that stops in the middle of a row replays them. Judging is a deterministic function of the
row and these answers, so it continues at the same point. Only requests that were under way are
repeated. A request that may not be repeated is recorded before it is made; if it is found without
an answer, it is in doubt.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from callwright.nouns.types import Json, JsonObject, compute_digest

Keep: TypeAlias = Callable[[JsonObject], None]
_OPEN = object()  # begun, and not answered


class InDoubt(Exception):
    """Something that may not be done twice was under way when an earlier process ended: nobody
    knows whether it was done.
    """


class Memory:
    """The answers of one row by what was asked, handed out once each, in the order in which they
    came.

    ``known`` are notes as ``keep`` was given them.
    """

    def __init__(self, known: Iterable[JsonObject] = (), keep: Keep = lambda _: None) -> None:
        self._keep = keep
        self._answers: dict[str, deque[object]] = defaultdict(deque)
        for note in known:
            answers = self._answers[note["asked"]]
            if "begun" in note:
                answers.append(_OPEN)
            elif _OPEN in answers:
                answers[answers.index(_OPEN)] = note["told"]
            else:
                answers.append(note["told"])

    def knows(self, asked: str) -> bool:
        """Return True if an answer is recorded that was not handed out yet. Raises InDoubt, from
        then on always, if the next request was begun by a process that ended before the answer.
        """
        answers = self._answers[asked]
        if answers and answers[0] is _OPEN:
            raise InDoubt(asked)
        return bool(answers)

    def recall(self, asked: str) -> Json:
        """The next answer. Raises IndexError where there is none."""
        return self._answers[asked].popleft()

    def begin(self, asked: str) -> None:
        """Note that this is being asked, which may not be done twice."""
        self._keep({"asked": asked, "begun": True})

    def tell(self, asked: str, told: Json) -> None:
        """Note an answer."""
        self._keep({"asked": asked, "told": told})


class RowMemory:
    """Answers that hold for all rows of a sweep: whoever asks first asks, the others are told the
    same.

    ``known`` and ``keep`` as for :class:`Memory`.
    """

    def __init__(self, known: Iterable[JsonObject] = (), keep: Keep = lambda _: None) -> None:
        self._keep = keep
        self._answers: dict[str, Json] = {note["asked"]: note["told"] for note in known}
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def answer_once(self, asked: str, ask: Callable[[], Awaitable[Json]]) -> Json:
        """The answer, asked for where it is not there yet. Raises what asking raises; the next one
        then asks.
        """
        async with self._turns[asked]:
            if asked not in self._answers:
                answer = await ask()
                self._keep({"asked": asked, "told": answer})
                self._answers[asked] = answer
            return self._answers[asked]


def make_question_key(kind: str, *what: Json) -> str:
    """The name of something that is asked."""
    return compute_digest([kind, *what])
