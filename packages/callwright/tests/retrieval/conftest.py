"""A small catalogue whose tools differ in name, words, parameters and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from callwright.nouns.types import Tool


def tool(name: str, description: str = "", *parameters: str, source: str = "") -> Tool:
    properties = {key: {"type": "string"} for key in parameters}
    return Tool(name, description, {"type": "object", "properties": properties}, source=source)


@pytest.fixture
def tools() -> list[Tool]:
    return [
        tool(
            "getForecast",
            "The weather of the next days at a place.",
            "city",
            "days",
            source="openapi weather",
        ),
        tool("getAlerts", "Official warnings for a region.", "region", source="openapi weather"),
        tool(
            "search_flights",
            "Flights between two airports on a day.",
            "origin",
            "destination",
            source="travel",
        ),
        tool("book_hotel", "Reserve a room in a hotel.", "hotel_id", "nights", source="travel"),
        tool(
            "convert_currency",
            "An amount of money in another currency.",
            "amount",
            "currency",
            source="money",
        ),
        tool("translate_text", "A text in another language.", "text", "language", source="words"),
    ]


class WordEncoder:
    """Texts -> unit vectors of the words they hold, each word in its own hashed direction."""

    name = "words"
    width = 64

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.read += texts
        found = np.zeros((len(texts), self.width), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(":", " ").replace(".", " ").split():
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
                found[row] += np.random.default_rng(seed).normal(size=self.width)
        return np.asarray(
            found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12), np.float32
        )


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()
