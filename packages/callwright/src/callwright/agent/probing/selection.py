"""Selects the probes worth making: those that could change the shortlist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

Standing: TypeAlias = Literal["open", "kept", "failed"]
"""What is known of a candidate: it may be tried; it keeps its place (it works, it may not be tried,
or its trial proved nothing); or it was shown not to serve.
"""


def select_open(standings: Sequence[Standing], k: int, *, thorough: bool = False) -> list[int]:
    """The places of the candidates to try next, given what is known of each in the retriever's
    order.

    A place on the shortlist is lost only by failing: no proof is not proof against. So the
    shortlist is the first ``k`` candidates that have not failed, whatever comes after them; only a
    trial of one of these can change it, by failing, which lets the next candidate in. Once none of
    the first ``k`` is open, no trial can change it any more, and trials stop. ``thorough``: every
    open candidate.
    """
    if thorough:
        return [place for place, standing in enumerate(standings) if standing == "open"]
    first = [place for place, standing in enumerate(standings) if standing != "failed"][:k]
    return [place for place in first if standings[place] == "open"]
