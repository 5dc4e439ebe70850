"""Groups of commands look the same wherever they are defined."""

from __future__ import annotations

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
