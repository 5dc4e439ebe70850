"""The extent of a JSON document: how many values and levels it has, measured without recursion."""

from __future__ import annotations

import re
from typing import Any

_STRING = re.compile(rb'"(?>[^"\\]|\\.)*"?', re.DOTALL)  # atomic: read once, even without its end
_BEGINS = (b",", b"[", b"{")


def most_values(text: str | bytes, enough: int) -> int:
    """An upper bound for the number of values in a JSON text, known before anything is built from
    it.

    It is exact but for empty arrays and objects, which count as two, wherever the bound exceeds
    ``enough``; up to there, commas and brackets inside strings may count as well. Linear.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    found = 1 + sum(map(raw.count, _BEGINS))
    if found <= enough:
        return found
    bare = _STRING.sub(b"", raw)
    return 1 + sum(map(bare.count, _BEGINS))


def is_deeper(value: Any, levels: int) -> bool:
    """Return whether arrays and objects stand more than ``levels`` deep inside each other in
    ``value``.
    """
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not layer:
            return False
        layer = [
            child
            for node in layer
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    return bool(layer)
