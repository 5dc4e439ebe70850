"""The one client for every outgoing request: egress rules, redirects, limits, retries and streams.

aiohttp is loaded with the first request, not with this package.
"""

from callwright.http.client import HttpClient, Surroundings, Timeout
from callwright.http.egress import Egress
from callwright.http.response import HttpResponse, failure_for_status, retry_after
from callwright.http.retry import Retry
from callwright.http.stream import HttpStream

__all__ = [
    "Egress",
    "HttpClient",
    "HttpResponse",
    "HttpStream",
    "Retry",
    "Surroundings",
    "Timeout",
    "failure_for_status",
    "retry_after",
]
