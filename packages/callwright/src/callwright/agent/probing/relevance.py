"""Tells whether a reply is about what was asked for: relevant, general, irrelevant, or unsure.

A reply may be well-formed, plausible and about another thing. Rules prove this only where the reply
names another value for an argument (:mod:`callwright.agent.probing.verdict`). With an encoder the
verdict is a share: how often a reply as similar to its request is a right one, on the data that
``data/thresholds.toml`` names. A share moves no tool down. It decides whether a success may lift
one: where it is not high enough, the tool keeps its place.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Iterator

from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.result import Relevance
from callwright.agent.probing.values import Request, is_readable
from callwright.jsontext import parse_tool_text
from callwright.nouns.protocols import Encoder
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, JsonObject, iter_scalars

CALIBRATED = "minilm-int8"  # the encoder whose similarities were calibrated
_SLOPE = threshold("callwright.agent.probing", "relevance.slope")
_OFFSET = threshold("callwright.agent.probing", "relevance.offset")
# shares from which a reply counts as relevant, and up to which as irrelevant
RELEVANT = threshold("callwright.agent.probing", "relevance.relevant")
IRRELEVANT = threshold("callwright.agent.probing", "relevance.irrelevant")
_MOST = 600  # characters of a reply that are compared
_ITEMS = 3  # of a list
_TEXT = 120  # characters of one text
_WORD = re.compile(r"[^\W_]+")


def classify_relevance(*, about: bool, share: float | None, readable: bool) -> Relevance:
    """The relevance of a successful reply. ``about``: the rules found something of the request in
    the call or the reply. Without a share, rules that cannot read the request are unsure.
    """
    if share is None:
        found: Relevance = "relevant" if about else "general"
        return found if readable else "unsure"
    if share <= IRRELEVANT:
        return "irrelevant"
    if share < RELEVANT:
        return "unsure"
    return "relevant" if about else "general"


def compute_share(similarity: float) -> float:
    """The share of right replies among replies as similar, where right and wrong are equally many
    (Platt's scaling).
    """
    return 1.0 / (1.0 + math.exp(-(_SLOPE * similarity + _OFFSET)))


def compute_similarity(
    encoder: Encoder, query: str, tool: str, arguments: JsonObject, reply: Json
) -> float | None:
    """The highest cosine between a request or its call and a reply, read with its member names and
    without. None for a reply without any text: numbers alone say nothing.
    """
    content = parse_tool_text(reply)
    values = _join_words(_iter_values(content))
    if not values:
        return None
    call = _join_words([tool, *(str(value) for value in iter_scalars(arguments))])
    found = encoder.encode([query, call, values, _join_words(_iter_members(content))])
    return max(float(a @ b) for a in found[:2] for b in found[2:])


async def weigh_candidates(
    candidates: Iterable[Candidate], request: Request, encoder: Encoder | None
) -> None:
    """Give each candidate that was called with success its relevance, and its share where the
    encoder's similarities are calibrated and the request can be read.

    A call made of another tool's reply needs no share: provenance says whom it is about.
    """
    judge = encoder if encoder is not None and is_calibrated(encoder) else None
    for one in candidates:
        best = one.best
        if best is None:
            continue
        seen = best.observation
        if not best.works:
            one.relevance = "irrelevant" if seen.kind == "irrelevant" and best.proves else None
            continue
        if judge is not None and is_readable(request.query) and not one.fed_by:
            similarity = await asyncio.to_thread(
                compute_similarity,
                judge,
                request.query,
                one.tool.name,
                seen.arguments,
                best.content,
            )
            one.share = None if similarity is None else compute_share(similarity)
        one.relevance = classify_relevance(
            about=best.about, share=one.share, readable=request.is_readable
        )


def is_calibrated(encoder: Encoder) -> bool:
    """Return True if the file of thresholds is about this encoder."""
    return encoder.name == CALIBRATED


def _join_words(texts: Iterable[str]) -> str:
    """The words of the first texts, as many as are compared."""
    made: list[str] = []
    length = 0
    for text in texts:
        made.append(text[:_TEXT])
        length += len(made[-1])
        if length > _MOST:
            break
    return " ".join(_WORD.findall(" ".join(made)))[:_MOST]


def _iter_values(content: Json) -> Iterator[str]:
    """The texts of a reply: no numbers, no codes of two letters, no addresses."""
    for value in iter_scalars(content):
        if isinstance(value, str) and len(value) > 2 and "://" not in value:
            yield value


def _iter_members(content: Json) -> Iterator[str]:
    """The names of a reply's members and its values, in its order; of lists the first few."""
    if isinstance(content, dict):
        for key, inner in content.items():
            yield str(key)
            yield from _iter_members(inner)
    elif isinstance(content, list):
        for inner in content[:_ITEMS]:
            yield from _iter_members(inner)
    elif content is not None and not isinstance(content, bool):
        yield str(content)
