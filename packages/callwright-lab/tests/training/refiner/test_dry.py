"""The dry run: everything but the model and the training."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from callwright_lab.training.refiner.command import main
from callwright_lab.training.refiner.data import Recipe
from callwright_lab.training.refiner.dry import report_dry_run
from callwright_lab.training.refiner.settings import PAPER, TWO_CORES
from tests.training.refiner_case import nested_row


def test_the_papers_run_is_told_to_trl_as_it_stands_in_the_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    if find_spec("trl") is None:
        pytest.skip("extra 'train' is not installed")
    assert main(["--dry-run", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    text = capsys.readouterr().out
    for row in (
        "erroneous | 2250", "correct | 450", "shuffled, full | 1000", "shuffled, simplified | 1000",
        "loss_type | dapo", "epsilon | 0.2", "epsilon_high | 0.28", "num_generations | 16",
        "generation_batch_size | 256", "max_completion_length | 4096", "learning_rate | 1e-06", "use_vllm | True",
        "attempts | 48 | 48",
    ):  # fmt: skip
        assert f"| {row} |" in text
    assert "Missing: there is no data file" in text
    assert not (tmp_path / "out").exists()
    told = [str(w.message) for w in recwarn if "/torch/" not in w.filename]  # torch's of itself
    assert not [text for text in told if "deprecated" in text]


def test_data_sets_are_counted_on_both_sides_of_the_split(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"Ring {n}"},
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": f"ring_{n}", "arguments": "{}"}}],
                },
            ],
            "tools": [{"type": "function", "function": {"name": f"ring_{n}", "parameters": {}}}],
        }
        for n in range(30)
    ]
    own, nested = tmp_path / "own.jsonl", tmp_path / "nested.jsonl"
    own.write_text("\n".join(map(json.dumps, rows)))
    nested.write_text("\n".join(json.dumps(nested_row(n)) for n in range(30)))
    recipe = Recipe(sources=(str(own),), nested=str(nested))
    text, _ = report_dry_run(replace(PAPER, vllm=False), recipe, tmp_path, tmp_path / "out", 2)
    found = [
        line.split(" | ")
        for line in text.splitlines()
        if "own.jsonl" in line or "nested.jsonl |" in line
    ]
    counts = [
        (int(cells[1]), int(cells[2]))
        for cells in found
        if cells[1].isdigit() and cells[-1] == "read |"
    ]
    assert [a + b for a, b in counts] == [30, 30]
    assert all(a and b for a, b in counts)
    assert "2 models x 3 errors x 1 sets x 50" in text
    assert "| erroneous | 300 |" in text
    assert "DAPO: " in text
    assert "GB at the peak" in text
    assert ("Nothing is missing." in text) == (find_spec("trl") is not None)


def test_rows_and_the_hours_of_every_stage_are_said(tmp_path: Path) -> None:
    text, _ = report_dry_run(TWO_CORES, Recipe(held=200), tmp_path, tmp_path / "out", 0)
    assert "| seen by SFT | 1008 | 126 steps |" in text
    assert "| targets | attention | linear |" in text
    (hours,) = (line for line in text.splitlines() if line.startswith("At least so many hours"))
    told = hours.partition("two CPU cores")[0].rpartition("; ")[2].split(" and ")
    assert [part.partition(" for ")[2] for part in told[:3]] == [
        "SFT", "DAPO", "the stage against",
    ]  # fmt: skip
    assert told[1].partition(" ")[0] == told[2].partition(" ")[0]
    assert told[3].endswith("for measure on ")
