"""``callwright gateway``: its options. What it does is imported when it is called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from callwright.cli.settings.options import add_strict_option

_SERVE = "serve"


class _ServesByDefault(TyperGroup):
    """``gateway --servers FILE`` is ``gateway serve --servers FILE``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_own_help = args[:1] in (["--help"], ["-h"])
        if args and not is_own_help and args[0] not in self.commands:
            args = [_SERVE, *args]
        return super().parse_args(ctx, args)


gateway = typer.Typer(
    cls=_ServesByDefault,
    no_args_is_help=True,
    help=(
        "Put many MCP servers behind one, and repair the calls on the way (gateway --servers"
        " mcp.json)."
    ),
)


class Asking(StrEnum):
    ask = "ask"
    client = "client"


@gateway.command(_SERVE)
@add_strict_option
def serve_command(
    servers: Annotated[
        Path, typer.Option("--servers", help="The servers: a file with an mcpServers object.")
    ],
    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio", help="Serve one client over stdin and stdout [where no port is given]."
        ),
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Serve over HTTP at this port, path /mcp; 0: any.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than loopback needs a key.")
    ] = "127.0.0.1",
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            help="A tool whose calls need no approval: SERVER:TOOL, or a pattern. May be repeated.",
        ),
    ] = None,
    consent: Annotated[
        Asking,
        typer.Option(
            "--consent",
            help="Who approves calls that may write: ask the client's user, or client: the client"
            " asks by itself.",
        ),
    ] = Asking.ask,
) -> None:
    """Serve one MCP endpoint in front of all servers of a file."""
    from callwright.cli.gateway.serve import GatewayOptions, serve_gateway

    serve_gateway(
        GatewayOptions(
            servers=servers,
            stdio=stdio,
            host=host,
            port=port,
            allow=tuple(allow or ()),
            consent=consent.value,
        )
    )
