"""``callwright gateway``: its options. What it does is imported when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from callwright.cli.settings.options import (
    Evidence,
    LogForm,
    NoEvidence,
    choose_log_format,
    group_options,
)

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


@dataclass(frozen=True, slots=True)
class DoorOptions:
    """Where clients find the gateway."""

    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio", help="Serve one client over stdin and stdout [where no port is given]."
        ),
    ] = False
    port: Annotated[
        int | None, typer.Option(help="Serve over HTTP at this port, path /mcp; 0: any.")
    ] = None
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than loopback needs a key.")
    ] = "127.0.0.1"
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name under which clients reach the gateway, beside localhost. May be repeated."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """The calls that may leave."""

    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            help="A tool whose calls need no approval: SERVER:TOOL, or a pattern. May be repeated.",
        ),
    ] = None
    consent: Annotated[
        Asking,
        typer.Option(
            "--consent",
            help="Who approves calls that may write: ask, the client's user; client, the client by"
            " itself.",
        ),
    ] = Asking.ask


@dataclass(frozen=True, slots=True)
class NoteOptions:
    """The notes that are made of calls."""

    evidence: Evidence = None
    no_evidence: NoEvidence = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log every call on stderr.")] = False
    log_format: LogForm = None


@gateway.command(_SERVE)
@group_options()
def serve_command(
    servers: Annotated[
        Path, typer.Option("--servers", help="The servers: a file with an mcpServers object.")
    ],
    door: DoorOptions,
    approval: ApprovalOptions,
    notes: NoteOptions,
) -> None:
    """Serve one MCP endpoint in front of all servers of a file."""
    from callwright.cli.gateway.serve import GatewayOptions, serve_gateway

    serve_gateway(
        GatewayOptions(
            servers=servers,
            stdio=door.stdio,
            host=door.host,
            port=door.port,
            allow_host=tuple(door.allow_host or ()),
            allow=tuple(approval.allow or ()),
            consent="client" if approval.consent is Asking.client else "ask",
            quiet=notes.quiet,
            log_format=choose_log_format(notes.log_format),
            evidence=False if notes.no_evidence else notes.evidence or True,
        )
    )
