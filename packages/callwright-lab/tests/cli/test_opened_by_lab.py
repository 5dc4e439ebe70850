"""What a command of the lab is given and cannot use: an overlay that fits no tool, and a file that is
not there. The core's commands: tests/cli/test_opened.py there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.tools.overlay import Overlay, ToolOverlay
from tests.cli.sky import TOOLS
from tests.cli.test_opened import NOWHERE, callwright
from tests.cli.test_verify_trajectories import CLEAR, END, record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "v.jsonl").write_text(json.dumps(record("good", CLEAR, ending=END)) + "\n")
    (tmp_path / "asked.jsonl").write_text(
        json.dumps({"query": "What is the sky like in Oslo?"}) + "\n"
    )
    Overlay({"weather": ToolOverlay("of another"), "moon": ToolOverlay("x")}).write(
        tmp_path / "o.json"
    )
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "queries", "asked.jsonl", "--tools", "tools.py"),
        (
            "verify",
            "trajectories",
            "--requests",
            "asked.jsonl",
            "--tools",
            "tools.py",
            "--model",
            NOWHERE,
        ),
        ("explore", "v.jsonl", "--tools", "tools.py", "--model", NOWHERE),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_what_fits_no_tool_is_a_warning(command: tuple[str, ...], folder: Path) -> None:
    done = callwright(*command, "--overlay", "o.json", folder=folder)
    said = (
        "warning: o.json: nothing in it fits a tool here: 1 of a tool that is not offered (moon), "
        "1 of a tool whose documentation has changed since (weather)"
    )
    assert done.stderr.count(said) == 1, done.stderr
    assert "o.json" not in done.stdout


@pytest.mark.parametrize(
    "command",
    [("verify", "queries", "asked.jsonl"), ("verify", "trajectories", "v.jsonl")],
    ids=lambda command: " ".join(command[:2]),
)
def test_an_overlay_where_no_tools_are_named_is_of_no_use(
    command: tuple[str, ...], folder: Path
) -> None:
    done = callwright(*command, "--overlay", "o.json", folder=folder)
    assert done.stderr.count("warning: o.json is of no use here") == 1, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "queries", "missing.jsonl"),
        ("verify", "trajectories", "missing.jsonl"),
        (
            "verify",
            "trajectories",
            "--requests",
            "missing.jsonl",
            "--tools",
            "tools.py",
            "--model",
            NOWHERE,
        ),
        ("verify", "dataset", "missing.jsonl"),
        ("explore", "missing.jsonl", "--tools", "tools.py", "--model", NOWHERE),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_a_file_that_is_not_there_is_a_sentence_with_what_to_do_next(
    command: tuple[str, ...], folder: Path
) -> None:
    done = callwright(*command, folder=folder)
    assert done.returncode == 1
    assert f"is it written right? It was looked for from {folder}" in done.stderr
    assert "missing.jsonl" in done.stderr
    assert "Errno" not in done.stderr
