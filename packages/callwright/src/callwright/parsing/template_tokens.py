"""The control tokens of chat templates (``data/template_tokens.toml``)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from callwright.parsing.marker_set import MarkerSet


@dataclass(frozen=True, slots=True)
class TemplateTokens:
    """All families' tokens. ``own_turn`` begin a turn of the model, ``other_turn`` one of somebody
    else; ``at_end`` count only at the end of an answer. ``marks`` finds each of them, ``own_marks``
    those of ``own_turn``. ``result``: the tokens that begin what a tool returned.
    """

    words: frozenset[str]
    own_turn: frozenset[str]
    other_turn: frozenset[str]
    at_end: frozenset[str]
    result: frozenset[str]
    marks: MarkerSet
    own_marks: MarkerSet


@cache
def load_template_tokens() -> TemplateTokens:
    """The tokens of the data file, read once."""
    path = files("callwright.parsing") / "data" / "template_tokens.toml"
    templates = tomllib.loads(path.read_text("utf-8"))["templates"]

    def join(key: str) -> frozenset[str]:
        return frozenset(word for one in templates for word in one.get(key, ()))

    own, other, at_end = join("own_turn"), join("other_turn"), join("at_end")
    words = join("tokens") | own | other | at_end
    marks = MarkerSet(words), MarkerSet(own)
    return TemplateTokens(words, own, other, at_end, join("result"), *marks)
