"""Commands that serve: their options. What they do is imported when they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callwright.cli.options import Tools


def simulate_command(
    tools: Tools = None,
    recorded: Annotated[
        list[Path] | None,
        typer.Option("--recorded", help="Replies to give: a trace, a journal, ToolBench's runs. May be repeated."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Imitates the tools where nothing is on record.")
    ] = None,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Also give the reply to the most similar call on record.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Ask the tools themselves where nothing is on record.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="With --live: tools that may write and are called, like add_*."),
    ] = None,
    record: Annotated[Path | None, typer.Option("--record", help="Keep every answer here, as a recording.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than loopback needs CALLWRIGHT_SIMULATE_KEY.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any that is free.")] = 8788,
) -> None:
    """Serve tools over HTTP with recorded or imitated replies, so that any agent can be tried against them."""
    from callwright.cli.simulate import Served, simulate

    served = Served(tools or (), recorded or (), model, nearest, live, allow or (), record)
    simulate(served, host, port)
