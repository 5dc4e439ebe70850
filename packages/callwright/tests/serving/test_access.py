from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError
from callwright.serving.access import COOKIE, LOGIN, Access, host_name

LONG = "k" * 16
KEYED = Access(Secret(LONG))
SPENDING = Access(upstream_key=Secret("theirs"))


def scope(
    path: str = "/v1/x", client: str = "127.0.0.1", method: str = "POST", **headers: str
) -> dict[str, Any]:
    given = {"host": "localhost:8787", **headers}
    fields = [(k.replace("_", "-").encode(), v.encode()) for k, v in given.items() if v]
    return {
        "path": path,
        "client": (client, 1),
        "headers": fields,
        "method": method,
        "http_version": "1.1",
    }


def status(access: Access, asked: dict[str, Any], own: bool = False) -> int:
    refused = access.refusal(asked, own=own)
    return refused[0] if refused else 200


def test_a_proxy_for_others_needs_a_key() -> None:
    with pytest.raises(ConfigError, match="needs a key"):
        Access().checked("0.0.0.0")
    with pytest.raises(ConfigError, match="needs a key"):
        Access(Secret("short")).checked("::")
    assert Access(Secret(LONG)).checked("0.0.0.0")
    assert Access().checked("127.0.0.1")


def test_a_wrong_key_is_refused_and_a_right_one_never_goes_upstream() -> None:
    access = Access(Secret(LONG), Secret("theirs"))
    assert status(access, scope(authorization="Bearer no")) == 401
    assert status(access, scope(authorization=f"Bearer {LONG}")) == 200
    assert status(access, scope(x_api_key=LONG)) == 200
    assert access.upstream((("x-api-key", LONG), ("a", "b"))) == (
        ("a", "b"),
        ("authorization", "Bearer theirs"),
    )
    assert Access(Secret(LONG)).upstream((("authorization", f"Bearer {LONG}"),)) == ()


def test_without_keys_of_its_own_the_clients_pass() -> None:
    given = (("authorization", "Bearer x"),)
    assert Access().upstream(given) is given


NAMES = [
    ("localhost", 200),
    ("localhost:8787", 200),
    ("LocalHost.:8787", 200),
    ("api.localhost", 200),
    ("127.0.0.1:8787", 200),
    ("[::1]:8787", 200),
    ("192.168.1.7:8787", 200),
    ("my-server.lan", 200),
    ("attacker.example:8787", 403),
    ("localhost.attacker.example", 403),
    ("notlocalhost", 403),
    ("127.0.0.1.attacker.example", 403),
    ("", 400),
    ("[::1", 400),
    ("localhost:port", 400),
    ("user@localhost", 400),
    ("localhost/x", 400),
]


@pytest.mark.parametrize(("host", "expected"), NAMES)
@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/api/tags", "/callwright", "/metrics", "/healthz", "/"]
)
def test_no_path_is_served_under_a_name_that_is_not_ours(
    host: str, path: str, expected: int
) -> None:
    """A page may make its own name lead to 127.0.0.1; then the browser sends that name."""
    access = Access(upstream_key=Secret("theirs"), hosts=frozenset({"my-server.lan"}))
    own = path in ("/callwright", "/metrics", "/healthz")
    assert status(access, scope(path, host=host), own) == expected


def test_two_hosts_are_refused_and_who_has_the_key_may_call_the_proxy_as_it_likes() -> None:
    asked = scope()
    asked["headers"].append((b"host", b"localhost"))
    assert status(Access(), asked) == 400
    assert status(KEYED, scope(host="proxy.compose", authorization=f"Bearer {LONG}")) == 200
    assert status(KEYED, scope(host="proxy.compose")) == 403
    assert status(Access(), {**scope(host=""), "http_version": "1.0"}) == 200


@pytest.mark.parametrize(
    ("origin", "free", "with_own_key", "spending"),
    [
        ("", 200, 200, 200),
        ("http://localhost:3000", 200, 200, 200),
        ("http://my-server.lan", 200, 200, 200),
        ("https://evil.example", 403, 200, 403),
        ("http://203.0.113.9", 403, 200, 403),
        ("null", 403, 200, 403),
        ("vscode-webview://1f2e3d", 200, 200, 403),
        ("http://[", 400, 400, 400),
        ("http://a:b", 400, 400, 400),
        ("http://", 403, 200, 403),
    ],
)
def test_pages_of_other_sites_need_a_key_of_their_own(
    origin: str, free: int, with_own_key: int, spending: int
) -> None:
    hosts = frozenset({"my-server.lan"})
    assert status(Access(hosts=hosts), scope(origin=origin)) == free
    assert (
        status(Access(hosts=hosts), scope(origin=origin, authorization="Bearer theirs"))
        == with_own_key
    )
    assert (
        status(Access(upstream_key=Secret("ours"), hosts=hosts), scope(origin=origin)) == spending
    )


def test_a_page_reached_by_an_address_may_use_the_proxy_behind_it() -> None:
    assert status(SPENDING, scope(host="192.168.1.7:8787", origin="http://192.168.1.7:8787")) == 200


def test_a_picture_in_another_sites_page_spends_no_key() -> None:
    assert status(SPENDING, scope(method="GET", sec_fetch_site="cross-site")) == 403
    assert status(SPENDING, scope(method="GET", sec_fetch_site="same-origin")) == 200


@pytest.mark.parametrize("method", ["TRACE", "CONNECT"])
def test_methods_that_no_client_needs_are_refused(method: str) -> None:
    assert status(Access(), scope(method=method)) == 405


@pytest.mark.parametrize(
    ("host", "client", "shown"),
    [
        ("localhost:8787", "127.0.0.1", True),
        ("[::1]:8787", "::1", True),
        ("evil.example", "127.0.0.1", False),
        ("localhost", "10.0.0.9", False),
    ],
)
def test_own_pages_are_for_this_machine(host: str, client: str, shown: bool) -> None:
    assert (Access().refusal(scope("/callwright", client, host=host), own=True) is None) is shown


@pytest.mark.parametrize("host", ["tools.example.org", "127.0.0.1:8790"])
def test_behind_a_server_that_hands_on_the_requests_of_others_the_pages_want_a_key(
    host: str,
) -> None:
    """One on this machine is a local peer, and may set any Host."""
    hosts = frozenset({"tools.example.org"})
    asked = scope("/callwright", method="GET", host=host)
    refused = Access(hosts=hosts, is_public=True).refusal(asked, own=True)
    assert refused is not None
    assert refused[0] == 403
    assert status(Access(Secret("short"), hosts=hosts, is_public=True), asked, own=True) == 403
    keyed = Access(Secret(LONG), hosts=hosts, is_public=True)
    assert status(keyed, asked, own=True) == 401
    assert status(keyed, scope("/callwright", host=host, x_api_key=LONG), own=True) == 200
    assert (
        status(Access(hosts=hosts, is_public=True), scope("/healthz", host=host), own=True) == 200
    )


@pytest.mark.parametrize("path", ["/callwright", "/callwright/requests.json", "/metrics"])
def test_where_there_is_a_key_the_pages_want_it(path: str) -> None:
    assert status(KEYED, scope(path, method="GET"), own=True) == 401
    assert status(KEYED, scope(path, method="GET", authorization=f"Bearer {LONG}"), own=True) == 200
    cookie = f"a=b; {COOKIE}={KEYED.page_key.reveal()}"
    assert status(KEYED, scope(path, method="GET", cookie=cookie), own=True) == 200
    assert status(KEYED, scope(path, method="GET", cookie=f"{COOKIE}={LONG}"), own=True) == 401
    assert status(KEYED, scope("/v1/x", cookie=cookie)) == 401, "the cookie is for the pages"
    assert (
        status(KEYED, scope(LOGIN), own=True) == status(KEYED, scope("/healthz"), own=True) == 200
    )
    assert status(KEYED, scope(LOGIN, "10.0.0.9"), own=True) == 403


def test_a_login_wants_the_key() -> None:
    assert KEYED.opens(LONG.encode())
    assert not KEYED.opens(b"")
    assert not Access().opens(b"")


@given(st.text())
def test_whatever_a_client_calls_us_is_answered(text: str) -> None:
    name = host_name(text)
    assert name is None or name in text.lower()
    assert status(
        SPENDING, scope(host=text.encode("ascii", "ignore").decode(), origin="http://[" + text)
    ) in (
        200,
        400,
        403,
    )
