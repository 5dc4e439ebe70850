"""``callwright gateway login``: without a browser, and what it says."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import httpx2

from callwright.gateway.oauth.login_store import LoginStore
from tests.cli.program import callwright
from tests.gateway.files import write_servers
from tests.gateway.oauth.issuer import serve_issuer
from tests.gateway.oauth.protected_server import serve_protected


async def test_a_user_logs_in_at_the_address_that_is_printed(tmp_path: Path) -> None:
    async with serve_issuer() as issuer, serve_protected(issuer) as protected:
        servers = write_servers(tmp_path, {"mail": {"url": protected.url}})
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "callwright", "gateway", "login", "mail"),
            *("--servers", str(servers), "--user", "https://login.example.org ann"),
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "CALLWRIGHT_NO_BROWSER": "1"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        said = (await process.stderr.readline()).decode()
        assert said.startswith("log in at: ")
        async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as browser:
            await browser.get(said.removeprefix("log in at: ").strip())
        out, err = await process.communicate()
    assert process.returncode == 0, err
    assert out.decode().startswith("logged in: mail")
    store = LoginStore(tmp_path / "callwright" / "logins")
    assert store.open("https://login.example.org ann", protected.url).exists
    assert not store.open("", protected.url).exists


def test_a_program_is_not_logged_in_at(tmp_path: Path) -> None:
    servers = write_servers(tmp_path, {"git": {"command": "git-mcp"}})
    done = callwright("gateway", "login", "git", "--servers", servers)
    assert done.returncode != 0
    assert "'git' has no url" in done.stderr
    done = callwright("gateway", "login", "mail", "--servers", servers)
    assert "no server 'mail'" in done.stderr
    assert "it has: git" in done.stderr


async def test_a_login_can_be_forgotten(tmp_path: Path) -> None:
    from mcp.shared.auth import OAuthToken

    url = "https://mail.example.org/mcp"
    servers = write_servers(tmp_path, {"mail": {"url": url}})
    login = LoginStore(tmp_path / "callwright" / "logins").open("", url)
    await login.set_tokens(OAuthToken(access_token="x"))
    asked = ("gateway", "login", "mail", "--servers", servers, "--forget")
    done = callwright(*asked, XDG_STATE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "logged out: mail\n")
    assert not login.exists
    assert callwright(*asked, XDG_STATE_HOME=str(tmp_path)).returncode == 1
