"""``callwright gateway login``: a user logs in at a server that wants OAuth."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from callwright.gateway.configuration import read_servers_file
from callwright.gateway.oauth.login import LoginOptions, log_in
from callwright.gateway.oauth.login_store import LoginStore
from callwright.nouns.errors import ConfigError
from callwright.tools.servers import Server
from callwright.tools.trust import escape_terminal_text

SECRET = "CALLWRIGHT_CLIENT_SECRET"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRequest:
    """The options of the command. ``user`` "": this machine's."""

    server: str
    servers: Path
    user: str = ""
    scope: str = ""
    client_id: str = ""
    client_auth: Literal["basic", "post"] = "basic"
    client_document: str = ""
    redirect_port: int = 0


def log_in_at(asked: LoginRequest, *, forget: bool = False) -> int:
    """Log in, or forget the login. 1 where there was none to forget.

    Raises ConfigError, CatalogError, TrustError.
    """
    server = _find_server(asked)
    login = LoginStore().open(asked.user, server.url)
    shown = escape_terminal_text(server.name)
    if forget:
        was_there = login.forget()
        print(f"logged out: {shown}" if was_there else f"nobody was logged in: {shown}")
        return 0 if was_there else 1
    options = LoginOptions(
        client_id=asked.client_id,
        client_secret=os.environ.get(SECRET, ""),
        client_auth=asked.client_auth,
        client_document=asked.client_document,
        port=asked.redirect_port,
        scope=asked.scope,
    )
    if asyncio.run(log_in(server, login, _show_address, options)):
        print(f"logged in: {shown}; a gateway that runs takes it up with the next call")
    else:
        print(f"{shown} lets everybody in: there is nothing to log in for")
    return 0


def _find_server(asked: LoginRequest) -> Server:
    """The server that is meant. Raises ConfigError where nobody can log in there."""
    entry = read_servers_file(asked.servers.expanduser()).find(asked.server)
    if entry.error:
        raise ConfigError(entry.error)
    if entry.server is None or not entry.server.url:
        raise ConfigError(
            f"{asked.server!r} has no url, and only servers at a URL are logged in at",
            hint="a program takes its credentials from env of its entry",
        )
    return entry.server


def _show_address(address: str) -> None:
    """Open the user's browser; the address is printed too, for there may be none."""
    print(f"log in at: {escape_terminal_text(address)}", file=sys.stderr, flush=True)
    if not os.environ.get("CALLWRIGHT_NO_BROWSER"):
        webbrowser.open(address)
