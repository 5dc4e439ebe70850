from __future__ import annotations

import os
from pathlib import Path

import pytest

from callwright.models import LocalModel
from callwright.models.engine import SLOTS, Engine
from callwright.nouns.errors import ModelError

from .conftest import CONTEXT, ask


def test_each_kind_of_question_keeps_a_slot_and_the_one_asked_longest_ago_gives_way() -> None:
    engine = Engine(Path("base.gguf"), 512, 1)
    assert engine.choose_adapter(None, "plan") == {}, "without adapters llama.cpp chooses"
    one, two = engine.adapters = [Path("one.gguf"), Path("two.gguf")]

    def ask(adapter: Path | None, kind: str) -> tuple[int, list[int]]:
        said = engine.choose_adapter(adapter, kind)
        return said["id_slot"], [a["id"] for a in said["lora"]]

    assert ask(None, "plan") == (0, [])
    assert ask(one, "plan") == (1, [0])
    assert ask(two, "plan") == (2, [1])
    assert ask(None, "answer") == (3, [])
    assert ask(None, "plan") == (0, [])
    assert ask(one, "answer") == (1, [0])
    assert ask(one, "plan") == (2, [0])
    assert SLOTS == 4


def test_of_several_questions_at_a_time_each_takes_a_free_slot() -> None:
    engine = Engine(Path("base.gguf"), 512, 1, at_once=2)
    engine.adapters = [Path("one.gguf")]
    assert engine.choose_adapter(engine.adapters[0], "plan") == {"lora": [{"id": 0, "scale": 1.0}]}
    assert engine.choose_adapter(None, "plan") == {"lora": []}


@pytest.mark.model
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


@pytest.mark.model
async def test_a_model_that_is_closed_without_a_question_is_freed(smollm_path: Path) -> None:
    """llama.cpp waited for a loop that had not begun."""
    model = LocalModel(smollm_path, context=1024, threads=1)
    for _ in range(3):
        await model.load()
        await model.aclose()


@pytest.mark.model
async def test_loading_leaves_the_environment_as_it_was(smollm: LocalModel) -> None:
    await smollm.load()
    assert "OMP_WAIT_POLICY" not in os.environ
