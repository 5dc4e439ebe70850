"""Commands of ``callwright-lab``. The core knows their names; the lab's entry points have the rest.

The lab is loaded when one of its commands is called, and only if it is installed at this very
version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from importlib.metadata import version as installed_version
from typing import Any

import typer

from callwright import __version__
from callwright.nouns.errors import ConfigError
from callwright.nouns.installation import LAB, render_install_hint

GROUP = "callwright.commands"
COMMANDS = {
    "verify": "Verify tools, requests and training data",
    "explore": "Make training rows from errors",
    "convert": "Write trajectories in another layout",
    "train": "Rebuild the trained parts from data",
    "bench": "Run the benchmarks",
}
_PASS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def add_lab_commands(app: typer.Typer) -> None:
    """Register a stub for every command of the lab."""
    for name, text in COMMANDS.items():
        app.command(name, context_settings=_PASS, help=f"{text} ({LAB}).")(_make_stub(name))


def _make_stub(name: str) -> Callable[[typer.Context], None]:
    def start(context: typer.Context) -> None:
        command = typer.main.get_command(load_command(name))
        code = command.main(context.args, prog_name=f"callwright {name}", standalone_mode=False)
        raise typer.Exit(code if isinstance(code, int) else 0)

    return start


def load_command(name: str) -> typer.Typer:
    """The lab's command of this name. ConfigError if the lab is missing or has another version."""
    found = entry_points(group=GROUP)
    return find_command(name, found, installed_version(LAB) if found else "")


def find_command(name: str, entries: Iterable[EntryPoint], version: str) -> typer.Typer:
    """The command among entry points of a lab of this version. ConfigError as above."""
    found = next((entry for entry in entries if entry.name == name), None)
    if found is None:
        raise ConfigError(
            f"`callwright {name}` is part of {LAB}, which is not installed",
            hint=render_install_hint(package=LAB),
        )
    if version != __version__:
        raise ConfigError(
            f"{LAB} {version} does not fit callwright {__version__}: both need the same version",
            hint=render_install_hint(package=LAB),
        )
    loaded: Any = found.load()
    return loaded if isinstance(loaded, typer.Typer) else _build_app(loaded)


def _build_app(function: Callable[..., None]) -> typer.Typer:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(function)
    return app
