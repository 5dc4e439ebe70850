"""Whose value is it, and of what? The right number of the wrong record is as false as a wrong number.

A statement's anchors are the names it mentions near the value (which records) and the words around it (which fields).
A figure with the stated value holds only if no other figure fits the anchors strictly better and says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callwright.answer.claims import Claims, Mention
from callwright.answer.facts import Facts, Figure
from callwright.answer.matching import same_moment, same_number
from callwright.answer.quantity import Moment, Number
from callwright.answer.units import UNITS, conversions
from callwright.answer.words import all_concepts, key_tokens

_CANDIDATES = 60
_RIVALS = 600


@dataclass(frozen=True, slots=True)
class Bound:
    """``figure`` holds; or ``rival`` is what the anchors point at instead, and ``taken`` whose value was stated."""

    figure: Figure | None = None
    rival: Figure | None = None
    taken: Figure | None = None
    only: bool = False  # the rival is the only one


@dataclass(frozen=True, slots=True)
class _Anchors:
    mentions: tuple[Mention, ...]
    near: frozenset[str]  # attribute words of the clause
    all: frozenset[str]  # of the sentence

    def entities(self, figure: Figure) -> frozenset[int]:
        labels = figure.leaf.labels
        return frozenset(i for i, m in enumerate(self.mentions) if m.labels & labels)

    def attributes(self, figure: Figure) -> frozenset[str]:
        return self.near & figure.leaf.attributes


def bind(
    candidates: Sequence[Figure], claim: Number | Moment, claims: Claims, facts: Facts, cited: Sequence[str]
) -> Bound:
    """Choose the figure that a stated value rests on, or say which one it should have been."""
    anchors = _Anchors(tuple(claims.near(claim.span)), claims.clause_of(claim.span).attributes, claims.attributes)
    ranked = sorted(
        candidates[:2000],
        key=lambda f: (
            -len(anchors.entities(f)), -len(anchors.attributes(f)), f.leaf.result not in cited, bool(f.leaf.part)
        ),
    )[:_CANDIDATES]  # fmt: skip
    beaten: Figure | None = None
    first: Figure | None = None
    for figure in ranked:
        rival = _rival(figure, claim, anchors, facts)
        if rival is None:
            return Bound(figure)
        if beaten is None:
            beaten, first = rival, figure
    if first is not None:
        return Bound(None, beaten, first, only=True)
    return _expected(claim, anchors, facts, cited)


def _rival(figure: Figure, claim: Number | Moment, anchors: _Anchors, facts: Facts) -> Figure | None:
    """A figure that fits the anchors strictly better and says otherwise."""
    entities, attributes = anchors.entities(figure), anchors.attributes(figure)
    for other in _siblings(figure, facts):
        if other.leaf is figure.leaf or not _comparable(claim, other) or _says(claim, other):
            continue
        theirs = anchors.entities(other)
        if theirs > entities and other.leaf.key == figure.leaf.key and anchors.attributes(other) >= attributes:
            return other
    for other in _neighbours(figure, facts):
        if other.leaf is figure.leaf or not _comparable(claim, other) or _says(claim, other):
            continue
        if (
            anchors.attributes(other) > attributes
            and anchors.entities(other) >= entities
            and _unsaid(figure, anchors)
            and not _unsaid(other, anchors) - _unsaid(figure, anchors) - _weak(other)
        ):
            return other
    return None


def _weak(figure: Figure) -> frozenset[str]:
    return all_concepts(key_tokens(figure.leaf.key))


def _unsaid(figure: Figure, anchors: _Anchors) -> frozenset[str]:
    """The words of the figure's own key that the sentence does not use."""
    return frozenset(w for w in key_tokens(figure.leaf.key) if not all_concepts([w]) & anchors.all)


def _siblings(figure: Figure, facts: Facts) -> Iterable[Figure]:
    return facts.keys.get(figure.leaf.key, ())[:_RIVALS]


def _neighbours(figure: Figure, facts: Facts) -> Iterable[Figure]:
    return facts.fields.get((figure.leaf.result, figure.leaf.record), ())[:200]


def _comparable(claim: Number | Moment, other: Figure) -> bool:
    if isinstance(claim, Moment):
        return other.moment is not None and (
            (claim.has_time and other.moment.has_time) or (not claim.has_time and other.moment.has_date)
        )
    if other.number is None or isinstance(other.leaf.value, str) and other.leaf.part:
        return False
    if not claim.unit or not other.unit or claim.unit == other.unit:
        return True
    a, b = UNITS[claim.unit], UNITS[other.unit]
    return a.dimension == b.dimension or bool(conversions(1.0, claim.unit, other.unit))


def _says(claim: Number | Moment, other: Figure) -> bool:
    return bool(same_moment(claim, other) if isinstance(claim, Moment) else same_number(claim, other))


def _expected(claim: Number | Moment, anchors: _Anchors, facts: Facts, cited: Sequence[str]) -> Bound:
    """The stated value stands nowhere: which figure do the anchors mean?"""
    scored: list[tuple[tuple[int, int, int], Figure]] = []
    for figure in facts.figures[:4000]:
        if not _comparable(claim, figure):
            continue
        attributes = anchors.attributes(figure) & _weak(figure)
        if not attributes:
            continue
        entities = anchors.entities(figure)
        scored.append(((len(entities), len(attributes), int(figure.leaf.result in cited)), figure))
    if not scored:
        return Bound()
    best = max(s for s, _ in scored)
    top = [f for s, f in scored if s == best]
    values = {f.leaf.path + (f.leaf.result,) for f in top}
    needs = bool(anchors.mentions)
    if needs and best[0] == 0:
        return Bound()
    return Bound(None, top[0], None, only=len(values) == 1)
