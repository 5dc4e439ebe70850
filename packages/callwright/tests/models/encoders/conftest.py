"""The real default encoder, opened once."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright import weights
from callwright.models.encoders.minilm import open_minilm
from callwright.models.encoders.onnx import OnnxEncoder
from callwright.nouns.errors import MissingExtra, WeightsError


@pytest.fixture(scope="session")
def minilm_files() -> tuple[Path, Path]:
    try:
        return weights.fetch("minilm-int8"), weights.fetch("minilm-tokenizer")
    except WeightsError as exc:
        pytest.skip(f"the weights of minilm-int8 cannot be had: {exc.message}")


@pytest.fixture(scope="session")
def minilm(minilm_files: tuple[Path, Path]) -> OnnxEncoder:
    try:
        return open_minilm(*minilm_files)
    except MissingExtra:
        pytest.skip("extra 'encoder' is not installed")
