"""Indexes the results once per answer: every scalar with its key, its record and the names around
it.

Hostile or huge results are bounded (see ``index``). ``Facts.cut`` is then set, and values beyond
the index are still found as text.
"""

from __future__ import annotations

import bisect
import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from callwright.grounding.foreign import moments_in
from callwright.grounding.labels import moment_labels
from callwright.grounding.quantity import (
    Moment,
    Number,
    date_of,
    find_moments,
    find_numbers,
    weekday_of,
)
from callwright.grounding.words import find_concepts
from callwright.language import ENGLISH
from callwright.language.detect import language_of
from callwright.language.pack import PACKS, pack
from callwright.language.spoken import guess_spoken, load_phrases
from callwright.language.tokens import fold_text, key_tokens, split_tokens
from callwright.nouns.types import Json, Skip, ToolResult, iter_scalars, to_canonical_json

_TODAY = ENGLISH.pattern("fields.today")
_NEAR = 40  # characters before a date in which a word can tell that it is today
_OFFSET = re.compile(r"(?:UTC|GMT)?([+\-−])(\d{1,2}):?(\d{2})?")
_DECIMAL = re.compile(r"-?\d+(?:\.\d*)?|-?\.\d+", re.ASCII)
# characters of the results whose words are listed; the rest is searched as it stands
_FOLDED = 120_000
Path: TypeAlias = tuple[str | int | tuple[str], ...]  # (key,) names a record in a map of records


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of one result. ``labels`` are the names it belongs to, ``attributes`` what its
    keys say it is.
    """

    result: str
    path: Path
    value: Any
    shape: tuple[
        str, ...
    ]  # the path without list positions, and the tool: equal for the same field of siblings
    labels: frozenset[str]
    attributes: frozenset[str]
    unit: str = ""
    part: str = ""  # the sentence of a longer text that this leaf stands for
    record: int = 0

    @property
    def key(self) -> str:
        return next((p for p in reversed(self.path) if isinstance(p, str)), "")

    @property
    def where(self) -> str:
        return "/".join(str(p) for p in self.path)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number or moment that stands in a leaf."""

    leaf: Leaf
    number: Number | None = None
    moment: Moment | None = None

    @property
    def unit(self) -> str:
        return (self.number.unit if self.number else "") or self.leaf.unit


@dataclass
class Facts:
    """The index. Made by :func:`facts_of`."""

    query: str
    results: tuple[ToolResult, ...]
    skips: tuple[Skip, ...] = ()
    said: tuple[str, ...] = ()  # other texts, which may tell what day it is
    figures: list[Figure] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    lists: list[tuple[int, Leaf]] = field(
        default_factory=list
    )  # length of every array, with a leaf that stands for it
    origins: dict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )  # label -> the keys it stood under
    aliases: dict[str, frozenset[str]] = field(
        default_factory=dict
    )  # what a statement may say -> labels
    records: dict[tuple[str, int], list[Leaf]] = field(default_factory=lambda: defaultdict(list))
    vocabulary: set[str] = field(default_factory=set)
    cut: bool = False
    read: dict[str, str] = field(
        default_factory=dict
    )  # result id -> its content unpacked, as text: what names stand in
    texts: dict[str, str] = field(default_factory=dict)  # result id -> what a quote must occur in

    @cached_property
    def computed(self) -> dict[str, Any]:
        """Results of others that rest on these facts alone, by name: each is computed once."""
        return {}

    @cached_property
    def folded(self) -> str:
        """Everything known, as one folded text of single-spaced words, for the search of names."""
        room = _FOLDED // max(1, len(self.texts))
        parts = [self.query, *(text[:room] for text in self.read.values())]
        for result in self.results:
            parts += [result.tool, to_canonical_json(result.arguments)]
            if result.failure is not None:
                parts.append(result.failure.message)
        parts += [f"{s.tool} {s.reason}" for s in self.skips]
        forms = (form for p in parts for form in {tuple(split_tokens(p)), tuple(key_tokens(p))})
        return f" {' '.join(' '.join(words) for words in forms)} "

    @cached_property
    def squeezed(self) -> str:
        """The same without spaces: for identifiers, which people space as they like."""
        return self.folded.replace(" ", "")

    @cached_property
    def phrases(self) -> Mapping[str, str]:
        """The fixed words of an answer, in the language of the question as far as it can be
        told."""
        return load_phrases(guess_spoken(self.query))

    @cached_property
    def query_numbers(self) -> tuple[Number, ...]:
        found = find_moments(self.query)
        return tuple(find_numbers(self.query, [m.span for m in found]))

    @cached_property
    def argument_numbers(self) -> tuple[float, ...]:
        """The numbers that the calls were made with, also those sent as text."""
        sent = [value for result in self.results for value in result.arguments.values()]
        found = [
            float(v)
            for v in sent
            if isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 1e300
        ]
        found += [
            float(v) for v in sent if isinstance(v, str) and len(v) < 300 and _DECIMAL.fullmatch(v)
        ]
        return tuple(found)

    @cached_property
    def given_to(self) -> dict[str, frozenset[float]]:
        """Result -> the numbers that its call was made with."""
        return {
            r.id: frozenset(
                float(v)
                for v in iter_scalars(r.arguments)
                if type(v) in (int, float) and abs(v) < 1e300
            )
            for r in self.results
        }

    @cached_property
    def query_moments(self) -> tuple[Moment, ...]:
        return tuple(moments_in(self.query, language_of(self.query)))

    @property
    def is_void(self) -> bool:
        """Return True if all that the results hold is lists without entries."""
        return bool(self.lists) and not self.leaves

    @cached_property
    def todays(self) -> frozenset[dt.date]:
        """The days that a text ("Today is …") or a field ("current_date") tells to be today."""
        told = [moment for text in (self.query, *self.said) for moment in _iter_todays(text)]
        told += [
            figure.moment
            for figure in self.moment_figures[:400]
            if figure.moment and _TODAY.search("_".join(key_tokens("_".join(figure.leaf.shape))))
        ]
        return frozenset(day for moment in told if (day := date_of(moment)) is not None)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Offsets from UTC, in minutes, that the results name."""
        found: list[int] = []
        for figure in self.figures[:4000]:
            key = figure.leaf.key.lower()
            if figure.number is not None and (
                "offset" in key or key in ("timezone", "utc", "gmtoff")
            ):
                found.append(_convert_offset_to_minutes(figure.number.value))
            elif figure.moment is not None and figure.moment.offset is not None:
                found.append(figure.moment.offset)
        for leaf in self.leaves[:4000]:
            if isinstance(leaf.value, str) and (m := _OFFSET.fullmatch(leaf.value)):
                minutes = int(m[2]) * 60 + int(m[3] or 0)
                found.append(minutes if m[1] == "+" else -minutes)
        return tuple(dict.fromkeys((0, *found)))[:24]

    @cached_property
    def sorted_numbers(self) -> tuple[list[float], list[Figure]]:
        pairs = sorted(
            (f.number.value, i) for i, f in enumerate(self.figures) if f.number is not None
        )
        return [p[0] for p in pairs], [self.figures[p[1]] for p in pairs]

    @cached_property
    def moment_figures(self) -> tuple[Figure, ...]:
        return tuple(f for f in self.figures if f.moment is not None)

    @cached_property
    def columns(self) -> dict[tuple[str, ...], list[Figure]]:
        """The figures of the same field over sibling records."""
        found: dict[tuple[str, ...], list[Figure]] = defaultdict(list)
        for figure in self.figures:
            found[figure.leaf.shape].append(figure)
        return found

    @cached_property
    def keys(self) -> dict[str, list[Figure]]:
        """The figures under the same last key, in whatever result."""
        found: dict[str, list[Figure]] = defaultdict(list)
        for figure in self.figures:
            found[figure.leaf.key].append(figure)
        return found

    @cached_property
    def fields(self) -> dict[tuple[str, int], list[Figure]]:
        """The figures of one record."""
        found: dict[tuple[str, int], list[Figure]] = defaultdict(list)
        for figure in self.figures:
            found[figure.leaf.result, figure.leaf.record].append(figure)
        return found

    def knows(self, word: str) -> bool:
        """Return True if a word, or a related word, stands in a result or in the question."""
        if word in self.vocabulary or find_concepts(word) & self.vocabulary or self.stands(word):
            return True
        if any(word[:size] in self.vocabulary for size in range(5, len(word))):
            return True
        place = bisect.bisect_left(self._sorted_words, word)
        return (
            len(word) >= 5
            and place < len(self._sorted_words)
            and self._sorted_words[place].startswith(word)
        )

    @cached_property
    def _sorted_words(self) -> list[str]:
        return sorted(self.vocabulary)

    @cached_property
    def switches(self) -> dict[str, list[Leaf]]:
        """The fields that are true or false, by key."""
        found: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            if isinstance(leaf.value, bool):
                found[leaf.key].append(leaf)
        return found

    def kinds(self, labels: frozenset[str]) -> frozenset[str]:
        """Under which keys these names stand."""
        return frozenset(kind for label in labels for kind in self.origins.get(label, ()))

    @cached_property
    def texts_by_value(self) -> dict[str, list[Leaf]]:
        """Short texts, squeezed -> where they stand."""
        found: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            if isinstance(leaf.value, str) and len(leaf.value) <= 80 and not leaf.part:
                found["".join(split_tokens(leaf.value))].append(leaf)
        return found

    @cached_property
    def field_words(self) -> frozenset[str]:
        """Return the words in the names of all fields."""
        return frozenset().union(
            *(leaf.attributes for leaf in {f.leaf.shape: f.leaf for f in self.figures}.values())
        )

    def of_result(self, result: str) -> list[Figure]:
        """The figures of one result, of small ones only: a large one has a field of any name."""
        found = [f for f in self.figures[:400] if f.leaf.result == result]
        return found if len(found) <= 60 else []

    @cached_property
    def labels(self) -> frozenset[str]:
        return frozenset(label for leaf in self.leaves for label in leaf.labels)

    @cached_property
    def weekdays(self) -> dict[int, frozenset[str]]:
        """Weekday -> the labels of the days in the results that fall on it."""
        found: dict[int, set[str]] = defaultdict(set)
        for figure in self.moment_figures[:2000]:
            day = weekday_of(figure.moment)
            if day is not None and figure.moment is not None:
                found[day].update(moment_labels(figure.moment))
        return {d: frozenset(v) for d, v in found.items()}

    def between(self, low: float, high: float) -> list[Figure]:
        """The figures whose number lies in [low, high]."""
        values, figures = self.sorted_numbers
        return figures[bisect.bisect_left(values, low) : bisect.bisect_right(values, high)]

    @cached_property
    def unlisted(self) -> str:
        """The lower-case text of results too long to be listed word by word; "" where all were."""
        room = _FOLDED // max(1, len(self.texts))
        return "\n".join(
            text.lower() for text in self.read.values() if self.cut or len(text) > room
        )

    def stands(self, word: str) -> bool:
        """Return True if a word or a number stands in the part of a huge result that was not
        indexed.
        """
        text = self.unlisted
        if not text:
            return False
        place = text.find(word)
        while place >= 0:
            around = text[place - 1 : place] + text[place + len(word) : place + len(word) + 1]
            if not any(c.isalnum() for c in around):
                return True
            place = text.find(word, place + max(1, len(word)))
        return False

    @cached_property
    def short_texts(self) -> list[tuple[Leaf, str]]:
        """The short texts of the results, folded."""
        return [
            (leaf, " ".join(split_tokens(leaf.value)))
            for leaf in self.leaves
            if isinstance(leaf.value, str) and 0 < len(leaf.value) < 60
        ]

    def quote(self, leaf: Leaf) -> str:
        """The piece of the result that holds this leaf, exactly as it stands there; "" if it cannot
        be pointed at.
        """
        text = self.texts.get(leaf.result, "")
        if leaf.key == "" and not leaf.path and not isinstance(leaf.value, str):
            return text[:240]
        value = leaf.part or leaf.value
        key = leaf.path[-1] if leaf.path and isinstance(leaf.path[-1], str) else None
        tries = (
            []
            if key is None or leaf.part
            else [f"{to_canonical_json(key)}:{to_canonical_json(value)}"]
        )
        tries += [value if isinstance(value, str) else "", to_canonical_json(value)]
        return next((t[:240] for t in tries if t and t[:240] in text), "")


def _iter_todays(text: str) -> Iterator[Moment]:
    """Yield the dates of a text before which it speaks of today."""
    for line in text.split("\n"):
        for moment in moments_in(line, language_of(line)) if any(map(str.isdigit, line)) else ():
            before = fold_text(line[max(0, moment.span[0] - _NEAR) : moment.span[0]])
            if any(one.says("days.says_today", before) for one in map(pack, PACKS) if one):
                yield moment


def _convert_offset_to_minutes(value: float) -> int:
    """Return an offset from UTC in minutes. Its size tells whether it is given in seconds, hours or
    minutes.
    """
    if abs(value) > 900:
        return round(value / 60)
    if abs(value) <= 14:
        return round(value * 60)
    return round(value)


def render_content(content: Json) -> str:
    """A result's content as text: what quotes are taken from. The same as ``types.canonical``, for
    plain JSON.
    """
    if isinstance(content, str):
        return content
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str
    )
