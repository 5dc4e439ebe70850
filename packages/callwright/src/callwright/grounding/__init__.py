"""The grounded answer: written from the execution summary only, then checked statement by
statement.
"""

from callwright.grounding.answer.deeds import DEED, Deeds
from callwright.grounding.answer.finish import (
    UNCONFIRMED,
    WrittenAnswer,
    check_answer,
    check_written_answer,
    finish,
    finish_without_repair,
    write_answer,
)
from callwright.grounding.answer.live_answer import LiveAnswer
from callwright.grounding.answer.questions import Words
from callwright.grounding.answer.quoting import build_abstention, build_no_answer, report_outcome
from callwright.grounding.facts import Facts
from callwright.grounding.grounding_result import GroundingResult
from callwright.grounding.index import facts_of
from callwright.grounding.support import check_statement

__all__ = [
    "DEED",
    "UNCONFIRMED",
    "Deeds",
    "Facts",
    "GroundingResult",
    "LiveAnswer",
    "Words",
    "WrittenAnswer",
    "build_abstention",
    "build_no_answer",
    "check_answer",
    "check_statement",
    "check_written_answer",
    "facts_of",
    "finish",
    "finish_without_repair",
    "report_outcome",
    "write_answer",
]
