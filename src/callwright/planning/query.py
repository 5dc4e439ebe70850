"""What a query says about tools and their inputs: where each tool is asked for, and which values are given.

Everything here is relative to one query and one list of tools, so that it means the same in every domain.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from callwright.flow import GENERIC, STOP, Field, Profile, words

WINDOW = 14  # words in which a tool's request is looked for

_CLAUSE = re.compile(
    r"[.;?!\n]+\s|,\s|\bthen\b|\band\b|\bafter\b|\bfinally\b|\balso\b|\bnext\b|\bonce\b|\bbefore\b", re.IGNORECASE
)
_LATER = re.compile(
    r"\b(then|after|afterwards|finally|next|once|subsequently|based on|using|with (?:the|this|that|these)|lastly|"
    r"later|following|followed|resulting|obtained|from (?:the|this|that|these))\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(it|its|this|that|these|those|them|their|the result\w*|such|same)\b", re.IGNORECASE)
_TOKEN = re.compile(r"\w+(?:[-./:@]\w+)*")

_VALUES = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+\.\w+")),
    ("url", re.compile(r"https?://\S+|www\.\S+")),
    ("date", re.compile(
        r"\b\d{4}-\d\d?-\d\d?\b|\b\d\d?/\d\d?/\d{2,4}\b|"
        r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}\b|"
        r"\b(?:today|tomorrow|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend)\b",
        re.IGNORECASE)),
    ("time", re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2}\s*(?:am|pm|o'clock)\b", re.IGNORECASE)),
    ("quoted", re.compile(r"[\"“‘'`]([^\"”’'`]{1,80})[\"”’'`](?!\w)")),
    ("code", re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{3,}\b|\b[A-Z]{2,}[-_]?\d+\b|\b\d{5,}\b|\b[A-Z]{2,6}\b")),
    ("number", re.compile(r"\b\d+(?:[.,]\d+)*\b")),
    ("proper", re.compile(r"(?<![.?!\n]\s)(?<!^)\b[A-Z][a-z]+(?:\s+[A-Z][a-z]+)*")),
)  # fmt: skip


def _bag(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KINDS = (
    ("date", _bag("date day month year birthday deadline arrival departure checkin checkout")),
    ("time", _bag("time hour minute duration")),
    ("email", _bag("email mail")),
    ("url", _bag("url link uri website webpage")),
    ("code", _bag("id code number symbol token key ticker slug isbn reference identifier")),
    ("proper", _bag("city country location place origin destination name company author artist")),
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a query asks for a tool. Positions are shares of the query's length, 0 first, 0.5 if unknown."""

    place: float  # middle of the densest stretch
    first: float  # first telling word
    cover: float  # share of the tool's weight that is found, 0..1
    clause: int
    later: float  # the clause opens with "then", "based on", "using the" ...
    back: float  # the clause points back: "it", "those", "the results"


@dataclass(frozen=True, slots=True)
class Given:
    """What speaks for the query itself giving an input's value; all 0..1 but ``count``."""

    named: float  # share of the input's telling words found in the query
    near: float  # a fitting value stands close to such a word
    enum: float  # one of the allowed values stands in the query
    count: int  # values in the query that fit the input's kind
    strength: float  # all of it together


class QueryView:
    """One query, read once. ``tools`` decide which words are telling."""

    def __init__(self, text: str, tools: Sequence[Profile]) -> None:
        self.text = text
        self.spans = [(m.start(), m.group()) for m in _TOKEN.finditer(text)]
        self.starts = [start for start, _ in self.spans]
        self.size = max(1, len(self.spans))
        self.places: dict[str, list[int]] = {}
        for i, (_, token) in enumerate(self.spans):
            for word in words(token):
                self.places.setdefault(word, []).append(i)
        self.values = self._values()
        self.kinds = Counter(kind for kind, _ in self.values)
        self.breaks = [0, *(self._word_at(m.end()) for m in _CLAUSE.finditer(text))]
        counts = Counter(w for p in tools for w in {*p.subject, *p.about})
        self.rarity = {w: log(1 + len(tools) / n) for w, n in counts.items()}

    def _word_at(self, offset: int) -> int:
        return bisect_left(self.starts, offset)

    def _values(self) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for kind, pattern in _VALUES:
            found += [(kind, self._word_at(m.start())) for m in pattern.finditer(self.text)]
        return found

    @cached_property
    def lower(self) -> str:
        return f" {self.text.lower()} "

    def where(self, word: str) -> list[int]:
        """Word positions of a word in the query; a longer form with the same first letters counts too."""
        found = self.places.get(word)
        if found is None:
            found = [i for w, at in self.places.items() for i in at if _akin(w, word)] if len(word) > 4 else []
            self.places[word] = found = sorted(found)
        return found

    def mention(self, tool: Profile) -> Mention:
        """Where the query asks for ``tool``: the stretch with most of its telling words."""
        weights = {w: 0.35 * self.rarity.get(w, 1.0) for w in tool.about}
        weights.update({w: (0.3 if w in GENERIC else 1.0) * self.rarity.get(w, 1.0) for w in tool.subject})
        hits = sorted((i, w) for w in weights for i in self.where(w))
        total = sum(weights.values())
        if not hits or not total:
            return Mention(0.5, 0.5, 0.0, 0, 0.0, 0.0)
        best, at = 0.0, hits[0][0]
        for i, _ in hits:
            near = {w for j, w in hits if i <= j < i + WINDOW}
            score = sum(weights[w] for w in near)
            if score > best + 1e-9:
                best, at = score, i
        inside = [j for j, _ in hits if at <= j < at + WINDOW]
        middle = sum(inside) / len(inside)
        cover = sum(weights[w] for w in {w for _, w in hits}) / total
        clause = self._clause(at)
        opening = self._text(clause)
        return Mention(
            place=middle / self.size,
            first=hits[0][0] / self.size,
            cover=cover,
            clause=clause,
            later=float(bool(_LATER.search(opening))),
            back=float(bool(_POINTS_BACK.search(opening))),
        )

    def _clause(self, word: int) -> int:
        return sum(b <= word for b in self.breaks) - 1

    def _text(self, clause: int) -> str:
        """The clause with the few words before it, where connecting words stand."""
        first = max(0, self.breaks[clause] - 2) if clause >= 0 else 0
        last = self.breaks[clause + 1] if clause + 1 < len(self.breaks) else len(self.spans)
        start = self.starts[first] if first < len(self.starts) else 0
        end = self.starts[last] if last < len(self.starts) else len(self.text)
        return self.text[start:end]

    def given(self, wanted: Field) -> Given:
        """What speaks for the query giving this input's value itself."""
        telling = [w for w in wanted.name if w not in STOP]
        owned = telling or [w for w in wanted.about if w not in GENERIC]
        hits = [at for w in owned if (at := self.where(w))]
        named = len(hits) / max(1, len(owned))
        kind = kind_of(wanted)
        fitting = [i for k, i in self.values if k in _FITS[kind]]
        near = max((1.0 / (1 + abs(i - j) / 3) for at in hits for i in at for j in fitting), default=0.0)
        enum = float(any(len(v) > 1 and f" {v.lower()}" in self.lower for v in wanted.enum))
        strength = max(enum, 0.9 * near * (0.5 + 0.5 * named), 0.4 * named, 0.25 * bool(fitting))
        return Given(named, near, enum, len(fitting), strength)


_FITS: dict[str, frozenset[str]] = {
    "date": frozenset({"date"}),
    "time": frozenset({"time", "number"}),
    "email": frozenset({"email"}),
    "url": frozenset({"url"}),
    "code": frozenset({"code", "number", "quoted"}),
    "number": frozenset({"number"}),
    "proper": frozenset({"proper", "quoted"}),
    "text": frozenset({"quoted", "proper", "code"}),
    "none": frozenset(),
}


def kind_of(wanted: Field) -> str:
    """Which kind of value an input expects, judged by its type, name and description."""
    if wanted.type in ("integer", "number") and wanted.name[-1:] != ("id",):
        return "number"
    if wanted.type in ("boolean", "object"):
        return "none"
    for kind, telling in _KINDS:
        if telling & set(wanted.name):
            return kind
    return "text"


def _akin(a: str, b: str) -> bool:
    n = min(len(a), len(b))
    return n >= 5 and a[: max(5, n - 2)] == b[: max(5, n - 2)]
