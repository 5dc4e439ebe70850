"""An encoder that is opened with its first text, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from callwright.models.encoders.lazy import LazyEncoder
from callwright.nouns.errors import WeightsError


class Ones:
    name = "ones"
    width = 2

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return np.ones((len(texts), 2), np.float32)


def test_nothing_is_opened_before_there_is_a_text() -> None:
    opened: list[Ones] = []

    def open_ones() -> Ones:
        opened.append(Ones())
        return opened[-1]

    lazy = LazyEncoder("ones", 2, open_ones)
    assert (lazy.name, lazy.width, lazy.encode(()).shape) == ("ones", 2, (0, 2))
    assert not opened
    assert lazy.encode(["a", "b"]).tolist() == [[1, 1], [1, 1]]
    lazy.encode(["c"])
    assert len(opened) == 1


def test_what_fails_to_open_fails_where_it_is_needed() -> None:
    def fail() -> Ones:
        raise WeightsError("broken")

    lazy = LazyEncoder("ones", 2, fail)
    with pytest.raises(WeightsError, match="broken"):
        lazy.encode(["a"])
