"""What a call shows of a tool, and what it only shows of the request."""

from __future__ import annotations

import pytest

from callwright.errors import Failure, FailureKind
from callwright.evidence import Observation, excerpt, outcome_of


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("timeout", None),
        ("unavailable", 503),
        ("auth", 401),
        ("rate_limit", 429),
        ("egress", None),
        ("too_large", None),
        ("tool_error", 405),
        ("tool_error", 410),
        ("tool_error", 501),
    ],
)
def test_what_cannot_be_reached_or_used_has_failed_itself(kind: FailureKind, status: int | None) -> None:
    outcome = outcome_of(Failure(kind, "", status=status))
    assert outcome == "execution_failure"
    assert Observation("t", "d", outcome, kind=kind).of_tool


@pytest.mark.parametrize(("kind", "status"), [("tool_error", 400), ("tool_error", None), ("error_payload", 200)])
def test_a_tool_that_says_no_was_given_the_wrong_arguments(kind: FailureKind, status: int | None) -> None:
    outcome = outcome_of(Failure(kind, "", status=status))
    assert outcome == "parameter_mismatch"
    assert not Observation("t", "d", outcome, kind=kind).of_tool


def test_nothing_is_learned_of_what_never_came_to_an_end() -> None:
    assert outcome_of(Failure("cancelled", "")) is None
    assert outcome_of(Failure("not_executable", "")) is None


def test_an_empty_reply_says_something_of_the_tool_and_an_irrelevant_one_of_the_request() -> None:
    outcome = outcome_of(Failure("empty", ""))
    assert outcome == "semantic_mismatch"
    assert Observation("t", "d", outcome, kind="empty").of_tool
    assert not Observation("t", "d", "semantic_mismatch", kind="irrelevant").of_tool


def test_a_simulated_success_says_nothing_of_the_tool() -> None:
    assert outcome_of(None) == "functional_success"
    assert not Observation("t", "d", "functional_success", simulated=True).of_tool


def test_an_excerpt_has_lost_its_secrets_before_it_is_cut() -> None:
    text = "x" * 8 + "s3cr3t-value"
    assert "s3cr3t" not in excerpt(text, ["s3cr3t-value"], most=16)
    assert excerpt({"access_token": "abc", "n": 1}) == '{"access_token":"[secret]","n":1}'
    assert len(excerpt("y" * 5000)) == 1000
