"""What each kind of server states of its model, over HTTP, and what a name states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models import LocalModel, OpenAIModel
from callwright.models.model_size import ask_size, read_parameters, read_profile
from callwright.nouns.model_profile import ModelSize
from callwright.nouns.types import Json, JsonObject
from callwright.testing import ScriptedModel
from tests.served_models import LLAMA, OLLAMA, VLLM, Pages, serving


async def size_at(url: str, model: str = "", **more: Any) -> ModelSize:
    asked = OpenAIModel(url, model, **more)
    try:
        return await asked.read_size()
    finally:
        await asked.aclose()


def without(pages: Pages, *paths: str) -> Pages:
    return {path: page for path, page in pages.items() if path not in paths}


@pytest.mark.parametrize(
    ("pages", "model", "size"),
    [
        (LLAMA, "", ModelSize(16_384, 7.615616512)),
        (LLAMA, "any-name", ModelSize(16_384, 7.615616512)),  # it has one model, and answers to all
        (VLLM, "Qwen/Qwen2.5-32B-Instruct", ModelSize(32_768, 32.0)),
        (OLLAMA, "llama3.1", ModelSize(16_384, 8.030261248)),
        (OLLAMA, "llama3.1:latest", ModelSize(16_384, 8.030261248)),
        # the trained context is never taken for the one that is served
        (without(LLAMA, "/props"), "", ModelSize(None, 7.615616512)),
        (without(OLLAMA, "/api/ps"), "llama3.1", ModelSize(None, 8.030261248)),
        (
            {**OLLAMA, "/api/show": {"parameters": "num_ctx   32768\nstop  x"}},
            "llama3.1",
            ModelSize(32_768, None),
        ),
        (VLLM, "a-70b-model-that-it-does-not-list", ModelSize()),
        ({}, "m", ModelSize()),
        ({"/v1/models": []}, "m", ModelSize()),
        ({"/v1/models": {"data": [{"id": "gpt-x"}]}}, "gpt-x", ModelSize()),
    ],
)
async def test_a_server_states_the_context_that_it_serves_and_the_parameters(
    pages: Pages, model: str, size: ModelSize
) -> None:
    with serving(pages) as url:
        assert await size_at(url, model) == size


async def test_a_server_that_is_not_there_states_nothing() -> None:
    assert await size_at("http://127.0.0.1:9/v1", "m") == ModelSize()


async def test_a_context_that_was_given_counts_before_the_one_that_is_stated() -> None:
    with serving(LLAMA) as url:
        assert await size_at(url, context=4_096) == ModelSize(4_096, 7.615616512)


async def test_a_server_is_asked_once() -> None:
    pages = dict(VLLM)
    with serving(pages) as url:
        asked = OpenAIModel(url, "Qwen/Qwen2.5-32B-Instruct")
        first = await asked.read_size()
        pages.clear()
        assert await asked.read_size() == first == ModelSize(32_768, 32.0)
        await asked.aclose()


async def test_the_embedded_model_states_its_context_and_the_size_in_its_name() -> None:
    assert await LocalModel().read_size() == ModelSize(8_192, 1.5)
    path = Path("/models/qwen2.5-14b-instruct-q4_k_m.gguf")
    assert await LocalModel(path, context=16_384).read_size() == ModelSize(16_384, 14.0)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 7.0),
        ("qwen2.5-coder-1.5b", 1.5),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 56.0),
        ("Qwen3-30B-A3B", 30.0),
        ("llama3.1:70b", 70.0),
        ("gemma-3-270m-it", 0.27),
        ("8.0B", 8.0),
        ("smollm2-135m", 0.135),
        ("gpt-4o", None),
        ("bge-m3", None),
        ("command-r-plus", None),
        ("model-4bit", None),
        ("0b", None),
        ("", None),
    ],
)
def test_a_name_states_its_parameters(name: str, billions: float | None) -> None:
    assert read_parameters(name) == (None if billions is None else pytest.approx(billions))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "data id root meta n_params max_model_len models name parameters details model_info"
                " default_generation_settings n_ctx".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, min_size=3, max_size=3), st.sampled_from(["", "m", "m:7b"]))
async def test_whatever_a_server_answers_raises_nothing(pages: list[Any], model: str) -> None:
    left = list(pages)

    async def fetch(path: str, body: JsonObject | None) -> Json:
        found: Json = left.pop(0)
        return found

    size = await ask_size(fetch, model)
    assert size.context is None or size.context > 0
    assert size.parameters is None or size.parameters > 0


async def test_a_model_has_the_profile_of_the_size_that_it_states_and_else_the_smallest() -> None:
    with serving(VLLM) as url:
        asked = OpenAIModel(url, "Qwen/Qwen2.5-32B-Instruct")
        assert (await read_profile(asked)).name == "large"
        await asked.aclose()
    for states_none in (ScriptedModel([]), None):
        assert (await read_profile(states_none)).name == "small"
