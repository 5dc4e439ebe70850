from __future__ import annotations

import os
from pathlib import Path

import pytest

from callwright.models import LocalModel
from callwright.nouns.errors import ModelError

from .conftest import CONTEXT, ask

pytestmark = pytest.mark.model


async def test_a_file_is_loaded_once_however_many_models_use_it(
    smollm: LocalModel, smollm_path: Path
) -> None:
    await smollm.load()
    other = LocalModel(smollm_path, context=CONTEXT, threads=1)
    assert await other.endpoint() == await smollm.endpoint()
    await other.aclose()
    assert (await smollm.complete(ask("Hi", max_tokens=1))).usage.completion_tokens == 1
    with pytest.raises(ModelError, match="already loaded with a context of 2048"):
        await LocalModel(smollm_path, context=CONTEXT * 2).load()


async def test_loading_leaves_the_environment_as_it_was(smollm: LocalModel) -> None:
    await smollm.load()
    assert "OMP_WAIT_POLICY" not in os.environ
