"""``callwright tools``: what sources offer, what is known of tools, and which of them work for a request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from callwright.cli.options import Config, Evidence, Profile

_OFFERED = "list"


class _ListsByDefault(TyperGroup):
    """``tools SOURCE…`` is ``tools list SOURCE…``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = next((a for a in args if not a.startswith("-")), None)
        if named is not None and named not in self.commands:
            args = [_OFFERED, *args]
        return super().parse_args(ctx, args)


catalogue = typer.Typer(
    cls=_ListsByDefault,
    no_args_is_help=True,
    help="List the tools of sources (tools SOURCE…), what is known of them, and which work for a request.",
)


@catalogue.command(_OFFERED)
def list_command(
    sources: Annotated[list[str], typer.Argument(help="Tool sources, as for run --tools.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print an OpenAI-style tool list.")] = False,
) -> None:
    """List the tools of one or more sources, with their effects and what could not be imported."""
    from callwright.cli.offered import list_tools

    list_tools(sources, as_json)


@catalogue.command("health")
def health_command(
    names: Annotated[list[str] | None, typer.Argument(help="Only these tools, with examples; none: all.")] = None,
    evidence: Evidence = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, examples included.")] = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Show what is known of tools from trials and runs: success rate, latency, failures."""
    from callwright.cli.health import show_health
    from callwright.cli.settings import effective

    kept = effective({"evidence": evidence}, config=config, profile=profile).evidence()
    show_health(names or [], kept if isinstance(kept, Path) else None, as_json)
