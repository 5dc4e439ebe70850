"""Whether anything of a result was used: its words and figures met again, its length said, that it
held nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from callwright.jsontext import opened as value_of
from callwright.language.tokens import fold
from callwright.nouns.types import Json, scalars
from callwright.repair.provenance.sources import ProvenanceIndex

_TELLING = re.compile(r"\d[\d.,:\-/]*\d|\d|[^\W\d_][\w'’-]{3,}")
_EMPTY_WORDS = frozenset(
    "true false none null error response data result results status success message".split()
)


def told_values(texts: Iterable[str]) -> frozenset[str]:
    """The words and figures of texts that can be met again."""
    found: set[str] = set()
    for word in (word for text in texts for word in _TELLING.findall(fold(text))):
        if word[:1].isdigit():
            found |= _readings(word)
        else:
            found |= {word, word.rstrip("s")}
    return frozenset(found - _EMPTY_WORDS)


def _readings(figure: str) -> set[str]:
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


def spelled(content: Any) -> str:
    """The values of a result as text; its keys are no values. What is too long or broken to be read
    stays text.
    """
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        read = value_of(content)
        if isinstance(read, str):
            return read
        content = read
    inner = [v for v in scalars(content) if v is not None and not isinstance(v, bool)]
    opened = (
        spelled(v) if v is not content and isinstance(v, str) and v[:1] in ("{", "[") else v
        for v in inner
    )
    return " \n".join(str(v) for v in opened)


def found_nothing(content: Json) -> bool:
    """Whether a result is the empty list of a search, with what such a reply says of itself: that
    nothing was found is its use, and an answer says it in any words.
    """
    read = _opened(content)
    lengths = list(_lengths(read))
    return (
        bool(lengths)
        and not any(lengths)
        and len(lengths) >= sum(v is not None for v in scalars(read))
    )


def _opened(content: Json) -> Json:
    """A result with every text that holds a value read as that value."""
    if isinstance(content, dict):
        return {key: _opened(value) for key, value in content.items() if value != ""}
    read = value_of(content)
    return read if read is content else _opened(read)


def counted(content: Json, answer: str) -> bool:
    """Whether the answer says how many there are, or yes or no where the result is nothing else."""
    sources = ProvenanceIndex(answer)
    return any(n > 1 and sources.holds(n) for n in _lengths(content))


def _lengths(value: Json) -> Iterator[int]:
    if isinstance(value, dict | list):
        if isinstance(value, list):
            yield len(value)
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _lengths(inner)
