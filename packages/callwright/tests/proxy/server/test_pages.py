from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from callwright.models.secret import Secret
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.counters import Counters
from callwright.proxy.server.destination import read_destinations
from callwright.proxy.server.pages import (
    Asked,
    answer_request,
    ask_for_key,
    build_refusal,
    logged_in,
)
from callwright.proxy.server.route import Routes
from callwright.proxy.session.record import Record
from callwright.serving.access import COOKIE, LOGIN, Access
from callwright.serving.own_pages import LOGIN_BYTES

SHOWN = [
    ("/", b"http://localhost:8787/v1", "text/html; charset=utf-8"),
    ("/healthz", b'"status":"ok"', "application/json"),
    ("/metrics", b"callwright_requests_total", "text/plain; version=0.0.4; charset=utf-8"),
    ("/callwright", b"r1", "text/html; charset=utf-8"),
    ("/callwright/", b"r1", "text/html; charset=utf-8"),
    ("/callwright/requests.json", b'"id":"r1"', "application/json"),
    ("/callwright/tools.json", b"[]", "application/json"),
]
PAGE = 100_000
ROUTES = Routes(read_destinations(["http://h/v1"]))


def counted(*records: Record) -> Counters:
    counters = Counters(Budget(kept_requests=50))
    for record in records or (Record("r1", "/v1/messages"),):
        counters.add(record)
    return counters


def asked(path: str, method: str = "GET", query: str = "", html: bool = True) -> Asked:
    return Asked(method, path, query, html, "localhost:8787")


@pytest.mark.parametrize(("path", "said", "kind"), SHOWN)
def test_each_page_says_what_it_is_for(path: str, said: bytes, kind: str) -> None:
    status, headers, body = answer_request(asked(path), counted(), ROUTES, PAGE)
    assert status == 200
    assert said in body
    assert dict(headers)["content-type"] == kind
    policy = dict(headers)["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy
    assert ("script-src 'sha256-" in policy) == (b"<script>" in body)


def test_a_page_that_did_not_change_is_not_sent_again() -> None:
    counters = counted()
    _, headers, body = answer_request(asked("/callwright"), counters, ROUTES, PAGE, 5.0)
    tag = dict(headers)["etag"]
    again = replace(asked("/callwright"), tag=tag)
    assert again.is_update
    assert answer_request(again, counters, ROUTES, PAGE, 9.0)[::2] == (304, b"")
    counters.active += 1
    assert answer_request(again, counters, ROUTES, PAGE, 9.0)[0] == 200
    counters.active -= 1
    counters.add(Record("r2", "/v1/messages"))
    assert b"r2" in answer_request(again, counters, ROUTES, PAGE, 9.0)[2]
    assert b"r2" not in body


def test_only_the_newest_requests_are_live() -> None:
    counters = counted(Record("r1", "/x"), Record("r2", "/x"))
    newest = answer_request(asked("/callwright"), counters, ROUTES, PAGE)
    older = answer_request(asked("/callwright", query="before=r2"), counters, ROUTES, PAGE)
    assert "connect-src 'self'" in dict(newest[1])["content-security-policy"]
    assert "connect-src" not in dict(older[1])["content-security-policy"]
    assert b"fetch(" not in older[2]


def test_pages_can_only_be_read() -> None:
    status, headers, _ = answer_request(asked("/metrics", "POST"), counted(), ROUTES, PAGE)
    assert (status, dict(headers)["allow"]) == (405, "GET, HEAD")


def test_what_is_no_page_is_a_404() -> None:
    assert answer_request(asked("/callwright/x"), counted(), ROUTES, PAGE)[0] == 404


@pytest.mark.parametrize(
    ("path", "method", "html", "own"),
    [
        ("/", "GET", True, True),
        ("/", "HEAD", True, True),
        ("/", "GET", False, False),
        ("/", "POST", True, False),
        ("/callwright", "GET", False, True),
        ("/callwright/x", "GET", False, True),
        ("/callwrights", "GET", True, False),
        ("/healthz", "GET", False, True),
        ("/v1/models", "GET", True, False),
    ],
)
def test_the_root_is_ours_for_browsers_only(path: str, method: str, html: bool, own: bool) -> None:
    headers = [
        (b"accept", b"text/html,*/*" if html else b"application/json"),
        (b"host", b"localhost"),
    ]
    made = Asked.read({"method": method, "path": path, "query_string": b"", "headers": headers})
    assert made.is_own is own


def test_a_page_is_bounded_and_leads_to_the_next() -> None:
    records = [Record(f"r{n}", "/v1/messages", raw="x" * 10_000) for n in range(20)]
    seen, query = [], ""
    for _ in range(50):
        _, headers, body = answer_request(
            asked("/callwright/requests.json", query=query), counted(*records), ROUTES, 30_000
        )
        assert len(body) < 60_000
        seen += [record["id"] for record in json.loads(body)]
        link = dict(headers).get("link", "")
        if not link:
            break
        query = link.partition("?")[2].partition(">")[0]
    assert seen == [f"r{n}" for n in reversed(range(20))]
    page = answer_request(asked("/callwright"), counted(*records), ROUTES, 30_000)[2].decode()
    assert len(page) < 60_000
    assert 'href="/callwright?before=r' in page


def test_a_request_that_is_no_longer_there_has_none_before_it() -> None:
    assert (
        answer_request(
            asked("/callwright/requests.json", query="before=gone"), counted(), ROUTES, PAGE
        )[2]
        == b"[]"
    )


def test_who_has_no_key_gets_a_form_or_an_error() -> None:
    status, headers, body = ask_for_key(asked("/callwright"), Access())
    assert (status, dict(headers)["content-type"]) == (401, "text/html; charset=utf-8")
    assert f'action="{LOGIN}"'.encode() in body
    assert b"form-action 'self'" in body
    status, headers, body = ask_for_key(asked("/callwright", html=False), Access())
    assert status == 401
    assert "key" in json.loads(body)["error"]["message"]


def login(body: bytes) -> tuple[int, dict[str, Any], bytes]:
    status, headers, said = logged_in(
        asked(LOGIN, "POST"), body, Access(Secret("k y&"), page_key=Secret("made"))
    )
    return status, dict(headers), said


def test_a_login_with_the_key_sets_a_cookie_that_no_script_reads_and_no_other_site_sends() -> None:
    status, headers, _ = login(b"key=k+y%26")
    assert (status, headers["location"]) == (303, "/callwright")
    assert headers["set-cookie"] == f"{COOKIE}=made; Path=/callwright; HttpOnly; SameSite=Strict"


@pytest.mark.parametrize(
    "body", [b"", b"key=", b"key=no", b"key=%ff", b"x" * (LOGIN_BYTES + 1), b"\xff", b"a&" * 100]
)
def test_a_login_without_it_is_asked_again(body: bytes) -> None:
    status, headers, _ = login(body)
    assert (status, "set-cookie" in headers) == (401, False)


def test_a_refusal_is_an_error_of_ours() -> None:
    status, headers, body = build_refusal(405, "TRACE is not served")
    assert (status, json.loads(body)["error"]["message"]) == (405, "TRACE is not served")
    assert "TRACE" not in dict(headers)["allow"]
