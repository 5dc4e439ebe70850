"""Typer apps that look the same wherever they are defined: plain help, plain errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup


def new_app(help: str, name: str | None = None, first: str = "") -> typer.Typer:
    """Create a group of commands that shows its help when it is called without one. ``first``: the
    commands that the help lists first, in this order, separated by spaces.
    """
    return typer.Typer(
        name=name,
        help=help,
        cls=_make_group(first.split()),
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def _make_group(first: Sequence[str]) -> type[TyperGroup]:
    class Group(TyperGroup):
        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # typer would make exit code 1 of it, as of an error
                raise typer.Exit from None

        def list_commands(self, ctx: Any) -> list[str]:
            named = super().list_commands(ctx)
            return [*(n for n in first if n in named), *(n for n in named if n not in first)]

    return Group
