"""A process beside ours: lines to it and back, and its end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callwright_lab.benchmarks.comparison.side import SideProcess

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"


def test_a_line_is_answered_by_a_line(tmp_path: Path) -> None:
    process = SideProcess([sys.executable, "-I", "-c", ECHO], tmp_path)
    assert [process.ask(b"abc").strip(), process.ask(b"de").strip()] == [b"cba", b"ed"]
    process.close()


def test_a_process_that_ended_takes_no_line_and_can_still_be_closed(tmp_path: Path) -> None:
    """The line stays in the buffer, and closing would write it again."""
    process = SideProcess([sys.executable, "-I", "-c", ""], tmp_path)
    process._process.wait()
    with pytest.raises(OSError, match="Errno"):
        process.ask(b"abc")
    process.close()
