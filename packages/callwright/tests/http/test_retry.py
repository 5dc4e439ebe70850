from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.http import HttpResponse, Retry
from callwright.nouns.errors import Failure

BUSY = HttpResponse(503, {}, b"")


def test_waits_grow_and_stay_below_the_longest() -> None:
    retry = Retry(attempts=10, first=0.5, longest=4)
    assert [retry.wait(n, BUSY, None, 1.0) for n in range(1, 6)] == [0.5, 1.0, 2.0, 4.0, 4.0]


def test_the_last_attempt_is_the_last() -> None:
    assert Retry(attempts=3).wait(3, BUSY, None, 0.5) is None


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 409, 422, 501])
def test_answers_that_would_be_the_same_again_are_not_asked_again(status: int) -> None:
    assert Retry().wait(1, HttpResponse(status, {}, b""), None, 0.5) is None


def test_retry_after_is_honoured_up_to_the_limit() -> None:
    retry = Retry(longest=20)
    waited = retry.wait(1, BUSY, 7.0, 0.5)
    assert waited is not None
    assert 7.0 <= waited <= 8.0
    assert retry.wait(1, BUSY, 21.0, 0.5) is None


def test_failures_are_repeated_only_if_they_may_pass() -> None:
    assert Retry().wait(1, Failure("timeout", "t", retryable=True), None, 0.5) is not None
    assert Retry().wait(1, Failure("egress", "e"), None, 0.5) is None


@settings(deadline=None)
@given(st.integers(1, 200), st.floats(0, 0.999))
def test_no_wait_is_negative_or_without_bound(attempt: int, chance: float) -> None:
    wait = Retry(attempts=1000, longest=5).wait(attempt, BUSY, None, chance)
    assert wait is not None
    assert 0 <= wait <= 5
