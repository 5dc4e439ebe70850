"""The facts about one reply that the rules of ``refine`` know: the conversation, and the calls as
they were read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callwright.nouns.types import JsonObject, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import Draft
from callwright.repair.ordering.references import Labels, Reference, find_call_references, labels_of
from callwright.repair.rule import Need, is_valid_draft
from callwright.repair.rules.reference_placeholders import ReferencePlaceholders

UNINFORMED: frozenset[Need] = frozenset({"schema"})
INFORMED: frozenset[Need] = frozenset({"schema", "conversation"})


@dataclass(frozen=True, slots=True)
class SetAside:
    """A draft's call as it was before its references were set aside, and how many edits it had."""

    call: ToolCall
    placeholders: ReferencePlaceholders
    edits: int


class ReplyContext:
    """The conversation, the calls as they were read, and which of them something may have to be
    done about. ``is_triggered`` says so of a call that its schema accepts.
    """

    def __init__(
        self,
        situation: RepairContext,
        calls: Sequence[ToolCall],
        is_triggered: Callable[[Draft, ReplyContext], bool],
    ) -> None:
        self.situation = situation
        self.calls = tuple(calls)
        self.references = find_references(self.calls, situation)
        self.asides: dict[int, SetAside] = {}
        self._is_triggered = is_triggered
        self._open: dict[int, bool] = {}

    @property
    def has(self) -> frozenset[Need]:
        """The schema, and the conversation where anything was said."""
        return INFORMED if self.situation.informed else UNINFORMED

    def is_right(self, draft: Draft) -> bool:
        """Return True if the gate lets the call through as it is."""
        return self.situation.gate.accepts(draft.call)

    def is_open(self, draft: Draft) -> bool:
        """Return True if the call was wrong, or a value triggered a rule, when that was first
        asked.
        """
        known = self._open.get(draft.id)
        if known is None:
            known = not is_valid_draft(draft, self) or self._is_triggered(draft, self)
            self._open[draft.id] = known
        return known

    def other_arguments(self, draft: Draft) -> list[JsonObject]:
        """The arguments of the reply's other calls, as they were read."""
        return [c.arguments for c in self._others(draft) if isinstance(c.arguments, dict)]

    def sibling_arguments(self, draft: Draft) -> list[JsonObject]:
        """Those of the same tool."""
        tool = draft.call.tool
        same = (c for c in self._others(draft) if c.tool == tool)
        return [c.arguments for c in same if isinstance(c.arguments, dict)]

    def _others(self, draft: Draft) -> list[ToolCall]:
        return [call for i, call in enumerate(self.calls) if i != draft.id]

    def references_of(self, draft: Draft) -> list[Reference]:
        """The references that a call holds."""
        return [ref for ref in self.references if ref.call == draft.id]

    def referring(self, draft: Draft) -> frozenset[str]:
        """The arguments that are or hold references."""
        aside = self.asides.get(draft.id)
        return frozenset() if aside is None else aside.placeholders.referring


def find_references(calls: Sequence[ToolCall], situation: RepairContext) -> list[Reference]:
    """Return the values that stand for another call's result. ``$1`` and ``{x}`` that mean no other
    call are placeholders.
    """
    found = find_call_references(calls, situation.tools, situation.query)
    if not found:
        return []
    labels = Labels(calls, situation.by_name, labels_of(calls, situation.by_name))

    def means(ref: Reference) -> bool:
        meaning = labels.meaning(ref)
        return meaning is not None and meaning.call != ref.call

    return [r for r in found if r.notation not in ("numbered", "braces") or means(r)]
