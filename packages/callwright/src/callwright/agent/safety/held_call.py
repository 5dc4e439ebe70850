"""A call that a rule speaks against, with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from callwright.nouns.types import ToolCall

UNSTATED_VALUE: Final = "unstated_value"
UNASKED_WRITE: Final = "unasked_write"  # a write behind lookups that nobody may have asked for
ONLY_TOLD: Final = "only_told"  # a write where the user only asks to be told something
OTHER_RECORD: Final = "other_record"  # a destructive call on another record than the named one

USERS_TO_TELL: Final = (OTHER_RECORD, UNASKED_WRITE)
"""The rules by which a call waits for the user's word, whatever its values."""


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A call that must not be made. ``is_sent``: the guard only reports, so the client got it.
    ``meant``: days or numbers that the user's words lead to in the place of others; ``missing``:
    the names of arguments whose values nothing states; ``records``: those of which one is meant.
    """

    call: ToolCall
    rule: str
    reason: str
    is_sent: bool = False
    meant: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    records: tuple[str, ...] = ()

    @property
    def is_for_user(self) -> bool:
        """Return True if only the user can tell whether the call is meant."""
        return self.rule == UNSTATED_VALUE or self.rule in USERS_TO_TELL

    @property
    def is_unstated(self) -> bool:
        """Return True if the call rests on a value that nothing states."""
        return self.rule == UNSTATED_VALUE
