from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from callwright.gateway.oauth.login import LoginOptions, log_in
from callwright.gateway.oauth.login_store import LoginStore
from callwright.gateway.oauth.server_auth import ServerLogins, read_user
from callwright.nouns.types import to_canonical_json
from callwright.tools.mcp.held import HeldClient
from callwright.tools.servers import Server
from tests.gateway.oauth.browser import Browser
from tests.gateway.oauth.issuer import Issuer
from tests.gateway.oauth.protected_server import Protected, serve_protected


async def log_in_as(user: str, issuer: Issuer, protected: Protected, store: LoginStore) -> None:
    issuer.user = user
    async with asyncio.TaskGroup() as group:
        login = store.open(user, protected.url)
        server = Server("mail", url=protected.url)
        assert await log_in(server, login, Browser(group).show, LoginOptions())


async def call_as(logins: ServerLogins, server: Server, principal: str) -> str:
    held = HeldClient(server, auth=logins.find_auth(server, principal))
    try:
        await held.start()
        assert held.client is not None
        result: Any = await held.client.call_tool("whoami", {})
        return str(result.content[0].text)
    finally:
        await held.stop()


def principal(user: str, client: str = "cursor") -> str:
    return to_canonical_json([client, "https://login.example.org", user])


async def test_two_users_at_once_are_never_each_other(issuer: Issuer, tmp_path: Path) -> None:
    store = LoginStore(tmp_path)
    async with serve_protected(issuer) as protected:
        server = Server("mail", url=protected.url)
        for user in ("ann", "bob"):
            await log_in_as(read_user(principal(user)), issuer, protected, store)
        logins = ServerLogins(store)
        said: list[tuple[str, str]] = []

        async def call(user: str) -> None:
            said.append(
                (read_user(principal(user)), await call_as(logins, server, principal(user)))
            )

        async with asyncio.TaskGroup() as group:
            for user in ("ann", "bob") * 5:
                group.create_task(call(user))
    assert len(said) == 10
    assert all(user == answer for user, answer in said)
    assert logins.find_auth(server, principal("eve")) is None


async def test_an_expired_token_is_renewed_where_it_was_made_and_kept(
    issuer: Issuer, tmp_path: Path
) -> None:
    store = LoginStore(tmp_path)
    async with serve_protected(issuer) as protected:
        server = Server("mail", url=protected.url)
        await log_in_as("", issuer, protected, store)
        login = store.open("", protected.url)
        first = await login.get_tokens()
        assert first is not None
        first.expires_in = -60
        await login.set_tokens(first)
        issuer.seen.clear()
        assert await call_as(ServerLogins(store), server, "") == ""
        renewed = await login.get_tokens()
    assert [path for path, _ in issuer.seen] == ["/token"]  # and no one was asked
    assert renewed is not None
    assert renewed.access_token != first.access_token
    assert renewed.refresh_token != first.refresh_token
    assert login.expires is not None


async def test_connections_of_one_user_share_one_renewal(issuer: Issuer, tmp_path: Path) -> None:
    store = LoginStore(tmp_path)
    async with serve_protected(issuer) as protected:
        server = Server("mail", url=protected.url)
        await log_in_as("", issuer, protected, store)
        login = store.open("", protected.url)
        kept = await login.get_tokens()
        assert kept is not None
        kept.expires_in = -60
        await login.set_tokens(kept)
        issuer.seen.clear()
        logins = ServerLogins(store)
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(call_as(logins, server, ""))
    assert issuer.count("/token") == 1


async def test_credentials_of_the_configuration_are_not_replaced(
    issuer: Issuer, tmp_path: Path
) -> None:
    store = LoginStore(tmp_path)
    async with serve_protected(issuer) as protected:
        await log_in_as("", issuer, protected, store)
        own = Server("mail", url=protected.url, headers={"Authorization": "Bearer mine"})
        assert ServerLogins(store).find_auth(own, "") is None
        assert ServerLogins(store).find_auth(Server("x", command="x"), "") is None


def test_a_person_with_two_clients_is_one_user_and_a_client_alone_is_one_too() -> None:
    assert read_user(principal("ann", "cursor")) == read_user(principal("ann", "cline"))
    assert read_user(principal("ann")) != read_user(principal("bob"))
    assert read_user(to_canonical_json(["c1", "https://a.example", None])) != read_user(
        to_canonical_json(["c2", "https://a.example", None])
    )
    assert read_user("") == ""
