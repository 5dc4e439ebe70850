from __future__ import annotations

from contextlib import aclosing

from callwright.gateway.oauth.signing_keys import KEPT_SECONDS, SigningKeys
from tests.gateway.oauth.issuer import Issuer


async def test_keys_are_found_by_the_issuer_s_own_metadata(issuer: Issuer) -> None:
    async with aclosing(SigningKeys()) as keys:
        assert getattr(await keys.find(issuer.url, "first"), "key_id", None) == "first"
        assert await keys.find(issuer.url, "other") is None
    assert [path for path, _ in issuer.seen] == [
        "/.well-known/oauth-authorization-server/realm",
        "/keys",
    ]


async def test_metadata_of_another_issuer_is_not_believed(issuer: Issuer) -> None:
    url, issuer.url = issuer.url, "http://other.example.org"
    async with aclosing(SigningKeys()) as keys:
        assert isinstance(await keys.find(url, "first"), str)


async def test_a_given_address_is_asked_directly(issuer: Issuer) -> None:
    async with aclosing(SigningKeys(f"{issuer.url}/keys")) as keys:
        assert await keys.find("https://anything.example.org", "first") is not None
    assert issuer.count("/.well-known/oauth-authorization-server/realm") == 0


async def test_old_keys_are_used_on_while_the_issuer_cannot_be_asked(issuer: Issuer) -> None:
    now = [0.0]
    url = issuer.url
    async with aclosing(SigningKeys(clock=lambda: now[0])) as keys:
        assert await keys.find(url, "first") is not None
        now[0], issuer.url = KEPT_SECONDS + 1, "http://moved.example.org"
        assert getattr(await keys.find(url, "first"), "key_id", None) == "first"
        assert isinstance(await keys.find(url, "second"), str)
