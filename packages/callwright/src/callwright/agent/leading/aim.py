"""Tells whether a request is for something to be told or for something to be done.

Of a request for one of the two a small model tells that surely with one letter, asked apart from
the conversation in both orders; of one for both it does not (``callwright bench letters``). A
question that opens no tool of its own tells nothing: "Could you switch it off?" asks for a deed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from callwright import prompts
from callwright.agent.leading.wanted import AskLetter
from callwright.agent.step import Steps
from callwright.language.questions import asks_only, only_asks_to_be_told
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.prompts.one_letter import ask_shares, build_letter_question, render_choices

LEAST_DEED: Final = threshold("callwright.agent", "aim_least_deed")
"""The share of a deed below which questions alone only ask to be told something."""
SURE_DEED: Final = threshold("callwright.agent", "aim_sure_deed")
"""The share from which a request is for something to be done."""
_AIMS = ("to know something", "something to be done, sent or changed")
_SHOWN = 400  # characters of the request's end


def ask_aim(query: str, ask_letter: AskLetter) -> Steps[float | None]:
    """The share of a deed in what a request is for; None where the model states no
    probabilities.
    """

    def build(order: Sequence[str]) -> ChatRequest:
        choices = render_choices(order)
        return build_letter_question(prompts.render("aim", query=query[-_SHOWN:], choices=choices))

    shares = yield from ask_shares(_AIMS[1:], (_AIMS, _AIMS[::-1]), build, ask_letter)
    return shares[0] if shares else None


def asks_to_know(query: str, ask_letter: AskLetter) -> Steps[bool]:
    """Return True if a request only asks to be told something: its question words tell, or, of
    other questions, the model.
    """
    if only_asks_to_be_told(query):
        return True
    share = (yield from ask_aim(query, ask_letter)) if asks_only(query) else None
    return share is not None and share < LEAST_DEED
