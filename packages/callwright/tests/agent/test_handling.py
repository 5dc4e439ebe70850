from __future__ import annotations

from callwright.agent.handling import CallHandling


def test_calls_are_repaired_plainly_and_checked_by_default() -> None:
    handling = CallHandling()
    assert handling.may_repair
    assert (handling.as_written, handling.unchecked, handling.is_trusted) == (False, False, False)
    assert handling.repairing == "plain"
    assert not handling.fills_schema
