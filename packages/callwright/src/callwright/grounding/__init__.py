"""The grounded answer: written from the execution summary only, then checked statement by
statement.
"""

from callwright.grounding.facts import Facts
from callwright.grounding.finish import (
    UNCONFIRMED,
    abstain,
    answer_as_written,
    check_answer,
    finish,
    finish_as_written,
    no_answer,
)
from callwright.grounding.grounding_result import GroundingResult
from callwright.grounding.index import facts_of
from callwright.grounding.support import check

__all__ = [
    "UNCONFIRMED",
    "Facts",
    "GroundingResult",
    "abstain",
    "answer_as_written",
    "check",
    "check_answer",
    "facts_of",
    "finish",
    "finish_as_written",
    "no_answer",
]
