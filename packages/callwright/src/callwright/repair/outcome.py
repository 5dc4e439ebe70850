"""Decides whether a failed call took effect, and whether it may be made again. No other module
decides this.

A call that only reads changes nothing. A failed call that may write has an unknown outcome, unless
the failure is an explicit refusal. Either its source says that nothing was done
(:attr:`~callwright.nouns.errors.Failure.not_done`), or its tool declares that a failed call changes
nothing (:attr:`~callwright.nouns.types.Effects.atomic`). The words of an error decide nothing here:
a tool that has booked may answer "timed out" about the mail that it sends afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.errors import Failure
from callwright.nouns.types import Effects, Tool, ToolResult


def is_unknown(failure: Failure, effects: Effects) -> bool:
    """True if the call behind this failure may have taken effect.

    What an atomic tool reports itself changed nothing; an answer that never came says nothing of an
    atomic tool either, so a source's own ``outcome_unknown`` stands.
    """
    if not effects.may_write or failure.not_done:
        return False
    return failure.outcome_unknown or not effects.atomic


def with_outcome(failure: Failure, effects: Effects) -> Failure:
    """The failure with ``outcome_unknown`` as the effects of a tool that may write make it; of
    others as it is.
    """
    if not effects.may_write:
        return failure
    unknown = is_unknown(failure, effects)
    return (
        failure if failure.outcome_unknown == unknown else replace(failure, outcome_unknown=unknown)
    )


def is_in_doubt(result: ToolResult, tool: Tool) -> bool:
    """True if the result leaves open whether a write happened: neither its success nor its refusal
    is known.
    """
    return result.failure is not None and is_unknown(result.failure, tool.effects)


def may_repeat(failure: Failure, effects: Effects) -> bool:
    """True if the very same call may be sent once more after this failure.

    Either the first one certainly did nothing, or doing it twice is the same as doing it once.
    Other arguments are another call: they need a failure whose outcome is known.
    """
    return effects.may_repeat or not is_unknown(failure, effects)
