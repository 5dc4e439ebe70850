"""A tool in the place of the one that the request asks for.

A layer offers only the tools that need not wait. Asked to move an appointment while only adding one
is offered, a small model adds one. Of the writes, or of the lookups, it tells surely which one a
request asks for, asked with one letter apart from the conversation (``callwright bench letters``).
A request may ask for two: what a stated wish is for stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from callwright.agent.leading.wanted import AskLetter, build_question, find_wanted
from callwright.agent.step import Steps
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool
from callwright.prompts.one_letter import LETTERS, read_shares

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
    found = yield from ask_shares(shown, query, ask_letter, unless_likeliest=called)
    best = max(found, key=lambda name: found[name], default="")
    if not found or found[best] < SURE_SHARE or found[called.name] >= LEAST_SHARE:
        return None
    for wish in wishes if len(wishes) > 1 else ():
        if (yield from find_wanted(wish, shown, ask_letter)) == called.name:
            return None
    return next(tool for tool in shown if tool.name == best)


def ask_shares(
    tools: Sequence[Tool],
    query: str,
    ask_letter: AskLetter,
    unless_likeliest: Tool | None = None,
) -> Steps[dict[str, float]]:
    """Tool -> how likely the request asks for it, as a mean over two orders, for a small model
    prefers a letter. Empty where it states no probabilities, and where the first order shows
    ``unless_likeliest`` to be the likeliest.
    """
    found: list[dict[str, float]] = []
    for order in (tuple(tools), tuple(tools)[::-1]):
        reply = yield from ask_letter(build_question(query, order))
        shares = read_shares(reply.first_token, len(order))
        if not shares:
            return {}
        found.append({tool.name: share for tool, share in zip(order, shares, strict=False)})
        if unless_likeliest is not None and found[0][unless_likeliest.name] >= max(shares):
            return {}
    return {name: (found[0][name] + found[1][name]) / 2 for name in found[0]}
