from __future__ import annotations

import pytest

from callwright.http.egress import Target, parse_target
from callwright.http.redirect import Outgoing, follow_redirect
from callwright.nouns.errors import Failure

SECRETS = {
    "authorization": "Bearer s",
    "cookie": "a=b",
    "x-api-key": "k",
    "accept": "*/*",
    "user-agent": "u",
}


def follow(
    url: str, location: str, *, method: str = "GET", status: int = 302, body: bytes | None = None
) -> object:
    target = parse_target(url)
    assert isinstance(target, Target)
    headers = {**SECRETS, "content-type": "text/plain"} if body else SECRETS
    return follow_redirect(Outgoing(method, url, headers, body), target, status, location)


@pytest.mark.parametrize(
    "location", ["/b", "b", "?x=1", "http://a.test/b", "//a.test/b", "https://a.test/b"]
)
def test_the_same_origin_keeps_every_header(location: str) -> None:
    following = follow("http://a.test/x", location)
    assert isinstance(following, Outgoing)
    assert following.headers == SECRETS


@pytest.mark.parametrize(
    "location", ["http://b.test/", "http://a.test:8080/", "https://a.test:444/", "//b.test/"]
)
def test_another_origin_gets_no_credential_of_any_name(location: str) -> None:
    following = follow("http://a.test/x", location)
    assert isinstance(following, Outgoing)
    assert set(following.headers) == {"accept", "user-agent"}


def test_https_never_becomes_http() -> None:
    assert isinstance(follow("https://a.test/", "http://a.test/"), Failure)


@pytest.mark.parametrize(
    ("method", "status", "becomes"),
    [
        *(("POST", 301, "GET"), ("POST", 302, "GET"), ("POST", 303, "GET"), ("PUT", 303, "GET")),
        *(("HEAD", 303, "HEAD"), ("POST", 307, "POST"), ("POST", 308, "POST")),
        *(("PUT", 302, "PUT"), ("DELETE", 301, "DELETE")),
    ],
)
def test_the_method_changes_as_rfc_9110_says(method: str, status: int, becomes: str) -> None:
    following = follow("http://a.test/", "/b", method=method, status=status)
    assert isinstance(following, Outgoing)
    assert following.method == becomes


def test_a_body_is_dropped_with_its_headers_or_kept_whole_but_never_handed_to_another_origin() -> (
    None
):
    dropped = follow("http://a.test/", "/b", method="POST", status=303, body=b"x")
    assert isinstance(dropped, Outgoing)
    assert dropped.body is None
    assert "content-type" not in dropped.headers
    kept = follow("http://a.test/", "/b", method="POST", status=307, body=b"x")
    assert isinstance(kept, Outgoing)
    assert kept.body == b"x"
    assert isinstance(
        follow("http://a.test/", "http://b.test/", method="POST", status=307, body=b"x"), Failure
    )


@pytest.mark.parametrize(
    "location", ["http://[::1", "http://x:99999/", "javascript:alert(1)", "http://u:p@a.test/"]
)
def test_a_location_that_cannot_be_read_is_not_followed(location: str) -> None:
    assert isinstance(follow("http://a.test/", location), Failure)


def test_text_beyond_ascii_in_a_location_is_percent_encoded() -> None:
    following = follow("http://a.test/", "/caf\u00e9?q=a b")
    assert isinstance(following, Outgoing)
    assert following.url == "http://a.test/caf%C3%A9?q=a%20b"
