"""What a run would be and cost, without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright_lab.training.planner.data import split_parts
from callwright_lab.training.planner.dry import estimate_cost, report_dry_run
from callwright_lab.training.planner.settings import CPU, PRESETS, QWEN3_8B
from tests.training.planner_case import tasks


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_can_be_looked_at_on_any_machine(preset: str, tmp_path: Path) -> None:
    text = report_dry_run(replace(PRESETS[preset], bf16=False), None, tmp_path / "nothing")
    assert f"| model | {PRESETS[preset].model} |" in text
    learned = {"cpu": 3000, "two-cores": 500}.get(preset, 9000)
    assert f"SFT: {learned} rows read of 3000" in text
    assert not (tmp_path / "nothing").exists()


def test_the_cost_follows_the_rows_and_the_size_of_the_model() -> None:
    paper = estimate_cost(QWEN3_8B, None)
    assert "GRPO: 119 steps x 16 prompts x 8 replies = 15,232 replies" in paper[1]
    assert "for GRPO on an A100" in paper[2]
    assert "reference 32.8" in paper[4]
    assert "No single card of 80 GB holds it" in paper[4]
    assert "reference" not in estimate_cost(PRESETS["24gb"], None)[4], "the base is the reference"
    assert "It fits into 12 GB, 24 GB" in estimate_cost(PRESETS["24gb"], None)[3]
    rows = split_parts(tasks(40))
    assert estimate_cost(QWEN3_8B, rows)[0].startswith(
        f"SFT: {3 * len(rows['sft'])} rows read of {len(rows['sft'])}"
    )
    assert "not known here" in estimate_cost(replace(CPU, model="mine"), None)[2]
