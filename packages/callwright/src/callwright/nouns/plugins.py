"""Objects that installed packages register with the core, by entry-point group."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def load_plugins(group: str) -> tuple[Any, ...]:
    """The objects that all installed packages register in a group, by the names of their entry
    points.

    The groups: ``callwright.formats``, ``callwright.references``, ``callwright.tool_documents``,
    ``callwright.recordings``, ``callwright.simulation_routes``. The module that owns a group says
    what its objects are.
    """
    from importlib.metadata import entry_points  # 50 ms, and not every program parses a call

    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return tuple(entry.load() for entry in found)
