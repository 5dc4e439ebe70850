"""A line of progress on standard error."""

from __future__ import annotations

import pytest

from callwright_lab.training.progress import print_progress


def test_progress_leaves_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_progress("sft: 3 steps")
    assert capsys.readouterr() == ("", "sft: 3 steps\n")
