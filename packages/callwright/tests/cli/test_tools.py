"""``tools``: a source without a word before it is listed, the other commands have names."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import callwright
from tests.cli.test_app import TOOLS


def test_sources_are_listed_with_and_without_saying_so(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    shown = [callwright("tools", *words, tmp_path / "tools.py").stdout for words in ([], ["list"])]
    assert shown[0] == shown[1]
    assert "stock" in shown[0]
    rows = json.loads(callwright("tools", "--json", tmp_path / "tools.py").stdout)
    assert [row["function"]["name"] for row in rows] == ["stock", "order"]


def test_a_command_that_is_nearly_written_right_is_not_taken_for_a_source() -> None:
    wrong = callwright("tools", "heath")
    assert wrong.returncode == 2
    assert "Did you mean 'health'?" in wrong.stderr
    assert "there is no 'nowhere.yaml'" in callwright("tools", "nowhere.yaml").stderr


def test_the_help_names_what_there_is() -> None:
    said = callwright("tools", "--help").stdout
    assert "health" in said
    assert "list" in said


def test_sources_without_a_tool_are_an_error(tmp_path: Path) -> None:
    for text in ("openapi: 3.0.3\npaths: {}", "openapi: 3.0.3\npaths: {/a: {$ref: missing.yaml}}"):
        (tmp_path / "a.yaml").write_text(text)
        for more in ((), ("--json",)):
            done = callwright("tools", tmp_path / "a.yaml", *more)
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr.startswith("error: ")
    assert "missing.yaml" in done.stderr
