"""What is known of a failed call, over effects and failures alike."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.http import failure_for_status
from callwright.nouns.errors import Failure, FailureKind
from callwright.nouns.types import DESTRUCTIVE, READ, UNKNOWN, WRITE, Effects, Tool, ToolResult
from callwright.repair.diagnose import diagnose
from callwright.repair.outcome import is_in_doubt, is_unknown, may_repeat, with_outcome

FAILURES = st.builds(
    Failure,
    kind=st.sampled_from(get_args(FailureKind)),
    message=st.sampled_from(["", "timed out", "invalid guest 'Ann'", "503", "rate limit exceeded"]),
    retryable=st.booleans(),
    outcome_unknown=st.booleans(),
    status=st.sampled_from([None, 400, 429, 503]),
    not_done=st.booleans(),
)
EFFECTS = st.builds(
    Effects,
    read_only=st.booleans(),
    destructive=st.booleans(),
    idempotent=st.booleans(),
    keyed=st.booleans(),
    atomic=st.booleans(),
)


@given(FAILURES, EFFECTS)
def test_a_failed_write_is_known_not_to_have_happened_only_where_somebody_said_so(
    failure: Failure, effects: Effects
) -> None:
    if effects.may_write and not failure.not_done and not effects.atomic:
        assert is_unknown(failure, effects)
        assert may_repeat(failure, effects) == effects.may_repeat
    if not effects.may_write or failure.not_done:
        assert not is_unknown(failure, effects)
        assert may_repeat(failure, effects)
    if effects.atomic and failure.outcome_unknown and effects.may_write and not failure.not_done:
        assert is_unknown(failure, effects), (
            "that the answer was lost says nothing of an atomic tool either"
        )


@given(FAILURES, EFFECTS)
def test_the_outcome_is_stamped_once_and_stays(failure: Failure, effects: Effects) -> None:
    stamped = with_outcome(failure, effects)
    assert with_outcome(stamped, effects) == stamped
    assert is_unknown(stamped, effects) == is_unknown(failure, effects)
    assert replace(stamped, outcome_unknown=failure.outcome_unknown) == failure


@pytest.mark.parametrize("effects", [WRITE, DESTRUCTIVE, UNKNOWN, replace(WRITE, idempotent=True)])
@pytest.mark.parametrize(
    "content",
    [
        {"booking": "B7", "error": "timed out waiting for the mail server"},
        {"booking": "B7", "error": "invalid email: nothing could be sent to 'Ann'"},
        "Error: request timed out",
        {"success": False, "message": "Gateway timeout (504)"},
        {"error": "x", "response": ""},
    ],
)
def test_what_a_write_says_of_itself_never_makes_its_arguments_to_blame(
    effects: Effects, content: object
) -> None:
    diagnosis = diagnose(
        ToolResult("r1", "book", {"guest": "Ann"}, content), Tool("book", effects=effects)
    )
    assert diagnosis.failure is not None
    assert diagnosis.failure.outcome_unknown
    assert not diagnosis.points_at_arguments


def test_a_refusal_or_an_atomic_tools_error_may_be_repaired() -> None:
    refused = ToolResult(
        "r1", "book", {"guest": "Ann"}, failure=failure_for_status(422, "guest: unknown")
    )
    assert diagnose(refused, Tool("book", effects=WRITE)).points_at_arguments
    said = ToolResult(
        "r1", "book", {"guest": "Ann"}, failure=Failure("error_payload", "invalid guest 'Ann'")
    )
    assert diagnose(said, Tool("book", effects=replace(WRITE, atomic=True))).points_at_arguments
    assert not is_in_doubt(refused, Tool("book", effects=WRITE))
    assert is_in_doubt(said, Tool("book", effects=UNKNOWN)), (
        "failed in its own words, and nobody declared what it does"
    )
    assert not is_in_doubt(said, Tool("look_up", effects=READ))


@pytest.mark.parametrize(
    ("content", "is_refused"),
    [
        ({"error": "unknown payee", "status": 422}, True),
        ({"message": "login first", "statusCode": 401}, True),
        ({"error": "unknown payee", "code": 422}, False),  # not said to be an HTTP status
        ({"error": "taken", "status": 409}, False),
        ({"error": "busy", "status": 503}, False),
        ({"error": "slow down", "status": 429}, True),
        ({"error": "the mail bounced", "status": 422, "booking": "B7"}, False),
    ],
)
def test_a_refusal_with_its_status_is_no_doubt(content: object, is_refused: bool) -> None:
    diagnosis = diagnose(ToolResult("r1", "pay", {}, content), Tool("pay", effects=WRITE))
    assert diagnosis.failure is not None
    assert diagnosis.failure.outcome_unknown is not is_refused


@pytest.mark.parametrize("status", [*range(400, 600)])
def test_an_http_status_is_a_refusal_only_where_the_standard_says_so(status: int) -> None:
    failure = failure_for_status(status, "m")
    assert failure.not_done <= (400 <= status < 500)
    assert not (failure.not_done and status in (408, 409))
    assert not failure_for_status(status, "m", acted=True).not_done


def test_a_declared_atomic_tool_is_another_tool_and_an_undeclared_one_keeps_its_digest() -> None:
    plain = Tool("book", effects=WRITE)
    assert plain.digest == "a3f2d0add4f1c128", (
        "journals and evidence of earlier versions name it so"
    )
    assert replace(plain, effects=replace(WRITE, atomic=True)).digest != plain.digest
