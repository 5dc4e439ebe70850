from __future__ import annotations

import pytest

from callwright.proxy.counters import Counters
from callwright.proxy.pages import answer
from callwright.proxy.record import Record

SHOWN = [
    ("/healthz", b'"status":"ok"', "application/json"),
    ("/metrics", b"callwright_requests_total", "text/plain; version=0.0.4; charset=utf-8"),
    ("/callwright", b"r1", "text/html; charset=utf-8"),
    ("/callwright/", b"r1", "text/html; charset=utf-8"),
    ("/callwright/requests.json", b'"id":"r1"', "application/json"),
]


def counted() -> Counters:
    counters = Counters(5)
    counters.add(Record("r1", "/v1/messages"))
    return counters


@pytest.mark.parametrize(("path", "said", "kind"), SHOWN)
def test_each_page_says_what_it_is_for(path: str, said: bytes, kind: str) -> None:
    status, headers, body = answer("GET", path, counted(), "http://h/v1")
    assert status == 200
    assert said in body
    assert dict(headers)["content-type"] == kind
    policy = dict(headers)["content-security-policy"]
    assert {"default-src 'none'", "sandbox"} <= set(policy.split("; "))
    assert "script" not in policy


def test_pages_can_only_be_read() -> None:
    status, headers, _ = answer("POST", "/metrics", counted(), "http://h/v1")
    assert (status, dict(headers)["allow"]) == (405, "GET, HEAD")


def test_what_is_no_page_is_a_404() -> None:
    assert answer("GET", "/callwright/x", counted(), "http://h/v1")[0] == 404
