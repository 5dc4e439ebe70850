"""Sums and averages: over a whole column, or over the records that a name of the sentence has in
common.

A total of a whole column, or of all that share a name, needs no announcement: "the way is 420 km
long" over two legs. One of any other choice of values does, because any number can be had by
choosing enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callwright.grounding.binding import key_concepts
from callwright.grounding.claims import Claims
from callwright.grounding.facts import Facts, Figure, Leaf
from callwright.grounding.lexicon import AVERAGE, DIFFERENCE, EACH, REST, SUM
from callwright.grounding.quantity import Number
from callwright.grounding.units import is_same_unit
from callwright.language.quantities import convert_value

COLUMN = 4000
_COLUMNS = 2000
_HOMES = 24

Told = list[tuple[float, Figure]]


@dataclass(frozen=True, slots=True)
class Total:
    """Total of several values, in the requested unit. ``complete``: it includes every value it
    could mean.
    """

    name: str
    key: str
    value: float
    leaves: tuple[Leaf, ...]
    unit: str = ""
    spoken: bool = False  # the sentence has a word for the field
    complete: bool = False
    mean: bool = False


def iter_totals(unit: str, claims: Claims, facts: Facts) -> Iterator[Total]:
    """The sums that the sentence may mean, in ``unit``, and the averages where it speaks of one."""
    mean = claims.announces(AVERAGE)
    wide = len(facts.keys) > 60
    for key, column in itertools.islice(facts.keys.items(), _COLUMNS):
        spoken = bool(key_concepts(key) & claims.attributes)
        if len(column) < 2 or (wide and not spoken):
            continue
        for pairs, complete in _iter_choices(column_in_unit(column, unit), claims):
            total, leaves = sum(v for v, _ in pairs), tuple(f.leaf for _, f in pairs[:4])
            yield Total(f"the sum of {key}", key, total, leaves, pairs[0][1].unit, spoken, complete)
            if mean:
                average = total / len(pairs)
                yield Total(
                    f"the average of {key}",
                    key,
                    average,
                    leaves,
                    pairs[0][1].unit,
                    spoken,
                    mean=True,
                )


def column_in_unit(column: Sequence[Figure], unit: str) -> Told:
    """The column's values in ``unit``; those that cannot be told in it are left out."""
    found = []
    for figure in column[:COLUMN]:
        if figure.number is None:
            continue
        if is_same_unit(unit, figure.unit):
            found.append((figure.number.value, figure))
        else:
            found += [
                (v, figure) for v in convert_value(figure.number.value, figure.unit, unit)[:1]
            ]
    return found


def _iter_choices(pairs: Told, claims: Claims) -> Iterator[tuple[Told, bool]]:
    """Yield the groups of values to be totalled: those that the sentence names, all of them, all of
    one list.
    """
    covered = [[p for p in pairs if m.labels & p[1].leaf.labels] for m in claims.mentions]
    parts = [c for c in covered if c and len(c) < len(pairs)]
    named = [p for p in pairs if any(p in c for c in parts)] if parts else []
    homes: dict[tuple[str, tuple[str, ...]], Told] = {}
    for pair in pairs:
        homes.setdefault((pair[1].leaf.result, pair[1].leaf.shape), []).append(pair)
    shared = len(parts) == 1 and _one_list(named)
    for chosen, complete in (
        (named, shared),
        (pairs, not parts and len(homes) == 1 and _one_list(pairs)),
        *((home, False) for home in (list(homes.values())[:_HOMES] if len(homes) > 1 else ())),
    ):
        if len(chosen) > 1:
            yield chosen, complete


def _one_list(pairs: Told) -> bool:
    """Return True if the values are the same field of different records of one list, each included
    once.
    """
    return (
        len({(f.leaf.result, f.leaf.shape) for _, f in pairs}) == 1
        and len({f.leaf.path for _, f in pairs}) == len(pairs)
        and not any(f.leaf.part for _, f in pairs)
    )


def is_announced(total: Total, n: Number, claims: Claims) -> bool:
    """Return True if the stated number may be this total. Either the sentence announces a total, or
    the total is complete and of a field that the sentence means.
    """
    meant = total.spoken or bool(n.unit and total.unit)
    return total.mean or claims.announces(SUM) or (total.complete and meant)


def iter_comparisons(
    n: Number, claims: Claims, facts: Facts
) -> Iterator[tuple[str, float, list[Leaf]]]:
    """A total held against another one, against an amount of the question, against a part of it, or
    told per day.
    """
    share, gap = n.unit == "%", claims.announces(DIFFERENCE) or claims.announces(REST)
    if not (share or gap or claims.announces(EACH)):
        return
    every = [
        t
        for t in iter_totals("" if share else n.unit, claims, facts)
        if not t.mean and (t.spoken or t.complete)
    ]
    sums = [t for t in every if t.spoken or t.unit][:12]
    asked = [
        q
        for q in (*facts.query_numbers, *claims.numbers)
        if q is not n and q.span != n.span and q.value
    ]
    amounts = [(f"the {q.value:g} of the question", q.value, q.unit) for q in asked[:6]]
    for total in sums:
        leaves = list(total.leaves)
        others = [
            (t.name, t.value, t.unit)
            for t in every[:24]
            if t.key != total.key and (t in sums or _has_same_records(t, total))
        ]
        for name, value, unit in (*others, *amounts):
            if not value or (unit and total.unit and unit != total.unit):
                continue
            if share:
                yield f"{total.name} over {name}", 100 * total.value / value, leaves
            elif gap:
                yield f"{total.name} against {name}", abs(value - total.value), leaves
        if share and total.value:
            yield from _of_total(total, claims, facts)
        days = _count_days(total, facts)
        if claims.announces(EACH) and days > 1:
            yield f"{total.name} over {days} days", total.value / days, leaves


def _has_same_records(a: Total, b: Total) -> bool:
    """Return True if two totals cover the same records: "300 bottles remain" of those held and
    those sold.
    """
    return a.complete and b.complete and a.leaves[0].shape[:-1] == b.leaves[0].shape[:-1]


def _of_total(
    total: Total, claims: Claims, facts: Facts
) -> Iterator[tuple[str, float, list[Leaf]]]:
    """Yield the share of a named record in the total, in per cent."""
    for figure in facts.keys.get(total.key, ())[:COLUMN]:
        if figure.number is not None and any(
            m.labels & figure.leaf.labels for m in claims.mentions
        ):
            yield (
                f"{figure.leaf.where} of {total.name}",
                100 * figure.number.value / total.value,
                [figure.leaf],
            )


def _count_days(total: Total, facts: Facts) -> int:
    """On how many different days the records of a total fall."""
    results = {leaf.result for leaf in total.leaves}
    dated = [
        f.moment
        for f in facts.moment_figures[:COLUMN]
        if f.leaf.result in results and f.moment is not None
    ]
    return len({(m.year, m.month, m.day) for m in dated if m.day is not None})
