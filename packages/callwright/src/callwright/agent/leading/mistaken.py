"""A tool in the place of the one that the request asks for.

A layer offers only the tools that need not wait. Asked to move an appointment while only adding one
is offered, a small model adds one. Of the writes, or of the lookups, it tells surely which one a
request asks for, asked with one letter apart from the conversation (``callwright bench letters``).
A request may ask for two: what a stated wish is for stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from callwright.agent.leading.wanted import AskLetter, build_question, find_wanted
from callwright.agent.step import Steps
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool
from callwright.prompts.one_letter import LETTERS, ask_shares

SURE_SHARE: Final = threshold("callwright.agent", "mistaken_sure_share")
"""The share from which a request asks for another tool than the one that is called."""
LEAST_SHARE: Final = threshold("callwright.agent", "mistaken_least_share")
"""The share of the one that is called below which it does not ask for that."""


def find_asked(
    called: Tool,
    tools: Sequence[Tool],
    query: str,
    wishes: Sequence[str],
    ask_letter: AskLetter,
) -> Steps[Tool | None]:
    """The tool that a request surely asks for in the place of the called one; None where there is
    none. ``tools``: all writes, or all lookups, that are offered for the request, of which 20 are
    shown; ``wishes``: those that the model stated, of which none may be for the called one if they
    are several.
    """
    shown = tools[: len(LETTERS)]
    if called not in shown or len(shown) == 1:
        return None
    place, build = shown.index(called), partial(build_question, query)
    first = yield from ask_shares(shown, (shown,), build, ask_letter)
    if not first or first[place] >= max(first):
        return None
    second = yield from ask_shares(shown, (shown[::-1],), build, ask_letter)
    shares = [(a + b) / 2 for a, b in zip(first, second, strict=False)]
    if not shares or max(shares) < SURE_SHARE or shares[place] >= LEAST_SHARE:
        return None
    for wish in wishes if len(wishes) > 1 else ():
        if (yield from find_wanted(wish, shown, ask_letter)) == called.name:
            return None
    return shown[shares.index(max(shares))]
