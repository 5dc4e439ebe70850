from __future__ import annotations

import pytest

from callwright.http import HttpResponse, failure_for_status, retry_after


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "unknown"),
    [
        (400, "tool_error", False, False),
        (401, "auth", False, False),
        (403, "auth", False, False),
        (404, "tool_error", False, False),
        (408, "timeout", True, False),
        (429, "rate_limit", True, False),
        (500, "unavailable", True, True),
        (501, "unavailable", False, True),
        (503, "unavailable", True, True),
        (504, "timeout", True, True),
    ],
)
def test_a_status_is_a_kind_of_failure(
    status: int, kind: str, retryable: bool, unknown: bool
) -> None:
    failure = failure_for_status(status, "m")
    assert (failure.kind, failure.retryable, failure.outcome_unknown, failure.status) == (
        kind,
        retryable,
        unknown,
        status,
    )


@pytest.mark.parametrize(
    ("status", "acted", "not_done"),
    [
        (425, False, True),
        (429, False, True),
        (429, True, False),
        (422, False, True),
        (409, False, False),
        (503, False, False),
        (200, False, False),
    ],
)
def test_a_request_that_was_not_served_was_not_done(
    status: int, acted: bool, not_done: bool
) -> None:
    answer = HttpResponse(status, {"retry-after": "1"}, b"", acted=acted)
    assert answer.not_done is not_done
    assert status == 200 or failure_for_status(status, "m", acted=acted).not_done is not_done


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(
            ("7", 7.0),
            (" 0 ", 0.0),
            ("1.5", 1.5),
            ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
            ("", None),
            ("soon", None),
        ),
        *(("-3", None), ("9" * 40, None), ("\u0667", None), ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0)),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, 10.0) == seconds


def test_text_is_read_in_its_declared_charset() -> None:
    assert (
        HttpResponse(200, {"content-type": "text/plain; charset=latin-1"}, b"\xe9").text == "\u00e9"
    )
    assert (
        HttpResponse(200, {"content-type": "text/plain; charset=nonsense"}, b"\xc3\xa9").text
        == "\u00e9"
    )
    assert HttpResponse(200, {}, b"\xff").text == "\ufffd"
