"""The options of every training in stages."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright_lab.training.refiner.settings import PRESETS
from callwright_lab.training.run_parser import THREADS, build_run_parser


def test_a_run_has_a_folder_of_its_kind_and_the_preset_that_is_given() -> None:
    parser = build_run_parser("planner", None, ("a", "b"), "b", ("sft",), timed="SFT")
    args = parser.parse_args([])
    assert (args.out, args.preset, args.resume, args.minutes) == (
        Path("runs/planner"),
        "b",
        False,
        0,
    )
    assert parser.parse_args(["--preset", "a", "--resume"]).preset == "a"
    assert "end SFT after this long" in " ".join(parser.format_help().split())


def test_stages_are_chosen_by_comma_and_one_that_does_not_exist_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = build_run_parser("x", None, ("a",), "a", ("data", "sft", "measure"), timed="SFT")
    assert parser.parse_args([]).stages == ["data", "sft", "measure"]
    assert parser.parse_args(["--stages", "sft,measure"]).stages == ["sft", "measure"]
    with pytest.raises(SystemExit):
        parser.parse_args(["--stages", "sft,tune"])
    assert "no stage 'tune'" in capsys.readouterr().err


def test_the_preset_for_two_cores_uses_both() -> None:
    assert THREADS == {"two-cores": 2}
    assert set(THREADS) < set(PRESETS)
    parser = build_run_parser("refiner", None, PRESETS, "paper", ("sft",), timed="SFT")
    assert parser.parse_args([]).threads == 0, "as the preset says"
