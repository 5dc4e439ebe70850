"""Finds the tools that cannot be called yet: they need an unstated identifier that another tool
provides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from callwright.dataflow import flow
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool
from callwright.repair.context import RepairContext
from callwright.repair.provenance.grounding import is_identifier

_PROVIDES = threshold("callwright.repair", "ready.provides")
_KINDS = ENGLISH.words("keys.surely_identifiers")
_ARTICLES = ENGLISH.words("values.articles")
_LINK = ENGLISH.expression("values.link")
_A = "(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{4,}"  # what an identifier looks like


def waiting(situation: RepairContext) -> dict[str, str]:
    """Name of a tool -> the required identifier that it has to wait for. Empty without a
    conversation.

    On API-Bank's 323 questions no gold call is of such a tool, and 58 questions offer one
    (docs/lab-calls.md).
    """
    if not situation.informed:
        return {}
    said = "\n".join(situation.said)
    found: dict[str, str] = {}
    for tool in situation.tools:
        for key in tool.required:
            if (
                _names_one(key)
                and not _is_identifier_given(key, said)
                and _has_provider(tool, key, situation.tools)
            ):
                found[tool.name] = key
    return found


def _names_one(key: str) -> bool:
    return (split_identifier(key) or ("",))[-1] in _KINDS or is_identifier(key, "a1b2c3")


def _is_identifier_given(key: str, said: str) -> bool:
    """Return True if a possible identifier stands beside its name. This is any value after a colon,
    an equals sign or "is", or a nearby word with digits.
    """
    last = re.escape((split_identifier(key) or (key,))[-1])
    named = rf"(?:{re.escape(key)}|\b{last})"
    return bool(
        re.search(rf"{named}\W{{0,3}}{_LINK}\W{{0,3}}[\w-]{{2,}}", said, re.I)
        or re.search(rf"{named}\b[^\n]{{0,40}}?\b{_A}", said, re.I)
    )


def _has_provider(tool: Tool, key: str, tools: Sequence[Tool]) -> bool:
    told = set(flow.split_words(key)) - _ARTICLES
    for other in tools:
        if other.name == tool.name or key in other.required:
            continue
        made = set(flow.split_words(other.name)) - set(flow.VERBS)
        if (told and told <= made) or any(
            k.input.path[0] == key for k in flow.find_links(other, tool, _PROVIDES)
        ):
            return True
    return False
