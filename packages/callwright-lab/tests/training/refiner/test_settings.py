"""What a refiner run is set to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner.settings import CPU, PAPER


def test_the_papers_settings_are_appendix_d() -> None:
    assert (PAPER.model, PAPER.rate, PAPER.epochs) == ("Qwen/Qwen3-1.7B", 1e-6, 1)
    assert (PAPER.batch, PAPER.group, PAPER.attempts) == (16, 16, 48)
    assert (PAPER.low, PAPER.high) == (0.2, 0.28)
    assert (PAPER.free, PAPER.longest, PAPER.context) == (1024, 4096, 4096)
    assert (PAPER.variant, PAPER.prompt, PAPER.overlong, PAPER.sft_steps) == (
        "paper",
        "paper",
        True,
        0,
    )


def test_the_run_for_two_cores_stays_within_its_lengths() -> None:
    assert CPU.context <= 384
    assert CPU.longest <= 96
    assert CPU.group == 8
    assert CPU.steps >= 100


@pytest.mark.parametrize(
    "change", [{"variant": "mine"}, {"micro": 7}, {"attempts": 3}, {"free": 4096}]
)
def test_settings_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        replace(PAPER, **change)  # type: ignore[arg-type]
