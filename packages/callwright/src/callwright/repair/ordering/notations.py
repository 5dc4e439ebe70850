"""Notations of references: the texts in arguments that stand for what another call returns.

The core knows those of planners and templates. An entry point in the group
``callwright.references`` holds a tuple of :class:`ReferenceNotation`: those that data sets write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from operator import attrgetter

from callwright.nouns.plugins import load_plugins

GROUP = "callwright.references"

PATH = r"(?P<field>(?:\.[A-Za-z_][\w-]*|\[[\w'\"-]*\])*)"
"""The field behind a label: ``.name`` and ``[index]``, any number of them."""


@dataclass(frozen=True, slots=True)
class ReferenceNotation:
    """One notation. ``sign`` is in every text in which any of the ``patterns`` finds something; a
    pattern has the groups ``label`` and ``field``. Of two that find the same text, the one of the
    lower ``rank`` counts.
    """

    name: str
    sign: str
    patterns: tuple[re.Pattern[str], ...]
    rank: int


OWN_NOTATIONS = (
    # LLMCompiler: $1, ${1}
    ReferenceNotation(
        "numbered",
        "$",
        (
            re.compile(rf"\$\{{(?P<label>\d{{1,3}}){PATH}\}}"),
            re.compile(r"(?<![\w$])\$(?P<label>\d{1,3})(?P<field>)(?![\w$]|[.,]\d|%)"),
        ),
        30,
    ),
    # {call_1.field}, {{call_1.field}}, ${call_1.field}; without a field it must be the whole text
    ReferenceNotation(
        "braces",
        "{",
        (
            re.compile(
                r"\$?\{\{?\s*(?P<label>[A-Za-z_][\w-]*)"
                r"(?P<field>(?:\.[A-Za-z_][\w-]*|\[\d*\])+)\s*\}?\}"
            ),
            re.compile(r"\A\s*\$?\{\{?\s*(?P<label>[A-Za-z_][\w-]*)(?P<field>)\s*\}?\}\s*\Z"),
        ),
        40,
    ),
)


@cache
def reference_notations() -> tuple[ReferenceNotation, ...]:
    """The core's notations and those of all installed packages, by rank."""
    registered = (row for rows in load_plugins(GROUP) for row in rows)
    return tuple(sorted((*OWN_NOTATIONS, *registered), key=attrgetter("rank")))
