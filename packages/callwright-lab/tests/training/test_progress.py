"""What long runs share: a line on standard error, and the choice of stages."""

from __future__ import annotations

import argparse

import pytest

from callwright_lab.training.progress import add_stages, print_progress


def test_progress_leaves_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_progress("sft: 3 steps")
    assert capsys.readouterr() == ("", "sft: 3 steps\n")


def test_stages_are_chosen_by_comma_and_one_that_does_not_exist_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser()
    add_stages(parser, ("data", "sft", "measure"))
    assert parser.parse_args([]).stages == ["data", "sft", "measure"]
    assert parser.parse_args(["--stages", "sft,measure"]).stages == ["sft", "measure"]
    with pytest.raises(SystemExit):
        parser.parse_args(["--stages", "sft,tune"])
    assert "no stage 'tune'" in capsys.readouterr().err
