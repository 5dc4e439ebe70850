"""What a choice of tools cannot do without: who provides each required input that nothing chosen provides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from callwright.flow import Field
from callwright.planning.schema_order import Claim, claims
from callwright.types import Tool

# Inputs that nobody can write down without having looked them up. All else the model may take from the request.
_LOOKED_UP = re.compile(r"(?:^|_|(?<=[a-z]))(?:id|ids|uuid|code|key|token|slug|latitude|longitude)$", re.IGNORECASE)

_SAID_OF_ONE = frozenset({"id", "identifier", "code"})  # "iata: IATA code of an airport"


def with_producers(chosen: Sequence[Tool], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """``chosen`` in their order, then what it takes to feed them in the order of ``tools``.

    A required identifier or coordinate that other tools provide (see ``schema_order.claims``) gets its likeliest
    reading producer, unless one of its producers is chosen already; so do the producers' own inputs.
    """
    kept = {tool.name for tool in chosen}
    reads = {tool.name for tool in tools if tool.effects.read_only}
    found = [c for c in claims(tools) if c.producer in reads and _looked_up(c.link.input)]
    while True:
        missing = [c for c in found if c.consumer in kept and not _fed(c, found, kept)]
        if not missing:
            given = {tool.name for tool in chosen}
            return (*chosen, *(tool for tool in tools if tool.name in kept - given))
        kept.add(max(missing, key=lambda c: (c.score, c.producer)).producer)


def _looked_up(field: Field) -> bool:
    return bool(_LOOKED_UP.search(field.text) or field.about & _SAID_OF_ONE)


def _fed(claim: Claim, found: Sequence[Claim], kept: set[str]) -> bool:
    """Whether some producer of the same input is there."""
    return any(
        c.producer in kept
        for c in found
        if (c.consumer, c.link.input.text) == (claim.consumer, claim.link.input.text)
    )
