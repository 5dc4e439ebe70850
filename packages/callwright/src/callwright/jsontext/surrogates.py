"""Halves of surrogate pairs: Python strings can hold them, JSON, files and connections cannot."""

from __future__ import annotations

import re

from callwright.nouns.types import Json

HALVES = "half a character replaced"
_HALF = re.compile("[\ud800-\udfff]")


def join_surrogates(value: Json) -> tuple[Json, bool]:
    """The value with halves put together that belong together, others replaced by U+FFFD; whether
    there were any.
    """
    changed = False

    def text(given: str) -> str:
        nonlocal changed
        if _HALF.search(given) is None:
            return given
        changed = True
        return given.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def walk(given: Json) -> Json:
        if isinstance(given, str):
            return text(given)
        if isinstance(given, dict):
            return {text(key): walk(inner) for key, inner in given.items()}
        return [walk(inner) for inner in given] if isinstance(given, list) else given

    return walk(value), changed
