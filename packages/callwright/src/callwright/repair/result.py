"""Defines the settings and the result of refinement."""

from __future__ import annotations

from dataclasses import dataclass

from callwright.nouns.errors import Violation
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Edit, JsonObject, ToolCall
from callwright.repair.diagnostics import Abstention

__all__ = ["Abstention", "Refinement", "Settings", "describe_call"]

LEAST = threshold("callwright.repair", "settings.least")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that limit the rules.

    ``leave_out``: optional values without support in the conversation are left out, and calls that
    add nothing to the others are dropped. It is for upstreams that were *made* to fill a schema, as
    the proxy's guided mode does. ``drop_unasked``: unrequested calls are dropped, even if they are
    the whole reply. It is part of ``leave_out`` too, and is for upstreams that answer greetings
    with calls. ``keep_equal``: equal calls are all meant, for the upstream made each as a call of its
    own. ``least``: a guess below this confidence is not made but listed as a suggestion. The
    confidences were measured on public data sets (docs/lab-parts.md).
    """

    leave_out: bool = False
    drop_unasked: bool = False
    keep_equal: bool = False
    least: float = LEAST


def describe_call(call: ToolCall) -> JsonObject:
    """A call as an edit of the rules shows it, and the refiner's prompt."""
    return {"name": call.tool, "arguments": call.arguments}


@dataclass(frozen=True, slots=True)
class Refinement:
    """Calls as they should be sent on, and everything that was done or found.

    ``edits``: every change, in order; ``path`` is a JSON Pointer into the list of calls ("/0/name",
    "/0/arguments/city"; "/1" for a whole call: dropped where ``after`` is None, added where
    ``before`` is). Positions are those of the calls as they were read. ``violations``: what is
    still wrong, by the same pointers. ``text``: what of the reply is no call. ``confidence``: of
    the least certain edit, 1.0 where only lossless edits or none were made.
    """

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    edits: tuple[Edit, ...] = ()
    violations: tuple[Violation, ...] = ()
    dialect: str = ""
    confidence: float = 1.0
    abstained: tuple[Abstention, ...] = ()
    truncated: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.edits)
