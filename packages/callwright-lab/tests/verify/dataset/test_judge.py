"""A model's opinion of a row."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Reply
from callwright_lab.verify.dataset.judge import SCHEMA, ask_opinion
from tests.verify.rows import FOUND, GOOD, row, step

ROW = row(step("find_flight", GOOD, FOUND)).trajectory


def test_a_judge_sees_request_tools_calls_results_and_answer() -> None:
    request = next(ask_opinion(ROW, True))
    shown = request.messages[-1].content
    for text in ("find_flight", "flight to Bari", "BA-7731", "for 81"):
        assert text in shown
    assert request.schema == SCHEMA
    assert next(ask_opinion(ROW, False)).schema is None


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            '{"reason": "x", "alignment": false, "minimality": true, "coherence": "yes"}',
            {"alignment": False, "minimality": True},
        ),
        ("no idea", {}),
    ],
)
def test_only_what_is_said_plainly_counts(reply: str, said: dict[str, bool]) -> None:
    asked = ask_opinion(ROW, True)
    next(asked)
    with pytest.raises(StopIteration) as end:
        asked.send(Reply(reply))
    assert end.value.value == said
