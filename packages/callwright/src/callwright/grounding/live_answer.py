"""The answer while the model writes it: each statement as soon as it is whole and checked."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.grounding.facts import Facts
from callwright.grounding.finish import decide_statement
from callwright.grounding.index import facts_of
from callwright.grounding.reply import read_begun_drafts
from callwright.nouns.types import Skip, ToolResult


class LiveAnswer:
    """Reads the reply to the first question of :func:`~callwright.grounding.finish.write_answer` as
    it comes. All that it gives is the beginning of that answer's text.

    It gives nothing from the first statement on that the model would be asked about: only the whole
    reply can be sent back.
    """

    def __init__(
        self, query: str, results: Sequence[ToolResult], skips: Sequence[Skip] = ()
    ) -> None:
        self._asked = (query, tuple(results), tuple(skips))
        self._ids = [result.id for result in results]
        self._facts: Facts | None = None
        self._statements = 0
        self._is_held = False

    @property
    def facts(self) -> Facts:
        """The facts of the results, indexed when they are first needed."""
        if self._facts is None:
            self._facts = facts_of(*self._asked)
        return self._facts

    def read(self, reply: str) -> str:
        """Return what has become certain of the answer since the last time. ``reply`` is all of the
        reply so far.
        """
        if self._is_held:
            return ""
        said = ""
        for draft in read_begun_drafts(reply, self._ids)[self._statements :]:
            statement = decide_statement(draft, self.facts, self._statements)
            if statement is None:
                self._is_held = True
                break
            said += draft.glue + statement.text if self._statements else statement.text
            self._statements += 1
        return said
