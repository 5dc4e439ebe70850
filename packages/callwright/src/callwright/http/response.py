"""Defines the result of a request: a whole response, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from callwright.nouns.errors import REFUSED_STATUSES, Failure, FailureKind

_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response read to its end. Header names are in lower case; repeated headers are joined with
    ``, ``.

    ``url`` is the address that answered after redirects; it may hold secrets in its query, so
    errors do not name it. ``acted``: an earlier sending of the same request (a retry, a redirect)
    may have been carried out, whatever this answer says.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""
    acted: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def not_done(self) -> bool:
        """True if this status refuses the request, and no earlier sending may have been acted on."""
        return self.status in REFUSED_STATUSES and not self.acted

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """The body in its declared charset, UTF-8 otherwise; undecodable bytes become U+FFFD."""
        found = _CHARSET.search(self.headers.get("content-type", ""))
        try:
            return self.body.decode(found[1] if found else "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


def failure_for_status(
    status: int, message: str, *, retry_after: float | None = None, acted: bool = False
) -> Failure:
    """The Failure of an HTTP error status (RFC 9110 section 15; RFC 6585 for 429, RFC 8470 for 425).

    ``detail`` keeps Retry-After's seconds as ``retry_after``. ``not_done`` for the 4xx that refuse
    the request, unless it was ``acted`` on before (see :class:`HttpResponse`). ``outcome_unknown``
    for 5xx: a gateway answers 503 for a server that has done the work, too.
    """
    kind: FailureKind = "tool_error"
    if status in (401, 403, 407):
        kind = "auth"
    elif status == 429:
        kind = "rate_limit"
    elif status in (408, 504):
        kind = "timeout"
    elif status >= 500:
        kind = "unavailable"
    return Failure(
        kind,
        message,
        retryable=status in (408, 425, 429, 500, 502, 503, 504),
        outcome_unknown=status >= 500,
        status=status,
        detail=None if retry_after is None else {"retry_after": retry_after},
        not_done=status in REFUSED_STATUSES and not acted,
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that ``Retry-After`` asks to wait (delta-seconds or an HTTP date), None without a
    usable one.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", value, re.ASCII):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
