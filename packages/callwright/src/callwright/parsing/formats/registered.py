"""Text formats that other packages register: those that only one data set is written in.

An entry point in the group ``callwright.formats`` holds a tuple of :class:`Dialect`. Each names the
``reader`` of a family of the core that reads its shape, so that reading it costs nothing more.
"""

from __future__ import annotations

from functools import cache

from callwright.nouns.plugins import load_plugins
from callwright.parsing.pieces import Dialect

GROUP = "callwright.formats"


@cache
def registered_dialects() -> tuple[Dialect, ...]:
    """The dialects of all installed packages."""
    return tuple(dialect for dialects in load_plugins(GROUP) for dialect in dialects)


@cache
def labelled_dialect() -> str:
    """The dialect under which a JSON list is reported whose calls name what they return: "json"
    unless a registered one claims such lists.
    """
    return next((dialect.name for dialect in registered_dialects() if dialect.labels), "json")
