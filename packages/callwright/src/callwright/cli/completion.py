"""Completion of commands and options in a shell: the script that a shell loads, and the program's
part of it, which the script asks at every press of the tab key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

import typer

from callwright.cli.lab import COMMANDS, load_command
from callwright.nouns.errors import ConfigError

PROGRAM = "callwright"
VARIABLE = "_CALLWRIGHT_COMPLETE"
_WORDS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")  # bash; zsh and fish


class Shell(StrEnum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def print_script(app: typer.Typer, shell: Shell) -> int:
    """Print what this shell has to load; return the exit code."""
    from typer.completion import get_completion_inspect_parameters, shell_complete

    get_completion_inspect_parameters()  # registers the shells
    command = typer.main.get_command(app)
    return shell_complete(command, {}, PROGRAM, VARIABLE, f"source_{shell.value}")


def prepare_completion(app: typer.Typer, environment: Mapping[str, str] = os.environ) -> None:
    """Make the app answer the script's question, if this process was asked one."""
    if VARIABLE not in environment:
        return
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()  # registers the shells
    words = next((environment[name] for name in _WORDS if name in environment), "").split()
    for name in COMMANDS:
        if name in words[1:2]:
            replace_stub(app, name)


def replace_stub(app: typer.Typer, name: str) -> None:
    """Put the lab's own command in the place of its stub, which knows no option of it."""
    try:
        loaded = load_command(name)
    except ConfigError:  # not installed: the stub completes nothing
        return
    app.registered_commands = [one for one in app.registered_commands if one.name != name]
    commands = loaded.registered_commands
    callback = commands[0].callback if len(commands) == 1 else None
    if callback is None or loaded.registered_callback or loaded.registered_groups:
        app.add_typer(loaded, name=name)
    else:
        app.command(name)(callback)
