"""The names under which clients see the tools and prompts of all servers.

A name is ``<prefix>__<name>`` with the prefix that the configuration gives a server, never with
what the server says of itself. Models' APIs take letters, digits, ``_`` and ``-``, and at most 64
of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

MOST = 64
SEPARATOR = "__"
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 8  # of the digest that tells two names apart


def build_name(prefix: str, name: str, most: int = MOST) -> str:
    """Return the name for clients of what a server calls ``name``. What is too long is cut, and
    ends with a digest of the whole.
    """
    whole = f"{prefix}{SEPARATOR}{name}" if prefix else name
    made = _OTHERS.sub("_", whole)
    return made if len(made) <= most else _mark_name(made, whole, most)


def assign_names(offered: Iterable[tuple[str, str]], most: int = MOST) -> list[str]:
    """Return a name for each (prefix, name), in order. The first of a name keeps it; one that is
    taken gets a digest of its own at its end, which depends on nothing else in the list.
    """
    taken: set[str] = set()
    made = []
    for prefix, name in offered:
        found = build_name(prefix, name, most)
        if found in taken:
            found = _mark_name(found, f"{prefix}\0{name}", most)
        number = 2
        while found in taken:  # the same prefix and name twice
            found = _mark_name(found, f"{prefix}\0{name}\0{number}", most)
            number += 1
        taken.add(found)
        made.append(found)
    return made


def _mark_name(name: str, whole: str, most: int) -> str:
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{name[: most - _DIGITS - 1]}_{digest}"
