from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from mcp.server.mcpserver import MCPServer

from callwright.gateway.oauth.login import LoginOptions, log_in
from callwright.gateway.oauth.login_store import LoginStore
from callwright.nouns.errors import CatalogError
from callwright.tools.servers import Server
from tests.gateway.oauth.browser import Browser
from tests.gateway.oauth.issuer import Issuer, serve_app
from tests.gateway.oauth.protected_server import serve_protected


async def test_a_user_logs_in_once_by_browser_and_the_tokens_are_for_this_server(
    issuer: Issuer, tmp_path: Path
) -> None:
    store = LoginStore(tmp_path)
    async with serve_protected(issuer) as protected, asyncio.TaskGroup() as group:
        server, browser = Server("mail", url=protected.url), Browser(group)
        login = store.open("", protected.url)
        assert await log_in(server, login, browser.show, LoginOptions())
        (address,) = browser.opened
        asked = {k: v[0] for k, v in parse_qs(urlsplit(address).query).items()}
        assert asked["code_challenge_method"] == "S256"
        assert asked["resource"] == protected.url
        assert asked["scope"] == "tools"
        assert urlsplit(asked["redirect_uri"]).hostname == "127.0.0.1"
    assert "The login is done" in browser.pages[0]
    tokens = await store.open("", protected.url).get_tokens()
    assert tokens is not None
    assert protected.tokens[-1] == tokens.access_token
    assert login.metadata["server"]["token_endpoint"] == f"{issuer.url}/token"


async def test_a_client_that_was_registered_by_hand_is_used(issuer: Issuer, tmp_path: Path) -> None:
    with_port = Server("mail")
    async with serve_protected(issuer) as protected, asyncio.TaskGroup() as group:
        from callwright.serving.sockets import open_socket

        with open_socket("127.0.0.1", 0) as free:
            port = free.getsockname()[1]
        redirect = f"http://127.0.0.1:{port}/callback"
        issuer.clients["by-hand"] = {"redirect_uris": [redirect]}
        server, browser = Server(with_port.name, url=protected.url), Browser(group)
        login = LoginStore(tmp_path).open("", protected.url)
        options = LoginOptions(client_id="by-hand", port=port)
        assert await log_in(server, login, browser.show, options)
    assert issuer.count("/register") == 0


async def test_a_server_that_lets_everybody_in_leaves_nothing(tmp_path: Path) -> None:
    app = MCPServer("open").streamable_http_app()
    async with serve_app(app) as url:
        server = Server("open", url=f"{url}/mcp")
        login = LoginStore(tmp_path).open("", server.url)
        shown: list[str] = []
        assert not await log_in(server, login, shown.append, LoginOptions())
    assert not shown
    assert not login.exists


async def test_nobody_logs_in(issuer: Issuer, tmp_path: Path) -> None:
    async with serve_protected(issuer) as protected:
        server = Server("mail", url=protected.url)
        login = LoginStore(tmp_path).open("", protected.url)
        with pytest.raises(CatalogError, match="nobody logged in at 'mail'"):
            await log_in(server, login, lambda _: None, LoginOptions(seconds=0.5))
    assert not login.exists


async def test_a_no_of_the_authorization_server_is_said(issuer: Issuer, tmp_path: Path) -> None:
    async with serve_protected(issuer) as protected, asyncio.TaskGroup() as group:
        server = Server("mail", url=protected.url)
        login = LoginStore(tmp_path).open("", protected.url)

        async def say_no(address: str) -> None:
            redirect = parse_qs(urlsplit(address).query)["redirect_uri"][0]
            reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(redirect).port)
            writer.write(b"GET /callback?error=access_denied HTTP/1.1\r\nhost: x\r\n\r\n")
            await reader.read()
            writer.close()

        with pytest.raises(CatalogError, match="access_denied"):
            await log_in(
                server, login, lambda a: group.create_task(say_no(a)) and None, LoginOptions()
            )
