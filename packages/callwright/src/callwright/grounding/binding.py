"""Binds a stated value to the record and the field it belongs to. The right number of the wrong
record is as false as a wrong number.

A statement's anchors are the names it mentions near the value (which records) and the words around
it (which fields). A figure with the stated value holds under two conditions. No other figure fits
the anchors strictly better and contradicts it. The names above it are not of a kind that the
statement fills with another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from callwright.grounding.claims import Claims, Mention
from callwright.grounding.facts import Facts, Figure, Leaf
from callwright.grounding.matching import same_moment, same_number
from callwright.grounding.quantity import Moment, Number, is_overlapping
from callwright.grounding.words import all_concepts
from callwright.language.quantities import UNITS, convert_value
from callwright.language.tokens import key_tokens, squash_text

_CANDIDATES = 24
_CODE = re.compile(r"[A-Za-z]\w*(?:[-_/.:#]\w+)*")
_RIVALS = 300


@dataclass(frozen=True, slots=True)
class Bound:
    """``figure`` holds; or ``rival`` is what the anchors point at instead, and ``taken`` whose
    value was stated.
    """

    figure: Figure | None = None
    rival: Figure | None = None
    taken: Figure | None = None
    only: bool = False  # the rival is the only one


@dataclass(frozen=True, slots=True)
class Anchors:
    """Anchors of a claim: the names it may belong to, and the words that may name its field."""

    mentions: tuple[Mention, ...]
    near: frozenset[str]
    all: frozenset[str]
    said: frozenset[str]  # labels of every mention of the sentence

    def entities(self, leaf: Leaf) -> frozenset[int]:
        return frozenset(i for i, m in enumerate(self.mentions) if m.labels & leaf.labels)

    def attributes(self, leaf: Leaf) -> frozenset[str]:
        return self.near & leaf.attributes


def anchors_of(claims: Claims, span: tuple[int, int], *, dated: bool = True) -> Anchors:
    """The anchors of what stands at ``span``; ``dated=False`` leaves the days out."""
    mentions = [m for m in claims.near(span) if dated or not _is_day(m)]
    said = frozenset(
        label for m in claims.mentions if not is_overlapping(m.span, span) for label in m.labels
    )
    return Anchors(tuple(mentions), claims.words_near(span), claims.attributes, said)


def _is_day(mention: Mention) -> bool:
    return any(label.startswith("@") for label in mention.labels)


def bind_figure(
    candidates: Sequence[Figure],
    claim: Number | Moment,
    claims: Claims,
    facts: Facts,
    cited: Sequence[str],
) -> Bound:
    """Choose the figure that a stated value rests on, or say which one it should have been."""
    anchors = anchors_of(
        claims, claim.span, dated=not (isinstance(claim, Moment) and claim.has_date)
    )
    ranked = sorted(candidates[:2000], key=lambda f: _rank_leaf(f.leaf, anchors, cited))[
        :_CANDIDATES
    ]
    beaten: Figure | None = None
    first: Figure | None = None
    for figure in ranked:
        rival = _find_rival(figure, claim, anchors, facts)
        if rival is None and not is_conflicting(figure.leaf, anchors, facts):
            return Bound(figure)
        first = first or figure
        beaten = beaten or rival
    expected = _find_expected(claim, anchors, facts, cited)
    if first is not None:
        return Bound(
            None, beaten or expected.rival, first, only=beaten is not None or expected.only
        )
    return expected


def _rank_leaf(leaf: Leaf, anchors: Anchors, cited: Sequence[str]) -> tuple[int, int, bool, bool]:
    return (
        -len(anchors.entities(leaf)),
        -len(anchors.attributes(leaf)),
        leaf.result not in cited,
        bool(leaf.part),
    )


def is_conflicting(leaf: Leaf, anchors: Anchors, facts: Facts, listed: str = "") -> bool:
    """Return True if the leaf stands under names of a kind that the statement fills with other
    names.

    A leaf of the record ``title: Monte Olvera`` cannot support a statement about ``title:
    Skarvtind``, even if both are of the same day. ``listed``: a key whose values may stand beside
    each other, with what belongs to their records: "the order O-5005 is open, and O-5006 …".
    """
    apart = _labels_beside(anchors, listed, facts) if listed else frozenset()
    named = [m for m in anchors.mentions if not _is_day(m) and not m.labels & apart]
    if (
        not named
        or any(m.labels & leaf.labels for m in named)
        or _has_name(leaf.labels & anchors.said)
    ):
        return False
    kinds = {kind for label in leaf.labels for kind in facts.origins.get(label, ())}
    return any(kinds & facts.origins.get(label, set()) for m in named for label in m.labels)


def _labels_beside(anchors: Anchors, key: str, facts: Facts) -> frozenset[str]:
    """The labels of all records that a statement names by their value of this key."""
    names = [
        label
        for mention in anchors.mentions
        for label in mention.labels
        if facts.origins.get(label) == {key}
    ]
    homes = (leaf for name in names for leaf in facts.texts_by_value.get(squash_text(name), ()))
    return frozenset(label for leaf in homes for label in leaf.labels)


def _has_name(labels: frozenset[str]) -> bool:
    """Return True if any of the labels is a name rather than a day."""
    return any(not label.startswith("@") for label in labels)


def _find_rival(
    figure: Figure, claim: Number | Moment, anchors: Anchors, facts: Facts
) -> Figure | None:
    """A figure that fits the anchors strictly better and says otherwise."""
    leaf = figure.leaf
    entities, attributes = anchors.entities(leaf), anchors.attributes(leaf)
    for other in facts.keys.get(leaf.key, ())[:_RIVALS]:
        fits = bool(other.leaf.part) or anchors.attributes(other.leaf) >= attributes
        if (
            fits
            and anchors.entities(other.leaf) > entities
            and _is_rival_value(figure, other, claim, facts)
        ):
            return other
    if leaf.part or not _has_unsaid_word(leaf, anchors):
        return None
    for other in _list_neighbours(figure, facts):
        fits = anchors.entities(other.leaf) >= entities
        if (
            fits
            and anchors.attributes(other.leaf) > attributes
            and _is_rival_value(figure, other, claim, facts)
        ):
            return other
    if attributes & key_concepts(leaf.key) or isinstance(claim, Moment):
        return None
    for other in facts.of_result(leaf.result):
        if (
            not isinstance(other.leaf.value, int | float)
            or not anchors.entities(other.leaf) >= entities
        ):
            continue
        named = any(n.startswith("=") for n in anchors.near & key_concepts(other.leaf.key))
        if named and not other.leaf.part and _is_rival_value(figure, other, claim, facts):
            return other
    return None


def _is_rival_value(figure: Figure, other: Figure, claim: Number | Moment, facts: Facts) -> bool:
    if (
        other.leaf is figure.leaf
        or not _is_comparable(claim, other, figure)
        or _is_claimed_value(claim, other)
    ):
        return False
    return not _turned_into(other, figure, facts)


def _turned_into(other: Figure, figure: Figure, facts: Facts) -> bool:
    """Return True if the figure is the other one converted into another unit. Its call was given
    that number.
    """
    if other.number is None or not figure.unit or not other.unit or figure.unit == other.unit:
        return False
    return other.number.value in facts.given_to.get(figure.leaf.result, ())


@lru_cache(maxsize=4096)
def key_concepts(key: str) -> frozenset[str]:
    """Return the concepts in a field's own key."""
    return all_concepts(key_tokens(key[:80]))


def _has_unsaid_word(leaf: Leaf, anchors: Anchors) -> bool:
    """Return True if the field's own key has a word that the sentence does not use."""
    return any(not all_concepts([w]) & anchors.all for w in key_tokens(leaf.key))


def _list_neighbours(figure: Figure, facts: Facts) -> Iterable[Figure]:
    return facts.fields.get((figure.leaf.result, figure.leaf.record), ())[:200]


def _is_comparable(claim: Number | Moment, other: Figure, figure: Figure | None = None) -> bool:
    if isinstance(claim, Moment):
        return other.moment is not None and _same_part(claim, other.moment)
    if other.number is None or _is_in_code(other):
        return False
    if figure is not None and _is_year(figure) and not claim.unit and not _is_year(other):
        return False
    if not claim.unit or not other.unit or claim.unit == other.unit:
        return not (other.leaf.part and claim.unit and not other.unit)
    a, b = UNITS[claim.unit], UNITS[other.unit]
    return a.dimension == b.dimension or bool(convert_value(1.0, claim.unit, other.unit))


def _same_part(claim: Moment, other: Moment) -> bool:
    """Return True if both state a time, or both a day. A weekday alone cannot stand for a date."""
    if claim.has_time:
        return other.has_time
    return other.month is not None if claim.month is not None else other.has_date


def _is_in_code(figure: Figure) -> bool:
    """Return True if a number is part of a code, which is no amount: "O-5005"."""
    text = figure.leaf.value
    return isinstance(text, str) and not figure.unit and _CODE.fullmatch(text) is not None


def _is_year(figure: Figure) -> bool:
    return figure.number is not None and not figure.unit and 1000 <= figure.number.value <= 2100


def _is_claimed_value(claim: Number | Moment, other: Figure) -> bool:
    return bool(
        same_moment(claim, other) if isinstance(claim, Moment) else same_number(claim, other)
    )


def _find_expected(
    claim: Number | Moment, anchors: Anchors, facts: Facts, cited: Sequence[str]
) -> Bound:
    """The stated value does not hold: which figure do the anchors mean?"""
    scored: list[tuple[tuple[int, int, int], Figure]] = []
    for figure in facts.figures[:4000]:
        if not _is_comparable(claim, figure):
            continue
        attributes = anchors.attributes(figure.leaf) & key_concepts(figure.leaf.key)
        if attributes:
            entities = anchors.entities(figure.leaf)
            scored.append(
                ((len(entities), len(attributes), int(figure.leaf.result in cited)), figure)
            )
    if not scored:
        return Bound()
    best = max(score for score, _ in scored)
    if anchors.mentions and best[0] == 0:
        return Bound()
    top = [figure for score, figure in scored if score == best]
    return Bound(None, top[0], None, only=len({(f.leaf.result, f.leaf.path) for f in top}) == 1)
