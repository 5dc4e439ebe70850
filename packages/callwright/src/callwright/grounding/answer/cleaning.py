"""Statements of an answer without what says nothing: leftovers of a chat template, the turns of
others that a model writes after its own, and sentences that it repeats word for word.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.grounding.answer.reply import Draft
from callwright.grounding.facts import Facts
from callwright.nouns.types import Edit, to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.parsing.leftovers import LeftoverFilter, join_removed


class DraftCleaner:
    """Cleans the statements of one answer, in their order. ``removed``: what was taken out. A token
    that the request or a result names is meant. ``repeated``: sentences that stood before; lines,
    as of a list or a poem, may be alike.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._filter = LeftoverFilter(self._is_named)
        self._said: set[str] = set()
        self.removed: list[str] = []
        self.repeated: list[str] = []

    def clean_draft(self, draft: Draft) -> Draft | None:
        """The statement without leftovers; None where nothing is left of it, or nothing new."""
        found = self._remove_leftovers(draft)
        if found is None or found.text not in self._said:
            self._said.update(() if found is None else (found.text,))
            return found
        if "\n" in found.glue:
            return found
        self.repeated.append(found.text)
        return None

    def _remove_leftovers(self, draft: Draft) -> Draft | None:
        parts = [*self._filter.feed(f"{draft.glue}{draft.text}"), *self._filter.flush()]
        removed = join_removed(parts)
        if not removed:
            return draft
        self.removed += removed
        shown = "".join(part.text for part in parts if not part.is_removed)
        text = shown.removeprefix(draft.glue).strip()
        return replace(draft, text=text) if text else None

    def list_edits(self) -> list[Edit]:
        """The edits for what was removed from the answer's text."""
        return [
            Edit("/text", text, None, rule)
            for rule, texts in (
                (EditRules.TEMPLATE_TOKEN, self.removed),
                (EditRules.ANSWER_REPEATED, list(dict.fromkeys(self.repeated))),
            )
            for text in texts
        ]

    def _is_named(self, token: str) -> bool:
        word = token.lower()
        said = (to_canonical_json(result.content) for result in self._facts.results)
        return word in self._facts.query.lower() or any(word in text.lower() for text in said)
