"""Refusals of a world: what a tool answers where a call cannot be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Refused(Exception):
    """The world has not changed; the text is what the caller reads."""


def get_entry(entries: Mapping[str, Any], key: str, kind: str) -> Any:
    """The entry of a table. Raises Refused where there is none."""
    if key not in entries:
        raise Refused(f"there is no {kind} {key}")
    return entries[key]


def find_by_name(entries: Mapping[str, Any], name: str, id_field: str) -> list[dict[str, Any]]:
    """The entries whose name holds ``name``, each with its id: without regard to case, and to a
    plural s at its end.
    """
    wanted = name.strip().casefold().removesuffix("s")
    return [
        {id_field: key, **row} for key, row in entries.items() if wanted in row["name"].casefold()
    ]


def take_number(state: dict[str, Any], counter: str) -> int:
    """The next number of what is made; it is used up."""
    number: int = state["counters"][counter]
    state["counters"][counter] = number + 1
    return number
