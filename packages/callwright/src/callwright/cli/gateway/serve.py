"""Serves the gateway until it is interrupted, or until its client closes stdin."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from callwright.gateway.configuration import read_servers_file
from callwright.gateway.server.gateway import Gateway, GatewaySetup
from callwright.nouns.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """The options of the command. ``port`` None: stdio."""

    servers: Path
    stdio: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    allow: tuple[str, ...] = ()
    consent: Literal["ask", "client"] = "ask"


def serve_gateway(options: GatewayOptions) -> None:
    """Run the command. Raises ConfigError, MissingExtra."""
    if options.stdio and options.port is not None:
        raise ConfigError("--stdio serves no port", hint="leave --stdio or --port out")
    gateway = Gateway(build_setup(options))
    if options.port is None:
        from callwright.gateway.server.stdio_door import serve_stdio

        if sys.stdin.isatty() and not options.stdio:
            raise ConfigError(
                "an MCP client starts this command and talks to it over stdin; no client is there",
                hint="--port 8790 serves over HTTP; --stdio serves stdin all the same",
            )
        asyncio.run(serve_stdio(gateway))
        return
    raise ConfigError("HTTP is not served yet")


def build_setup(options: GatewayOptions) -> GatewaySetup:
    """How the gateway works, by the options. Raises ConfigError."""
    found = read_servers_file(options.servers.expanduser())
    for entry in found.entries:
        if entry.error:
            print(f"warning:  {entry.error}", file=sys.stderr)
    return GatewaySetup(
        entries=found.entries,
        allow=options.allow,
        consent=options.consent,
    )
