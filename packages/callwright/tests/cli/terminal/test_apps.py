"""Groups of commands look the same wherever they are defined."""

from __future__ import annotations

import os
import subprocess
import sys

from typer.testing import CliRunner

from callwright.cli.terminal.apps import new_app


def test_a_group_shows_plain_help_without_a_command() -> None:
    app = new_app("Measure.", "bench")
    app.command("a")(lambda: None)
    app.command("b")(lambda: None)
    shown = CliRunner().invoke(app, []).output
    assert "Measure." in shown
    assert "Commands:" in shown
    assert "--install-completion" not in shown
    assert "╭" not in shown


def test_the_commands_that_matter_most_come_first() -> None:
    app = new_app("Measure.", "bench", first="c none a")
    for name in ("a", "b", "c"):
        app.command(name)(lambda: None)
    shown = CliRunner().invoke(app, []).output
    assert shown.split("Commands:")[1].split() == ["c", "a", "b"]


def test_a_reader_that_has_gone_is_no_error_of_a_command() -> None:
    """Typer makes exit code 1 of it, so that a pipe into head failed under ``pipefail``."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-P", "-m", "callwright", "config", "--json"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
