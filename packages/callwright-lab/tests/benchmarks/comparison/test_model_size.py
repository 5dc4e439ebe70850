from __future__ import annotations

from pathlib import Path

import pytest

from callwright import weights
from callwright.models.local import DEFAULT, LocalModel
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.model_size import find_model_size, parse_model_size


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("qwen2.5-coder-1.5b", 1.5),
        ("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M", 0.5),
        ("smollm2:360m", 0.36),
        ("gemma-2-2b-it", 2),
        ("mixtral-8x7b", 56),
        ("meta_llama_3.1_8B", 8),
        ("gpt-large", None),
        ("abc123b4", None),
        ("q4_k_m", None),
    ],
)
def test_a_name_says_the_size(name: str, billions: float | None) -> None:
    assert parse_model_size(name) == billions


async def test_a_model_without_a_file_is_as_large_as_its_name_says() -> None:
    assert await find_model_size(ScriptedModel([])) is None


@pytest.mark.heavy
@pytest.mark.model
async def test_a_file_whose_name_says_nothing_is_counted(tmp_path: Path) -> None:
    nameless = tmp_path / "model.gguf"
    nameless.symlink_to(weights.fetch(DEFAULT))
    model = LocalModel(nameless)
    try:
        assert await find_model_size(model) == pytest.approx(1.54, rel=0.2)
    finally:
        await model.aclose()
