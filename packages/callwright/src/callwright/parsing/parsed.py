"""Defines the result of parsing a reply."""

from __future__ import annotations

from dataclasses import dataclass

from callwright.nouns.types import ToolCall


@dataclass(frozen=True, slots=True)
class Finish:
    """The model says that it is done (RETO A.6: ``return_type`` give_answer or
    give_up_and_restart).
    """

    answer: str
    return_type: str = "give_answer"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The calls of a reply, in order, and the rest of it.

    ``text`` is what is no call (thoughts, prose). ``reason`` is why the model called nothing, where
    its format asks for one. ``truncated``: the last call stops in the middle; its arguments are
    then text for the gate to refuse.
    """

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    finish: Finish | None = None
    dialect: str = ""  # react | hermes | json | "" where no call was found
    reason: str = ""
    truncated: bool = False
