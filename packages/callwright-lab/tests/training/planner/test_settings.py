"""What a planner's run is set to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.memory import SHAPES
from callwright_lab.training.planner.settings import CPU, PRESETS, QWEN3_8B


def test_there_is_a_preset_for_every_model_of_the_paper() -> None:
    models = {s.model for s in PRESETS.values()}
    assert {f"Qwen/Qwen3-{size}" for size in ("0.6B", "1.7B", "4B", "8B")} < models
    assert models <= set(SHAPES), "a dry run knows the memory of every preset"
    for settings in PRESETS.values():
        assert settings.loss == "grpo"
        assert settings.attempts == settings.batch, "GRPO samples no prompt again"
        assert settings.low == settings.high
    assert QWEN3_8B.connected == "paper"


def test_the_run_for_one_core_stays_small() -> None:
    assert (CPU.context, CPU.longest, CPU.batch, CPU.bf16) == (384, 40, 1, False)


@pytest.mark.parametrize(
    "change", [{"connected": "never"}, {"samples": 1}, {"loss": "ppo"}, {"micro": 7}]
)
def test_settings_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        replace(QWEN3_8B, **change)  # type: ignore[arg-type]
