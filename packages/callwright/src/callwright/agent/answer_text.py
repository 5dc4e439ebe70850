"""The answer's text, handed on as it becomes certain: each statement when it is whole and
checked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from callwright.agent.run_events import AnswerDelta, AnswerRestarted, Watch
from callwright.grounding import LiveAnswer

_ENDS = frozenset("}.!?\n")  # a statement may end with one of these


class AnswerText:
    """Tells the text of the answer. What it has told since the last restart is always the beginning
    of the answer; at the end it is the answer.

    ``redact`` removes secrets from a reply, as is done before the whole reply is read.
    """

    def __init__(self, tell: Watch, redact: Callable[[str], str]) -> None:
        self._tell = tell
        self._redact = redact
        self._live: LiveAnswer | None = None
        self._told = ""

    def begin(self, live: LiveAnswer) -> None:
        """Expect the reply to a question for the answer, read by ``live``."""
        self._restart()
        self._live = live

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], None]]:
        """Takes the pieces of the reply, from whatever thread, until the block ends."""
        loop, thread = asyncio.get_running_loop(), threading.get_ident()
        text, is_over = "", False

        def read(so_far: str) -> None:
            if not is_over and self._live is not None:
                self._give(self._live.read(self._redact(so_far)))

        def take(piece: str) -> None:
            nonlocal text
            text += piece
            if _ENDS.isdisjoint(piece):
                return
            if threading.get_ident() == thread:
                read(text)
            else:
                loop.call_soon_threadsafe(read, text)

        try:
            yield take
        finally:
            is_over = True
            self._live = None

    def end(self, text: str) -> None:
        """Tell the rest of the answer, whose whole text is ``text``."""
        if not text.startswith(self._told):
            self._restart()
        self._give(text[len(self._told) :])

    def _give(self, text: str) -> None:
        if text:
            self._told += text
            self._tell(AnswerDelta(text))

    def _restart(self) -> None:
        if self._told:
            self._told = ""
            self._tell(AnswerRestarted())
