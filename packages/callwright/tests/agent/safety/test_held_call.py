from __future__ import annotations

from callwright.agent.safety.held_call import UNSTATED_VALUE, HeldCall
from callwright.nouns.types import ToolCall


def test_a_call_with_a_value_from_nowhere_is_told_from_others() -> None:
    call = ToolCall("a", "order", {})
    assert HeldCall(call, UNSTATED_VALUE, "why").is_unstated
    assert not HeldCall(call, "repeated_write", "why").is_unstated
