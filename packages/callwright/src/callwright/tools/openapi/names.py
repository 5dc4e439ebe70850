"""Names for OpenAPI tools and arguments that every model provider accepts, predictable from the
document alone.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from hashlib import sha256
from typing import Any

MAX_CHARS = 64


def tool_name(method: str, path: str, operation: Any, taken: set[str]) -> str:
    """A name of ``^[a-zA-Z0-9_-]{1,64}$``: the operationId, else method and path; a taken one gets
    ``_2``, ``_3`` …

    Names depend on the document alone, not on which operations are kept. Long ones end in six
    digits of their digest.
    """
    wanted = operation.get("operationId") if isinstance(operation, Mapping) else None
    whole = wanted if isinstance(wanted, str) and wanted.strip() else f"{method} {path}"
    plain = (
        re.sub(r"[^a-zA-Z0-9_-]+", "_", whole).strip("_")
        or f"{method}_{sha256(whole.encode()).hexdigest()[:6]}"
    )
    plain = shorten_name(plain)
    name, number = plain, 2
    while name in taken:
        ending = f"_{number}"
        name, number = plain[: 64 - len(ending)] + ending, number + 1
    taken.add(name)
    return name


def shorten_name(name: str) -> str:
    """At most 64 characters; what is cut off is told apart by six digits of its digest."""
    return name if len(name) <= 64 else f"{name[:57]}_{sha256(name.encode()).hexdigest()[:6]}"


def argument_name(name: str, place: str, taken: Container[str]) -> str:
    """The API's own name where a model may write it and it is free, else with its place behind it,
    then a number.
    """
    plain = shorten_name(re.sub(r"[^a-zA-Z0-9_.-]+", "_", name).strip("_") or place)
    key, number = plain, 2
    if key in taken:
        key = shorten_name(f"{plain}_{place}")
    while key in taken:
        key, number = shorten_name(f"{plain}_{place}_{number}"), number + 1
    return key
