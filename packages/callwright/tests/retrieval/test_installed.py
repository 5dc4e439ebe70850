"""The best mode that is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from callwright import weights
from callwright.retrieval.installed import best_mode


def test_without_the_weights_of_an_encoder_it_is_lexical(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path))
    assert best_mode() == "lexical"
    assert not list(tmp_path.iterdir())  # nothing was fetched to find out


def test_an_encoder_that_the_user_names_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path))
    assert best_mode("https://host.example/v1#model") == "ranked"


def test_with_the_weights_of_an_encoder_it_is_ranked() -> None:
    here = all(weights.find(name) for name in ("minilm-int8", "minilm-tokenizer"))
    assert best_mode() == ("ranked" if here and find_spec("onnxruntime") else "lexical")
