"""Results and skips as a journal has them."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.execution.recorded import find_legacy_repeat, load_result
from callwright.nouns.errors import Failure


def test_a_result_is_loaded_as_it_was_before_it_was_judged() -> None:
    told: dict[str, Any] = {
        "id": "r1", "tool": "pay", "arguments": {"to": "Ann"}, "content": {"error": "late"},
        "seconds": 0.5, "slot": "", "attempt": 2, "judged": False,
        "failure": {"kind": "tool_error", "message": "late"},
    }  # fmt: skip
    assert load_result(told).failure == Failure("tool_error", "late")
    assert load_result({**told, "judged": True}).failure is None
    assert load_result(told).simulated == "", "journals of earlier versions do not say"
    assert load_result({**told, "simulated": "model"}).simulated == "model"


@pytest.mark.parametrize(
    ("told", "same"),
    [
        ({"reason": "the same call was already made as r1"}, "r1"),
        ({"reason": "the same call was already made as r1", "same": "r1"}, ""),
        ({"reason": "not needed for r1"}, ""),
    ],
)
def test_a_journal_that_says_a_repeat_in_words_only_still_says_it(
    told: dict[str, Any], same: str
) -> None:
    assert find_legacy_repeat(told) == same
