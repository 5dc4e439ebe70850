"""What every row of the engine's table does: 12 calls that do nothing, 3 layers of 4. Knows no
library.
"""

from __future__ import annotations

from typing import Any

LAYERS, WIDTH = 3, 4
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
QUERY = "The weather of Oslo, Rome, Paris and Bern for 3 days."
CITIES = ("Oslo", "Rome", "Paris", "Bern")
NAMES = tuple(f"tool_{n}" for n in range(LAYERS * WIDTH))


def calls(layer: int) -> list[tuple[str, dict[str, Any]]]:
    """The calls of one layer: name and arguments."""
    return [(NAMES[layer * WIDTH + n], {"city": CITIES[n], "days": 3}) for n in range(WIDTH)]


def result(name: str) -> dict[str, str]:
    return {"tool": name}
