"""The tool that a stated wish is for.

A small model often states two wishes and makes one call. Counting tells that a wish may be open,
not which, nor whether it is one: "16:00" and "Priority" are stated as wishes too. The model is
asked with one letter, apart from the conversation, which of the tools does what a wish asks for. Of
wishes that say what is to be done it is sure, in any language; of others it is not (``callwright
bench letters``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from callwright import prompts
from callwright.agent.step import Steps
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Reply, Tool
from callwright.prompts.one_letter import (
    LETTERS,
    build_letter_question,
    read_shares,
    render_tool_choices,
)

SURE_SHARE: Final = threshold("callwright.agent", "wanted_sure_share")
"""The share from which a wish is for a tool."""
TAKEN_UP_SHARE: Final = threshold("callwright.agent", "wanted_taken_up_share")
"""The share from which a request is for a tool, where the model meant to call one."""
_NONE = "none of them"

AskLetter: TypeAlias = Callable[[ChatRequest], Steps[Reply]]
"""Puts such a question (:meth:`callwright.agent.step.StepContext.ask_letter`)."""


def find_wanted(
    wish: str, tools: Sequence[Tool], ask_letter: AskLetter, least: float = SURE_SHARE
) -> Steps[str]:
    """The name of the tool that a wish is for with a share of ``least`` or more; "" for none. Of
    the tools 19 are shown.
    """
    shown = tools[: len(LETTERS) - 1]
    reply = yield from ask_letter(build_question(wish, shown, _NONE))
    return read_wanted(reply, shown, least)


def build_question(text: str, tools: Sequence[Tool], *more: str) -> ChatRequest:
    """The question of which tool a text asks for."""
    asked = prompts.render("asked", query=text, choices=render_tool_choices(tools, *more))
    return build_letter_question(asked)


def read_wanted(reply: Reply, tools: Sequence[Tool], least: float = SURE_SHARE) -> str:
    """The tool that a reply to it is sure of; "" where it is of none, or states no
    probabilities.
    """
    shares = read_shares(reply.first_token, len(tools) + 1)[: len(tools)]
    best = max(zip(shares, tools, strict=False), key=lambda pair: pair[0], default=None)
    return best[1].name if best is not None and best[0] >= least else ""
