"""Tells whether the user's answer to a question is a yes.

"No, not yet." asks for nothing, and a small model makes the call all the same: the question before
it has all of its values. What a word of agreement is differs from language to language, so the
model is asked with one letter, in both orders, for it prefers one of them. A yes or a no it tells
apart surely (``callwright bench letters``).
"""

from __future__ import annotations

from typing import Final

from callwright import prompts
from callwright.agent.leading.wanted import LETTER, AskLetter
from callwright.agent.step import Steps
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.prompts.one_letter import MOST_SHOWN, read_shares, render_choices

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
    found = []
    for order in (_ANSWERS, _ANSWERS[::-1]):
        choices = render_choices(order)
        asked = prompts.render("said", question=question[-_SHOWN:], answer=answer, choices=choices)
        request = ChatRequest(asked, LETTER, max_tokens=1, top_logprobs=MOST_SHOWN)
        shares = read_shares((yield from ask_letter(request)).first_token, len(order))
        if not shares:
            return None
        found.append(shares[order.index("yes")])
    return sum(found) / len(found)
