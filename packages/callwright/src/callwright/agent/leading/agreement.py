"""Tells whether the user's answer to a question is a yes.

"No, not yet." asks for nothing, and a small model makes the call all the same: the question before
it has all of its values. What a word of agreement is differs from language to language, so the
model is asked with one letter, in both orders, for it prefers one of them. A yes or a no it tells
apart surely (``callwright bench letters``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from callwright import prompts
from callwright.agent.leading.wanted import AskLetter
from callwright.agent.step import Steps
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.prompts.one_letter import ask_shares, build_letter_question, render_choices

LEAST_SHARE: Final = threshold("callwright.agent", "agreement_least_share")
"""The share of a yes below which an answer is a no."""
SURE_SHARE: Final = threshold("callwright.agent", "agreement_sure_share")
"""The share from which it is a yes; between the two only the user can tell."""
_ANSWERS = ("yes", "no")
_SHOWN = 400  # characters of the question's end


def ask_agreement(question: str, answer: str, ask_letter: AskLetter) -> Steps[float | None]:
    """The share of a yes in an answer to a question; None where the model states no
    probabilities.
    """

    def build(order: Sequence[str]) -> ChatRequest:
        shown, choices = question[-_SHOWN:], render_choices(order)
        asked = prompts.render("said", question=shown, answer=answer, choices=choices)
        return build_letter_question(asked)

    shares = yield from ask_shares(_ANSWERS[:1], (_ANSWERS, _ANSWERS[::-1]), build, ask_letter)
    return shares[0] if shares else None
