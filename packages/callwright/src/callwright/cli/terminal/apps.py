"""Typer apps that look the same wherever they are defined: plain help, plain errors."""

from __future__ import annotations

import typer


def new_app(help: str, name: str | None = None) -> typer.Typer:
    """Create a group of commands that shows its help when it is called without one."""
    return typer.Typer(
        name=name,
        help=help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
