from __future__ import annotations

import typer
from typer.testing import CliRunner

from callwright.cli.app import app
from tests.places import DOCS

PAGE = (DOCS / "cli" / "tools.md").read_text(encoding="utf-8")


def test_every_option_of_a_serving_command_is_documented() -> None:
    command = typer.main.get_command(app).commands["simulate"]  # type: ignore[attr-defined]
    part = PAGE.split("## `callwright simulate`\n", 1)[1].split("\n## ", 1)[0]
    names = {
        option
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    }
    assert names >= {"--tools", "--recorded", "--model", "--live"}
    assert not [name for name in names if f"`{name}`" not in part]


def test_a_command_without_anything_to_serve_ends_with_a_hint() -> None:
    result = CliRunner().invoke(app, ["simulate"])
    assert result.exit_code == 1
    assert "nothing to serve" in str(result.exception)
