from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from callwright.models.encoders.cached import CachedEncoder
from callwright.nouns.errors import ConfigError


class Counting:
    """An encoder of two numbers that keeps what it was asked."""

    width = 2

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.asked += texts
        return np.array([[len(t), ord(t[0])] for t in texts], np.float32)


def test_every_text_is_encoded_once_and_rows_keep_their_order() -> None:
    inner = Counting()
    cached = CachedEncoder(inner)
    first = cached.encode(["bb", "a", "bb"])
    again = cached.encode(["a", "ccc", "bb"])
    assert sorted(inner.asked) == ["a", "bb", "ccc"]
    assert first.tolist() == [[2, 98], [1, 97], [2, 98]]
    assert again.tolist() == [[1, 97], [3, 99], [2, 98]]
    assert (cached.name, cached.width) == ("counting", 2)


def test_a_file_outlives_the_encoder_and_keeps_encoders_apart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "vectors.sqlite"
    CachedEncoder(Counting(), path).encode(["a", "bb"])
    same, other = Counting(), Counting("other")
    assert CachedEncoder(same, path).encode(["bb", "a"]).tolist() == [[2, 98], [1, 97]]
    CachedEncoder(other, path).encode(["a"])
    assert same.asked == []
    assert other.asked == ["a"]


def test_only_the_latest_texts_stay_in_memory() -> None:
    inner = Counting()
    cached = CachedEncoder(inner, memory=2)
    cached.encode(["a", "b", "c"])
    cached.encode(["c"])
    cached.encode(["a"])
    assert sorted(inner.asked) == ["a", "a", "b", "c"]


def test_nothing_gives_no_rows() -> None:
    assert CachedEncoder(Counting()).encode([]).shape == (0, 2)


def test_a_file_that_is_no_cache_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and there are more than a hundred bytes of them, " * 3)
    with pytest.raises(ConfigError, match=r"notes\.txt"):
        CachedEncoder(Counting(), path)
    assert path.read_text().startswith("these are my notes")
