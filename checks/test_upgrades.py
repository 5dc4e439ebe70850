"""docs/upgrades.md names every old name that the code still takes, and no other."""

from __future__ import annotations

import re
import warnings
from dataclasses import fields
from pathlib import Path

import pytest

from callwright import Orchestrator
from callwright.agent.options import RunOptions
from callwright.cli.settings.renamed_options import RENAMED, replace_old_options
from callwright.nouns.wire_names import OLD_SPELLINGS

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "upgrades.md").read_text(encoding="utf-8")


def read_rows(heading: str) -> set[tuple[str, ...]]:
    """The rows of the table below a heading, each cell without its marks of code."""
    part = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return {
        tuple(one.strip().replace("`", "") for one in line.strip("|").split("|")) for line in lines
    }


def read_options() -> set[tuple[str, str, str]]:
    """(command, old, new) of the options; a row may name several commands."""
    rows = read_rows("Command line")
    return {(one, old, new) for commands, old, new in rows for one in commands.split(", ")}


def test_every_renamed_option_is_listed() -> None:
    renamed = {(c, old, new) for c, names in RENAMED.items() for old, new in names.items()}
    assert read_options() == renamed


@pytest.mark.parametrize(("command", "old", "new"), sorted(read_options()))
def test_an_old_option_works_and_warns(
    command: str, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.split()
    assert replace_old_options([*words, old, "x"]) == [*words, new, "x"]
    assert f"{old} is now {new}" in capsys.readouterr().err


def test_every_old_spelling_is_listed() -> None:
    stored = {(g, old, new) for g, names in OLD_SPELLINGS.items() for old, new in names.items()}
    assert read_rows("Names that are stored") == stored


def test_every_keyword_that_stood_alone_is_listed() -> None:
    listed = {
        (keyword, group.partition("=")[0])
        for call, keywords, group in read_rows("Python")
        if call == "Orchestrator"
        for keyword in keywords.split(", ")
    }
    options = RunOptions()
    groups = {one.name: type(getattr(options, one.name)) for one in fields(RunOptions)}
    # they came after the groups
    never_alone = {
        ("instructions", "interaction"),
        ("model_profile", "interaction"),
        ("simulator", "selection"),
        ("probing", "selection"),
        ("ask", "safety"),
        ("secrets", "persistence"),
    }
    grouped = {(one.name, name) for name, kind in groups.items() for one in fields(kind)}
    assert listed == grouped - never_alone
    for name, kind in groups.items():
        assert f"`{name}={kind.__name__}(…)`" in PAGE


def test_an_old_keyword_works_and_warns() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Orchestrator([], dry_run=True)
    (warning,) = caught
    assert issubclass(warning.category, DeprecationWarning)
    assert re.search(r"safety=Safety\(dry_run=…\)", str(warning.message))
