"""Checks whether any part of a result was used: the answer repeats its words or figures, states its
length, or says that it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from callwright.jsontext import parse_tool_text as value_of
from callwright.language.tokens import fold_text
from callwright.nouns.types import Json, iter_scalars
from callwright.repair.provenance.sources import ProvenanceIndex

_TELLING = re.compile(r"\d[\d.,:\-/]*\d|\d|[^\W\d_][\w'’-]{3,}")
_EMPTY_WORDS = frozenset(
    "true false none null error response data result results status success message".split()
)


def extract_telling_values(texts: Iterable[str]) -> frozenset[str]:
    """The words and figures of texts that can be met again."""
    found: set[str] = set()
    for word in (word for text in texts for word in _TELLING.findall(fold_text(text))):
        if word[:1].isdigit():
            found |= _list_figure_variants(word)
        else:
            found |= {word, word.rstrip("s")}
    return frozenset(found - _EMPTY_WORDS)


def _list_figure_variants(figure: str) -> set[str]:
    """A figure as it stands, without its thousands' commas, and rounded as an answer may round
    it.
    """
    plain = figure.replace(",", "")
    made = {figure, plain}
    if re.fullmatch(r"\d+\.\d+", plain):
        made |= {f"{float(plain):.{places}f}" for places in (0, 1, 2)} | {
            plain.rstrip("0").rstrip(".")
        }
    return made


def render_values(content: Any) -> str:
    """The values of a result as text; its keys are no values. What is too long or broken to be read
    stays text.
    """
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        read = value_of(content)
        if isinstance(read, str):
            return read
        content = read
    inner = [v for v in iter_scalars(content) if v is not None and not isinstance(v, bool)]
    opened = (
        render_values(v) if v is not content and isinstance(v, str) and v[:1] in ("{", "[") else v
        for v in inner
    )
    return " \n".join(str(v) for v in opened)


def is_empty_search(content: Json) -> bool:
    """Return True if a result is the empty list of a search, with the usual members of such a
    reply. An empty result is useful, and an answer may report it in any words.
    """
    read = _parse_nested_values(content)
    lengths = list(_iter_lengths(read))
    return (
        bool(lengths)
        and not any(lengths)
        and len(lengths) >= sum(v is not None for v in iter_scalars(read))
    )


def _parse_nested_values(content: Json) -> Json:
    """A result with every text that holds a value read as that value."""
    if isinstance(content, dict):
        return {key: _parse_nested_values(value) for key, value in content.items() if value != ""}
    read = value_of(content)
    return read if read is content else _parse_nested_values(read)


def is_count_stated(content: Json, answer: str) -> bool:
    """Return True if the answer states the number of items in the result."""
    sources = ProvenanceIndex(answer)
    return any(n > 1 and sources.holds(n) for n in _iter_lengths(content))


def _iter_lengths(value: Json) -> Iterator[int]:
    if isinstance(value, dict | list):
        if isinstance(value, list):
            yield len(value)
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _iter_lengths(inner)
