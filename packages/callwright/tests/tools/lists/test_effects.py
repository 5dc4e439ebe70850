from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import DESTRUCTIVE, READ, READ_LOCAL, WRITE, Effects
from callwright.tools.lists.effects import effects_from_annotations, effects_from_method


@pytest.mark.parametrize(
    ("annotations", "effects"),
    [
        ({}, DESTRUCTIVE),
        (None, DESTRUCTIVE),
        ({"readOnlyHint": True}, READ),
        ({"readOnlyHint": True, "openWorldHint": False}, READ_LOCAL),
        (
            {"readOnlyHint": True, "destructiveHint": True},
            READ,
        ),  # meaningful only where it writes at all
        ({"destructiveHint": False}, WRITE),
        ({"idempotentHint": True}, Effects(idempotent=True)),
        ({"read_only": True, "destructive": False, "idempotent": True, "open_world": True}, READ),
        ({"readOnlyHint": "yes"}, DESTRUCTIVE),
    ],
)
def test_trusted_hints_are_believed_and_absent_ones_are_mcps_defaults(
    annotations: Any, effects: Effects
) -> None:
    assert effects_from_annotations(annotations, trusted=True) == effects


def test_hints_of_a_source_that_is_not_trusted_never_loosen_the_worst_case() -> None:
    hints = {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert effects_from_annotations(hints, trusted=False) == DESTRUCTIVE


def test_http_methods_say_what_they_may_do() -> None:
    assert effects_from_method("get") == READ
    assert effects_from_method("QUERY") == READ
    assert effects_from_method("POST") == WRITE
    assert effects_from_method("DELETE") == Effects(idempotent=True)
    assert effects_from_method(None).may_write
