from __future__ import annotations

from typing import Any

import pytest

from callwright.repair.pending import is_pending


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"status": "pending"}, True),
        ({"state": "IN-PROGRESS"}, True),
        ({"phase": "Running"}, True),
        ({"done": False}, True),
        ({"done": True}, False),
        ({"status": "completed"}, False),
        ({"status": 202}, False),
        ({"title": "pending"}, False),
        ("pending", False),
        (None, False),
    ],
)
def test_only_states_that_protocols_define_say_that_a_job_goes_on(
    content: Any, expected: bool
) -> None:
    assert is_pending(content) is expected
