"""The measurements beside the package start: what docs and README tell to run is there, with all
that it imports.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
COMMANDS = sorted(
    script
    for room in ("reliability", "speed")
    for script in (BENCHMARKS / room).glob("*.py")
    if "ArgumentParser(" in script.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("script", COMMANDS, ids=lambda script: str(script.relative_to(BENCHMARKS)))
def test_a_benchmark_says_how_it_is_used(script: Path) -> None:
    if script.name == "parsing.py":
        pytest.importorskip("json_repair", reason="extra 'bench' is not installed")
    done = subprocess.run(
        [sys.executable, str(script), "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert script.name in done.stdout
