from __future__ import annotations

from typing import Any

from callwright.gateway.server.authorizer import KeyAuthorizer, Unauthorized
from callwright.models.secret import Secret
from callwright.serving.access import Access


def scope(*headers: tuple[str, str]) -> dict[str, Any]:
    given = [(name.encode(), value.encode()) for name, value in (("host", "localhost"), *headers)]
    return {
        "method": "POST",
        "path": "/mcp",
        "headers": given,
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }


async def test_on_loopback_every_program_is_served_as_nobody_in_particular() -> None:
    authorizer = KeyAuthorizer(Access(what="gateway"))
    assert await authorizer.authorize(scope()) is None
    assert authorizer.describe() == {"authorization": "none"}
    assert authorizer.find_page("/.well-known/oauth-protected-resource") is None


async def test_where_there_is_a_key_it_is_asked_for() -> None:
    authorizer = KeyAuthorizer(Access(Secret("k" * 16), what="gateway"))
    refused = await authorizer.authorize(scope())
    assert isinstance(refused, Unauthorized)
    assert (refused.status, refused.headers) == (401, (("www-authenticate", "Bearer"),))
    assert "this gateway wants its own key" in refused.message
    assert await authorizer.authorize(scope(("authorization", "Bearer " + "k" * 16))) is None
    assert authorizer.describe() == {"authorization": "key"}
