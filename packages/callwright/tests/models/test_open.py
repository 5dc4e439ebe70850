from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from callwright.models import LocalModel, OpenAIModel, open_model
from callwright.nouns.errors import ConfigError
from callwright.testing import ScriptedModel


def test_the_default_is_the_embedded_model_and_nothing_is_loaded_yet() -> None:
    for spec in (None, "", "local"):
        model = open_model(spec, context=1024)
        assert isinstance(model, LocalModel)
        assert model.name == "qwen2.5-coder-1.5b"
    assert open_model("local:smollm2-135m").name == "smollm2-135m"


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
    "spec", ["gpt-4", "local:no-such-model", "openai:", "openai:x", "ftp://host"]
)
def test_anything_else_is_an_error_that_shows_the_forms(
    spec: str, monkeypatch: pytest.MonkeyPatch
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
