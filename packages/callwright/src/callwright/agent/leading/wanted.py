"""The tool that a stated wish is for.

A small model often states two wishes and makes one call. Counting tells that a wish may be open,
not which, nor whether it is one: "16:00" and "Priority" are stated as wishes too. The model is
asked with one letter, apart from the conversation, which of the tools does what a wish asks for. Of
wishes that say what is to be done it is sure, in any language; of others it is not (``callwright
bench letters``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

from callwright import prompts
from callwright.agent.step import Steps
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Message, Reply, Tool
from callwright.prompts.one_letter import LETTERS, MOST_SHOWN, read_shares, render_tool_choices

LETTER: Final = "letter"
"""The purpose of a question that stands alone and is answered with one letter."""
SURE_SHARE: Final = threshold("callwright.agent", "wanted_sure_share")
"""The share from which a wish is for a tool."""
TAKEN_UP_SHARE: Final = threshold("callwright.agent", "wanted_taken_up_share")
"""The share from which a request is for a tool, where the model meant to call one."""
_NONE = "none of them"

_Choice = TypeVar("_Choice")

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


def ask_shares(
    choices: Sequence[_Choice],
    orders: Sequence[Sequence[_Choice]],
    build: Callable[[Sequence[_Choice]], ChatRequest],
    ask_letter: AskLetter,
) -> Steps[list[float]]:
    """The share of each choice, as a mean over the orders in which they are shown, for a small
    model prefers a letter. ``build``: makes the question of an order. Empty where the model states
    no probabilities.
    """
    found: list[list[float]] = []
    for order in orders:
        shares = read_shares((yield from ask_letter(build(order))).first_token, len(order))
        if not shares:
            return []
        found.append([shares[order.index(choice)] for choice in choices])
    return [sum(shares) / len(found) for shares in zip(*found, strict=True)]


def build_letter_question(messages: tuple[Message, ...]) -> ChatRequest:
    """The question of these messages, to be answered with one letter."""
    return ChatRequest(messages, LETTER, max_tokens=1, top_logprobs=MOST_SHOWN)
