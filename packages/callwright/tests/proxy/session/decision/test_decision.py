"""The decision about an answer."""

from __future__ import annotations

import pytest

from callwright.nouns.types import ToolCall
from callwright.proxy.session.decision.decision import Decision, Sent


@pytest.mark.parametrize(
    ("calls", "said", "truncated", "told"),
    [
        (1, "stop", False, "tool_calls"),
        (1, "length", False, "tool_calls"),
        (1, "length", True, "length"),
        (0, "tool_calls", False, "stop"),
        (0, "length", True, "length"),
        (0, "", False, "stop"),
    ],
)
def test_the_finish_reason_suits_the_calls(
    calls: int, said: str, truncated: bool, told: str
) -> None:
    made = Decision(calls=[Sent(ToolCall("c", "get_weather", {}), "{}")] * calls)
    assert made.finish_reason(said, truncated=truncated) == told
