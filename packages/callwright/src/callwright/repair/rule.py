"""A rule: what it is called, what it needs, and what it makes of the calls on their way."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.repair.draft import CALL_BY_CALL, Change, Draft, Drafts

Need: TypeAlias = Literal["schema", "conversation", "results", "model"]
"""What a rule cannot do without. A configuration that lacks it leaves the rule out."""
When: TypeAlias = Literal["always", "open", "wrong"]
"""Which drafts a rule looks at: every one, those that something may have to be done about, or those
that the check refuses.
"""
Steps: TypeAlias = Generator[ChatRequest, Reply, Change | None]
"""A rule at work: it yields a question to a model, is sent the reply, and returns its change."""
UNANSWERED = Reply("")
"""What a driver sends, this very object, where a question may not be asked: no reply was had."""


class Context(Protocol):
    """The facts of a configuration besides the calls, and its check."""

    @property
    def has(self) -> frozenset[Need]:
        """The needs of rules that this configuration meets."""

    def is_right(self, draft: Draft, /) -> bool:
        """The check: whether a draft may go as it is."""

    def is_open(self, draft: Draft, /) -> bool:
        """Return True if something may have to be done about a draft, right or not."""


C = TypeVar("C", bound=Context)
Apply: TypeAlias = Callable[[Drafts, C], Steps]
Find: TypeAlias = Callable[[Drafts, C], Change | None]


@dataclass(frozen=True, slots=True)
class Rule(Generic[C]):
    """A rule of a configuration. Rules are run by ``cost``, the surest and cheapest first.

    ``when`` says which drafts it looks at, ``turn`` whether its edits are listed call by call or
    after those of every call. A rule that asks nobody has ``find``: a generator costs as much as
    most rules do. Any other has ``apply``.
    """

    id: str
    cost: int
    apply: Apply[C] | None = None
    needs: frozenset[Need] = frozenset({"schema"})
    when: When = "always"
    turn: int = CALL_BY_CALL
    find: Find[C] | None = None


def select_drafts(drafts: Drafts, context: Context, when: When) -> list[Draft]:
    """The drafts that a rule looks at. The check is asked again only of what has changed."""
    if when == "always":
        return [draft for draft in drafts if not draft.is_closed]
    selected: list[Draft] = []
    for draft in drafts:
        if draft.is_closed or (when == "wrong" and draft.is_right) or not context.is_open(draft):
            continue
        if when == "open" or not is_valid_draft(draft, context):
            selected.append(draft)
    return selected


def is_valid_draft(draft: Draft, context: Context) -> bool:
    """Return True if a draft is right, asked once as long as its call stays the same."""
    if draft.is_right is None:
        draft.is_right = context.is_right(draft)
    return draft.is_right


def call_rule(
    id: str,
    cost: int,
    find: Callable[[Draft, C], Change | None],
    when: When = "always",
    needs: frozenset[Need] = frozenset({"schema"}),
) -> Rule[C]:
    """A rule that looks at one call at a time and asks nobody."""

    def find_all(drafts: Drafts, context: C) -> Change | None:
        made: Change | None = None
        for draft in select_drafts(drafts, context, when):
            change = find(draft, context)
            if change is not None:
                made = change if made is None else made.join(change)
        return made

    return Rule(id, cost, None, needs, when, find=find_all)


def reply_rule(
    id: str,
    cost: int,
    find: Find[C],
    turn: int = CALL_BY_CALL,
    needs: frozenset[Need] = frozenset({"schema"}),
) -> Rule[C]:
    """A rule that looks at the calls together and asks nobody."""

    return Rule(id, cost, None, needs, turn=turn, find=find)
