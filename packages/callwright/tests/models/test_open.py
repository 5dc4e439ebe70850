from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callwright.models import LocalModel, ModelOptions, OpenAIModel, open_model
from callwright.nouns.errors import ConfigError
from callwright.testing import ScriptedModel


def test_the_default_is_the_embedded_model_and_nothing_is_loaded_yet() -> None:
    for spec in (None, "", "local"):
        model = open_model(spec, context=1024)
        assert isinstance(model, LocalModel)
        assert model.name == "qwen2.5-coder-1.5b"
    assert open_model("local:smollm2-135m").name == "smollm2-135m"


def test_an_adapter_is_named_behind_a_plus(tmp_path: Path) -> None:
    assert open_model("local:+runs/mine.gguf").name == "qwen2.5-coder-1.5b+mine"
    assert open_model("local:smollm2-135m+mine.gguf").name == "smollm2-135m+mine"
    plus = tmp_path / "a+b.gguf"
    plus.write_bytes(b"x")
    assert open_model(f"local:{plus}").name == "a+b"
    with pytest.raises(ConfigError, match="no local model 'none'"):
        open_model("local:none+mine.gguf")


async def test_options_go_to_the_constructor_in_one_object_or_one_by_one(tmp_path: Path) -> None:
    memory = tmp_path / "endpoints.json"
    for model in (
        open_model("http://localhost:8000/v1#m", ModelOptions(context=1024, mode="text")),
        open_model(
            "http://localhost:8000/v1#m", ModelOptions(context=9), context=1024, mode="text"
        ),
        open_model("http://localhost:8000/v1#m", mode="text", context=1024, memory=memory),
    ):
        found = await model.capabilities()
        assert (found.mode, found.context) == ("text", 1024)
        await model.aclose()


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [("local", {"api_key": "k"}), ("http://h/v1", {"threads": 1}), ("local", {"colour": 1})],
)
def test_an_option_that_the_model_does_not_have_is_refused(
    spec: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        open_model(spec, **wrong)


async def test_no_key_means_no_key_whatever_the_environment_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1")
    model = open_model("http://localhost:8000/v1#m", api_key=None)
    assert isinstance(model, OpenAIModel)
    assert model.secrets == ()
    await model.aclose()


def test_a_path_opens_that_file(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"x")
    assert open_model(f"local:{tmp_path / 'mine.gguf'}").name == "mine"


async def test_addresses_open_endpoints_with_the_key_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://example.org/v1")
    typed, named = open_model("http://localhost:8000/v1#qwen"), open_model("openai:gpt")
    assert isinstance(typed, OpenAIModel)
    assert isinstance(named, OpenAIModel)
    assert (typed.base_url, typed.name) == ("http://localhost:8000/v1", "qwen")
    assert (named.base_url, named.name) == ("https://example.org/v1", "gpt")
    for model in (typed, named):
        await model.aclose()


def test_a_model_opens_as_itself() -> None:
    model = ScriptedModel([])
    assert open_model(model) is model
    with pytest.raises(ConfigError, match="options"):
        open_model(model, context=1)


@pytest.mark.parametrize(
    "spec", ["gpt-4", "local:no-such-model", "openai:", "openai:x", "ftp://host", object(), 3]
)
def test_anything_else_is_an_error_that_shows_the_forms(
    spec: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError) as caught:
        open_model(spec)
    assert caught.value.hint


def test_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, callwright.models, callwright.weights;"
        "print([m for m in ('aiohttp', 'xllamacpp', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
