"""The grounded answer: written from the execution summary only, then checked statement by statement."""

from callwright.answer.facts import Facts
from callwright.answer.finish import (
    UNCONFIRMED,
    abstain,
    answer_as_written,
    check_answer,
    finish,
    finish_as_written,
    no_answer,
)
from callwright.answer.index import facts_of
from callwright.answer.support import check
from callwright.answer.verdict import Verdict

__all__ = [
    "UNCONFIRMED",
    "Facts",
    "Verdict",
    "abstain",
    "answer_as_written",
    "check",
    "check_answer",
    "facts_of",
    "finish",
    "finish_as_written",
    "no_answer",
]
