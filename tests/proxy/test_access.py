from __future__ import annotations

from typing import Any

import pytest

from callwright.errors import ConfigError
from callwright.models.secret import Secret
from callwright.proxy.access import Access

LONG = "k" * 16


def scope(path: str = "/v1/x", client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    given = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return {"path": path, "client": (client, 1), "headers": given}


def test_a_proxy_for_others_needs_a_key() -> None:
    with pytest.raises(ConfigError, match="needs a key"):
        Access().checked("0.0.0.0")
    with pytest.raises(ConfigError, match="needs a key"):
        Access(Secret("short")).checked("::")
    assert Access(Secret(LONG)).checked("0.0.0.0")
    assert Access().checked("127.0.0.1")


def test_a_wrong_key_is_refused_and_a_right_one_never_goes_upstream() -> None:
    access = Access(Secret(LONG), Secret("theirs"))
    refused = access.refusal(scope(authorization="Bearer no"), own=False)
    assert refused is not None
    assert refused[0] == 401
    assert access.refusal(scope(authorization=f"Bearer {LONG}"), own=False) is None
    assert access.refusal(scope(x_api_key=LONG), own=False) is None
    assert access.upstream((("x-api-key", LONG), ("a", "b"))) == (("a", "b"), ("authorization", "Bearer theirs"))
    assert Access(Secret(LONG)).upstream((("authorization", f"Bearer {LONG}"),)) == ()


def test_without_keys_of_its_own_the_clients_pass() -> None:
    given = (("authorization", "Bearer x"),)
    assert Access().upstream(given) is given


def test_pages_of_other_sites_may_not_use_the_upstream_key() -> None:
    access = Access(upstream_key=Secret("theirs"))
    assert access.refusal(scope(origin="https://evil.example"), own=False) is not None
    assert access.refusal(scope(origin="http://localhost:3000"), own=False) is None


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
    assert Access().refusal(scope("/healthz", client, host=host), own=True) is None
