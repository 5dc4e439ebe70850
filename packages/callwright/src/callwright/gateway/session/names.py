"""The names under which clients see the tools and prompts of all servers.

A name is ``<prefix>__<name>`` with the prefix that the configuration gives a server, never with
what the server says of itself. A prefix that ends in ``_`` or ``-`` brings its own separator:
``git_`` gives ``git_status``. Models' APIs take letters, digits, ``_`` and ``-``, and at most 64
of them.

Clients remember names: in lists that they do not ask for again, and in rules of what may be called
unasked. So no name passes from one tool to another. Of several that would have the same, none has
it, whichever is listed first.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

MOST = 64
SEPARATOR = "__"
SEARCH_TOOLS, CALL_TOOL = "search_tools", "call_tool"
"""The gateway's own tools. No server's tool has one of these names."""
Claim: TypeAlias = tuple[str, str, str]
"""A server, its prefix, and its own name for a tool or prompt."""
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 8  # of the digest that tells two names apart
_NOTHING: Mapping[Claim, str] = MappingProxyType({})


def build_name(prefix: str, name: str, most: int = MOST) -> str:
    """Return the name for clients of what a server calls ``name``. What is too long is cut, and
    ends with a digest of the whole.
    """
    joint = SEPARATOR if prefix and not prefix.endswith(("_", "-")) else ""
    whole = f"{prefix}{joint}{name}"
    made = _OTHERS.sub("_", whole)
    return made if len(made) <= most else _mark_name(made, whole, most)


def assign_names(
    claims: Sequence[Claim], most: int = MOST, kept: Mapping[Claim, str] = _NOTHING
) -> list[str]:
    """Return a name for each claim, in order. ``kept``: names that were given before, which stay
    theirs. Where several claim one name, each gets its server before it, or a digest of its own at
    its end.
    """
    distinct = dict.fromkeys(claims)
    wanted = Counter(build_name(prefix, name, most) for _, prefix, name in distinct)
    named = Counter(build_name(server, name, most) for server, _, name in distinct)
    left, taken = dict(kept), {*kept.values(), SEARCH_TOOLS, CALL_TOOL}
    made: list[str] = []
    for claim in claims:
        found = left.pop(claim, "")
        number = 0
        while not found or (number and found in taken):
            found = _propose(claim, number, wanted, named, most)
            number += 1
        taken.add(found)
        made.append(found)
    return made


def _propose(
    claim: Claim, number: int, wanted: Mapping[str, int], named: Mapping[str, int], most: int
) -> str:
    """The name that a claim may have where so many others were taken; "" for none."""
    server, prefix, name = claim
    plain, whole = build_name(prefix, name, most), build_name(server, name, most)
    match number:
        case 0:
            return plain if wanted[plain] == 1 else ""
        case 1:
            return whole if named[whole] == 1 and whole not in wanted else ""
    return _mark_name(plain, "\0".join(claim) + "\0" * (number - 2), most)


def _mark_name(name: str, whole: str, most: int) -> str:
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{name[: most - _DIGITS - 1]}_{digest}"
