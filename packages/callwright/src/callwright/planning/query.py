"""Analyses a query about tools and their inputs: the part that asks for each tool, and the values
that are given.

Everything here is relative to one query and one list of tools, so that it means the same in every
domain.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from callwright.dataflow.flow import GENERIC, STOP, Field, Profile, parse_word_set, split_words
from callwright.language import FEATURES_V1

_CLAUSE = FEATURES_V1.pattern("query.clause")
_LATER = FEATURES_V1.pattern("query.later")
_POINTS_BACK = FEATURES_V1.pattern("query.points_back")
_TOKEN = FEATURES_V1.pattern("query.token")

_VALUES = tuple(
    (kind, FEATURES_V1.pattern(f"query.value_{kind}"))
    for kind in FEATURES_V1.listed("query.value_kinds")
)


_KINDS = tuple(
    (kind, parse_word_set(telling)) for kind, telling in FEATURES_V1.table("query.kinds").items()
)
_FITS = {kind: parse_word_set(fitting) for kind, fitting in FEATURES_V1.table("query.fits").items()}


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a query that asks for one tool: words ``start`` to ``stop``. Shares are of the
    whole query.
    """

    start: int
    stop: int
    place: float  # where it begins, 0..1; 0.5 if the query does not ask for the tool
    first: float  # where the first telling word of the tool stands at all
    cover: float  # share of the tool's telling weight found in the part
    clause: int
    found: bool
    later: bool  # it opens with "then", "based on", "using the" ...
    back: bool  # it points back: "it", "those", "the results"
    values: int  # how many values it gives
    bits: int  # its word positions as bits; none if not found


@dataclass(frozen=True, slots=True)
class Given:
    """Evidence that the query gives an input's value; 0..1 except ``count``."""

    named: float  # share of the input's telling words found in the query
    near: float  # a fitting value stands close to such a word
    enum: float  # one of the allowed values stands in the query
    count: int  # values in the query that fit the input's kind
    local: float  # the same judged within the tool's own part
    strength: float  # all of it together


class QueryView:
    """One query, read once. ``tools`` decide which words are telling."""

    def __init__(self, text: str, tools: Sequence[Profile]) -> None:
        self.text = text
        self.lower = f" {text.lower()} "
        self.starts: list[int] = []
        self.places: dict[str, list[int]] = {}
        for i, m in enumerate(_TOKEN.finditer(text)):
            self.starts.append(m.start())
            for word in split_words(m.group()):
                self.places.setdefault(word, []).append(i)
        self.own = dict(
            self.places
        )  # only what the query says itself; `where` adds akin words to `places`
        self.stems: dict[str, list[str]] = {}
        for word in self.own:
            if len(word) > 4:
                self.stems.setdefault(word[:5], []).append(word)
        self.size = max(1, len(self.starts))
        self.masks: dict[str, int] = {}  # word -> its positions as bits
        self.spoken_in: dict[int, tuple[frozenset[str], tuple[str, ...]]] = {}
        self.values = self._values()
        self.breaks = sorted(
            {0, *(min(self.size - 1, self._word_at(m.end())) for m in _CLAUSE.finditer(text))}
        )
        counts = Counter(w for p in tools for w in {*p.subject, *p.about, *split_words(p.name)})
        self.rarity = {w: log(1 + len(tools) / n) for w, n in counts.items()}
        self.parts = self._divide(tools)

    def _word_at(self, offset: int) -> int:
        return bisect_left(self.starts, offset)

    def _values(self) -> list[tuple[str, int]]:
        """(kind, word position) of everything that looks like a value, the most special kind once
        per place.
        """
        taken: list[tuple[int, int]] = []
        found: list[tuple[str, int]] = []
        for kind, pattern in _VALUES:
            for m in pattern.finditer(self.text):
                if not any(m.start() < b and a < m.end() for a, b in taken):
                    taken.append(m.span())
                    found.append((kind, self._word_at(m.start())))
        return found

    def where(self, word: str) -> list[int]:
        """Word positions of a word in the query; a longer form with the same first letters counts
        too.
        """
        found = self.places.get(word)
        if found is None:
            near = self.stems.get(word[:5], ()) if len(word) > 4 else ()
            found = sorted(i for w in near for i in self.own[w] if _has_common_stem(w, word))
            self.places[word] = found
        return found

    def speaks(self, word: str, part: Part) -> bool:
        """Return True if a word stands in a part of the query that was found."""
        mask = self.masks.get(word)
        if mask is None:
            mask = self.masks[word] = sum(1 << i for i in self.where(word))
        return mask & part.bits != 0

    def after(self, word: str, part: Part) -> bool:
        """Return True if a word stands after a part."""
        found = self.where(word)
        return bool(found) and found[-1] >= part.stop

    def weights(self, tool: Profile) -> dict[str, float]:
        """The telling words of a tool, by how much they tell it from the others."""
        made = {w: 0.3 * self.rarity.get(w, 1.0) for w in tool.about}
        for w in split_words(tool.name):
            if w not in STOP and not w.isdigit():
                made[w] = _weigh_name_word(w, tool) * self.rarity.get(w, 1.0)
        return made

    def _divide(self, tools: Sequence[Profile]) -> list[Part]:
        """One part per tool. Tools choose clauses, the surest first; a clause chosen before is
        worth half.
        """
        weighed = [self.weights(t) for t in tools]
        hits = [{w: at for w in weights if (at := self.where(w))} for weights in weighed]
        scores: dict[tuple[int, int], float] = {}
        for k, found in enumerate(hits):
            for w, at in found.items():
                for clause in {self._clause(i) for i in at}:
                    scores[k, clause] = scores.get((k, clause), 0.0) + weighed[k][w]
        chosen = _assign_clauses(scores)
        opened = sorted(set(chosen.values()))
        return [self._part(chosen.get(k), opened, weighed[k], hits[k]) for k in range(len(tools))]

    def _part(
        self,
        clause: int | None,
        opened: Sequence[int],
        weights: dict[str, float],
        hits: dict[str, list[int]],
    ) -> Part:
        if clause is None:
            count = len(self.values)
            return Part(0, self.size, 0.5, 0.5, 0.0, -1, False, False, False, count, 0)
        start = self.breaks[clause]
        after = opened.index(clause) + 1
        stop = self.breaks[opened[after]] if after < len(opened) else self.size
        inside = sum(weights[w] for w, at in hits.items() if any(start <= i < stop for i in at))
        opening = self._text(max(0, start - 3), min(stop, start + 12))
        body = self._text(start, stop)
        return Part(
            start=start,
            stop=stop,
            place=start / self.size,
            first=min(i for at in hits.values() for i in at) / self.size,
            cover=inside / max(1e-6, sum(weights.values())),
            clause=clause,
            found=True,
            later=bool(_LATER.search(opening)),
            back=bool(_POINTS_BACK.search(body)),
            values=sum(start <= i < stop for _, i in self.values),
            bits=(1 << stop) - (1 << start),
        )

    def _clause(self, word: int) -> int:
        return bisect_right(self.breaks, word) - 1

    def _text(self, start: int, stop: int) -> str:
        first = self.starts[start] if start < len(self.starts) else len(self.text)
        return self.text[first : self.starts[stop] if stop < len(self.starts) else len(self.text)]

    def clauses(self) -> list[str]:
        """The texts of the clauses, in order; none is left out, one may be empty."""
        ends = [*self.breaks[1:], self.size]
        return [
            self._text(start, stop).strip() for start, stop in zip(self.breaks, ends, strict=True)
        ]

    def spoken(self, telling: Iterable[str], part: Part) -> float:
        """Share of the words that stand in a part of the query; 0.0 for no words or a part that was
        not found.
        """
        wanted = list(telling)
        return sum(self.speaks(w, part) for w in wanted) / len(wanted) if wanted else 0.0

    def done(self, verb: str, part: Part) -> bool:
        """Return True if a part of the query holds the past participle of a verb. The result of
        that action is then already there.
        """
        if not part.found or len(verb) < 4:
            return False
        stem = verb[:-1] if verb.endswith(("e", "y")) else verb
        return any(w.startswith(stem) for w in self._inside(part)[1])

    def shared(self, a: Part, b: Part) -> float:
        """Share of the telling words of the shorter part that stand in the other one too; 0.0 for
        the same part.
        """
        if not (a.found and b.found) or a.start == b.start:
            return 0.0
        one, other = self._inside(a)[0], self._inside(b)[0]
        return len(one & other) / max(1, min(len(one), len(other)))

    def _inside(self, part: Part) -> tuple[frozenset[str], tuple[str, ...]]:
        """The telling words of a part and its participles."""
        found = self.spoken_in.get(part.start)
        if found is None:
            inside = [
                w for w, at in self.own.items() if any(part.start <= i < part.stop for i in at)
            ]
            found = (
                frozenset(w for w in inside if w not in STOP),
                tuple(w for w in inside if w.endswith("ed")),
            )
            self.spoken_in[part.start] = found
        return found

    def given(self, wanted: Field, part: Part) -> Given:
        """Return the evidence that the query itself gives this input's value; ``part`` is the part
        of its tool.
        """
        telling = [w for w in wanted.name if w not in STOP]
        hits = [at for w in telling if (at := self.where(w))]
        named = len(hits) / max(1, len(telling))
        fits = _FITS[kind_of(wanted)]
        fitting = [i for k, i in self.values if k in fits]
        places = [i for at in hits for i in at]
        near = max((1.0 / (1 + abs(i - j) / 3) for i in places for j in fitting), default=0.0)
        enum = float(any(len(v) > 1 and f" {v.lower()}" in self.lower for v in wanted.enum))
        inside = [i for i in fitting if part.start <= i < part.stop]
        hits_inside = [at for at in hits if any(part.start <= i < part.stop for i in at)]
        named_inside = len(hits_inside) / max(1, len(telling))
        local = max(
            enum,
            0.7 * bool(inside),
            0.4 * named_inside,
            min(1.0, bool(inside) * (0.5 + named_inside)),
        )
        strength = max(enum, 0.9 * near * (0.5 + 0.5 * named), 0.4 * named, 0.25 * bool(fitting))
        return Given(named, near, enum, len(fitting), local if part.found else strength, strength)


def _assign_clauses(scores: dict[tuple[int, int], float]) -> dict[int, int]:
    """Tool -> clause, greedily by score; a clause taken before counts half. Independent of the
    order of tools.
    """
    left = dict(scores)
    taken: set[int] = set()
    chosen: dict[int, int] = {}
    while left:
        best = max(left.values())
        ties = [key for key, value in left.items() if value >= best - 1e-9]
        clause = min(c for _, c in ties)
        chosen.update({k: clause for k, c in ties if c == clause})
        worth = 1.0 if clause in taken else 0.5
        taken.add(clause)
        left = {
            (k, c): v * worth if c == clause else v for (k, c), v in left.items() if k not in chosen
        }
    return chosen


def _weigh_name_word(word: str, tool: Profile) -> float:
    """Return the weight of a word of a tool's name, before its rarity counts."""
    if word in GENERIC:
        return 0.4
    if word in tool.subject:
        return 1.0
    return 0.8


def kind_of(wanted: Field) -> str:
    """Return the kind of value that an input expects, judged by its type, name and description."""
    if wanted.type in ("integer", "number") and wanted.name[-1:] != ("id",):
        return "number"
    if wanted.type in ("boolean", "object"):
        return "none"
    for kind, telling in _KINDS:
        if telling & set(wanted.name):
            return kind
    return "text"


def _has_common_stem(a: str, b: str) -> bool:
    n = min(len(a), len(b))
    return n >= 5 and a[: max(5, n - 2)] == b[: max(5, n - 2)]
