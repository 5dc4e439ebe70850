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
from callwright.cli.settings.refiner import ServedRefinerOptions

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


class Expose(StrEnum):
    all = "all"
    search = "search"
    pinned = "pinned"


class ClientChoice(StrEnum):
    claude_code = "claude-code"
    cline = "cline"
    vscode = "vscode"
    cursor = "cursor"


class ClientAuth(StrEnum):
    basic = "basic"
    post = "post"


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
class ExposeOptions:
    """The part of the tools that clients see."""

    expose: Annotated[
        Expose | None,
        typer.Option(
            "--expose",
            help="List all tools; search_tools and call_tool beside the pinned ones; or the pinned"
            " ones alone [all, and a search above --expose-limit].",
        ),
    ] = None
    expose_limit: Annotated[
        int, typer.Option("--expose-limit", min=0, help="Tools that are listed without a search.")
    ] = 40


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
    exposure: ExposeOptions,
    refiner: ServedRefinerOptions,
    notes: NoteOptions,
) -> None:
    """Serve one MCP endpoint in front of all servers of a file."""
    from callwright.cli.gateway.serve import GatewayOptions, serve_gateway
    from callwright.gateway.exposure import ExposureSettings

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
            refiner=refiner.to_setup(),
            exposure=ExposureSettings(
                exposure.expose.value if exposure.expose else None, exposure.expose_limit
            ),
        )
    )


@gateway.command("approve")
def approve_command(
    named: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SERVER[/TOOL]]...", help="What to approve [none: show what waits]."
        ),
    ] = None,
) -> None:
    """Show tools that have changed, and approve those named. A tool is pinned when first seen."""
    from callwright.cli.gateway.approve import approve_named

    raise typer.Exit(approve_named(named or []))


@gateway.command("login")
def login_command(
    server: Annotated[str, typer.Argument(help="A server of the servers file.")],
    servers: Annotated[
        Path, typer.Option("--servers", help="The servers: a file with an mcpServers object.")
    ],
    user: Annotated[
        str,
        typer.Option(help='Who logs in, of a gateway with users: "ISSUER SUBJECT" [this machine].'),
    ] = "",
    scope: Annotated[str, typer.Option(help="Scopes beside those that the server wants.")] = "",
    client_id: Annotated[
        str, typer.Option(help="Of a client registered by hand [it registers itself].")
    ] = "",
    client_auth: Annotated[
        ClientAuth,
        typer.Option(help="How the secret in CALLWRIGHT_CLIENT_SECRET is sent."),
    ] = ClientAuth.basic,
    client_document: Annotated[
        str, typer.Option(help="The https:// URL of a client ID metadata document.")
    ] = "",
    redirect_port: Annotated[
        int, typer.Option(help="The port of the registered http://127.0.0.1:PORT/callback.")
    ] = 0,
    forget: Annotated[bool, typer.Option("--forget", help="Forget the login.")] = False,
) -> None:
    """Log in at a server by a browser on this machine. The tokens are kept for this user."""
    from callwright.cli.gateway.login import LoginRequest, log_in_at

    asked = LoginRequest(
        server=server,
        servers=servers,
        user=user,
        scope=scope,
        client_id=client_id,
        client_auth=client_auth.value,
        client_document=client_document,
        redirect_port=redirect_port,
    )
    raise typer.Exit(log_in_at(asked, forget=forget))


@gateway.command("import")
def import_command(
    clients: Annotated[
        list[ClientChoice] | None, typer.Argument(help="Whose lists to read [all].")
    ] = None,
    project: Annotated[
        Path, typer.Option("--project", help="The folder whose own lists are read too.")
    ] = Path(),
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The servers file to write, or - for stdout.")
    ] = Path("mcp.json"),
    print_config: Annotated[
        ClientChoice | None,
        typer.Option(
            "--print-config", help="Print the entry that puts the gateway into a client, no more."
        ),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", help="For --print-config: the gateway's address over HTTP.")
    ] = "",
) -> None:
    """Read the server lists of clients into a servers file. The clients are Claude Code, Cline,
    VS Code and Cursor.
    """
    from callwright.cli.gateway.importing import import_lists, print_entry

    if print_config is not None:
        raise typer.Exit(print_entry(print_config.value, output, url))
    raise typer.Exit(import_lists([one.value for one in clients or ClientChoice], project, output))
