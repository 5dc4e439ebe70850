"""A real, very small language model, loaded once for all tests of this folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright import weights
from callwright.models import LocalModel
from callwright.nouns.errors import WeightsError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message

CONTEXT = 2048


def ask(text: str, **more: object) -> ChatRequest:
    """One user message, few tokens."""
    return ChatRequest((Message("user", text),), **{"max_tokens": 24, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def smollm_path() -> Path:
    try:
        return weights.fetch("smollm2-135m")
    except WeightsError as exc:
        pytest.skip(f"the weights of smollm2-135m cannot be had: {exc.message}")


@pytest.fixture(scope="session")
def smollm(smollm_path: Path) -> Iterator[LocalModel]:
    pytest.importorskip("xllamacpp", reason="extra 'local' is not installed")
    model = LocalModel(smollm_path, context=CONTEXT, threads=1)
    yield model
    asyncio.run(model.aclose())
