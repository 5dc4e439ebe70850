"""A threshold names a measurement that ``benchmarks/thresholds.py`` can make."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "benchmarks/thresholds.py"
FILES = sorted(ROOT.glob("packages/callwright/src/callwright/**/data/thresholds.toml"))
MEASUREMENTS = {
    "rules", "made", "several", "waiting", "recorded", "links", "twins", "echo", "relevance", "NAME"
}  # fmt: skip


def list_commands(rows: dict[str, Any]) -> list[str]:
    """The commands of a file: of its entries, and of the measurements of its groups."""
    entries = [*rows.values(), *rows.get("measurements", {}).values()]
    return [row["command"] for row in entries if isinstance(row, dict) and "command" in row]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.parent.parent.name)
def test_the_script_knows_every_measurement_that_is_named(path: Path) -> None:
    commands = list_commands(tomllib.loads(path.read_text(encoding="utf-8")))
    assert commands
    named = [re.search(r"benchmarks/thresholds\.py ([\w:]+)", command) for command in commands]
    found = {match[1] for match in named if match is not None}
    assert {name for name in found if not name.startswith("planning:")} <= MEASUREMENTS


def test_a_measurement_that_needs_no_data_set_runs() -> None:
    own = [sys.executable, str(SCRIPT), "echo", "50", "70"]
    done = subprocess.run(own, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.search(r"of \d+, the highest \d", done.stdout)
    assert "| 70.0 | 0 |" in done.stdout


def test_a_threshold_that_is_not_there_is_named_with_those_that_are() -> None:
    own = [sys.executable, str(SCRIPT), "one", "parameters.nothing", "0.5"]
    done = subprocess.run(own, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "no threshold parameters.nothing" in done.stderr
    assert "parameters.least" in done.stderr
