"""The names of models by which measurements are told apart."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from callwright.models.identity import identify_model


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("http://localhost:8000/v1#my%2Frefiner", "my/refiner"),
        ("https://host:8000/v1", "host:8000"),
        ("openai:small", "small"),
        ("trained:runs/sft", "trained:runs/sft"),
        ("local", "qwen2.5-coder-1.5b"),
        ("", "qwen2.5-coder-1.5b"),
    ],
)
def test_a_model_is_named_as_it_is_served(spec: str, name: str) -> None:
    assert identify_model(spec) == name


def test_a_file_is_named_by_its_content(tmp_path: Path) -> None:
    file, adapter = tmp_path / "refiner.gguf", tmp_path / "a+b.gguf"
    file.write_bytes(b"one")
    adapter.write_bytes(b"two")
    one, two = (hashlib.sha256(text).hexdigest()[:16] for text in (b"one", b"two"))
    assert identify_model(f"local:{file}") == f"refiner@{one}"
    assert identify_model(f"local:{file}+{file}") == f"refiner@{one}+refiner@{one}"
    assert identify_model(f"local:{adapter}") == f"a+b@{two}"
    assert identify_model(f"local:+{file}") == f"qwen2.5-coder-1.5b+refiner@{one}"
    file.write_bytes(b"two")
    assert identify_model(f"local:{file}") == f"refiner@{two}"
