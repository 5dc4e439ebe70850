"""The options of every training in stages."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from callwright.nouns.errors import MissingExtra
from callwright_lab.training.refiner.settings import PRESETS
from callwright_lab.training.run_parser import build_run_parser, sample_held_out, use_threads


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


@pytest.mark.parametrize(
    ("given", "threads"), [([], 1), (["--preset", "two-cores"], 2), (["--threads", "3"], 3)]
)
def test_a_run_computes_with_the_threads_of_its_preset_or_those_that_are_given(
    monkeypatch: pytest.MonkeyPatch, given: list[str], threads: int
) -> None:
    seen: list[int] = []
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=seen.append))
    parser = build_run_parser("refiner", None, PRESETS, "paper", ("sft",), timed="SFT")
    use_threads(parser.parse_args(given), "training")
    assert seen == [threads]


def test_without_torch_a_run_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    parser = build_run_parser("refiner", None, PRESETS, "paper", ("sft",), timed="SFT")
    with pytest.raises(MissingExtra, match="training the refiner"):
        use_threads(parser.parse_args([]), "training the refiner")


def test_what_is_held_out_is_the_same_every_time() -> None:
    rows = list(range(50))
    assert sample_held_out(rows, 0) == rows
    assert len(set(sample_held_out(rows, 8))) == 8
    assert sample_held_out(rows, 8) == sample_held_out(rows, 8)
    assert set(sample_held_out(rows, 99)) == set(rows)
