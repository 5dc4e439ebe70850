"""Commands of the lab: one sentence without it, one sentence with another version of it."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from callwright import __version__
from callwright.cli.lab import COMMANDS, add_lab_commands, find_command
from callwright.nouns.errors import ConfigError
from callwright.nouns.installation import render_install_hint

HERE = "tests.cli.test_lab"


def greet(name: str) -> None:
    typer.echo(f"hello {name}")
    raise typer.Exit(3)


def entry(name: str) -> EntryPoint:
    return EntryPoint(name, f"{HERE}:greet", "callwright.commands")


@pytest.mark.parametrize("name", COMMANDS)
def test_without_the_lab_a_command_says_what_to_install(name: str) -> None:
    with pytest.raises(ConfigError, match="is part of callwright-lab, which is not installed") as e:
        find_command(name, [], "")
    assert e.value.hint == render_install_hint(package="callwright-lab")


def test_a_lab_of_another_version_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"callwright-lab 0\.0\.1 does not fit"):
        find_command("bench", [entry("bench")], "0.0.1")


def test_arguments_and_exit_code_pass_through_the_stub() -> None:
    command = find_command("bench", [entry("bench")], __version__)
    result = CliRunner().invoke(command, ["you"])
    assert (result.output, result.exit_code) == ("hello you\n", 3)


def test_every_command_has_a_stub_with_its_help() -> None:
    app = typer.Typer()
    add_lab_commands(app)
    assert {c.name for c in app.registered_commands} == set(COMMANDS)
