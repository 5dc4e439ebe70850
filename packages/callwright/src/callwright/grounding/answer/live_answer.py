"""The answer while the model writes it: each statement as soon as it is whole and checked."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.grounding.answer.cleaning import DraftCleaner
from callwright.grounding.answer.deeds import Deeds
from callwright.grounding.answer.finish import decide_statement
from callwright.grounding.answer.non_answers import repeats_parts
from callwright.grounding.answer.reply import read_begun_drafts
from callwright.grounding.facts import Facts
from callwright.grounding.index import facts_of
from callwright.nouns.types import Skip, ToolResult


class LiveAnswer:
    """Reads the reply to the first question of ``write_answer`` as it comes. All that it gives is
    the beginning of that answer's text. ``said``: see :func:`~callwright.grounding.facts_of`.

    It gives nothing from the first statement on that the model would be asked about: only the whole
    reply can be sent back. Statements that only repeat the request wait for one that says more.
    """

    def __init__(
        self,
        query: str,
        results: Sequence[ToolResult],
        skips: Sequence[Skip] = (),
        deeds: Deeds | None = None,
        said: Sequence[str] = (),
    ) -> None:
        self._deeds = deeds
        self._asked = (query, tuple(results), tuple(skips), tuple(said))
        self._ids = [result.id for result in results]
        self._facts: Facts | None = None
        self._cleaner: DraftCleaner | None = None
        self._taken = 0  # statements of the reply
        self._texts: list[str] = []  # of the statements that were decided on
        self._unsaid = ""
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
        self._cleaner = self._cleaner or DraftCleaner(self.facts)
        for begun in read_begun_drafts(reply, self._ids)[self._taken :]:
            self._taken += 1
            draft = self._cleaner.clean_draft(begun)
            if draft is None:
                continue
            statement = decide_statement(draft, self.facts, len(self._texts), self._deeds)
            if statement is None:
                self._is_held = True
                break
            self._unsaid += draft.glue + statement.text if self._texts else statement.text
            self._texts.append(draft.text)
            if not repeats_parts(self._texts, self.facts):
                said, self._unsaid = said + self._unsaid, ""
        return said
