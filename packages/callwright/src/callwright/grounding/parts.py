"""Part and whole: two fields of one record that the sentence speaks of, as a share, a rest or a
rate.

"Alder uses 80 % of its memory" over ``memory_gb`` and ``used_gb``; "lost five of 12" over ``races``
and ``wins``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from callwright.grounding.binding import key_concepts
from callwright.grounding.claims import Claims
from callwright.grounding.facts import Facts, Figure, Leaf
from callwright.grounding.lexicon import REST
from callwright.grounding.quantity import Number
from callwright.language.quantities import UNITS, convert_value

_RECORDS = 40
_FIELDS = 16


def iter_parts(n: Number, claims: Claims, facts: Facts) -> Iterator[tuple[str, float, list[Leaf]]]:
    """Shares, rests and rates within the records that the sentence names (the only record, where it
    names none).
    """
    rest = claims.announces(REST)
    speed = bool(n.unit) and UNITS[n.unit].dimension == "speed"
    if not (rest or speed or n.unit == "%"):
        return
    for figures in _iter_records(claims, facts):
        for f, g in itertools.permutations(figures, 2):
            leaves = [f.leaf, g.leaf]
            if speed:
                yield from (
                    (f"{f.leaf.where} per {g.leaf.where}", v, leaves)
                    for v in _compute_rates(f, g, n.unit)
                )
                continue
            pair = _find_part(f, g, claims)
            if pair is None:
                continue
            part, whole = pair
            if n.unit == "%":
                yield f"{f.leaf.where} of {g.leaf.where}", 100 * part / whole, leaves
                if rest:
                    yield (
                        f"{g.leaf.where} without {f.leaf.where}",
                        100 * (whole - part) / whole,
                        leaves,
                    )
            elif rest and (n.unit in ("", g.unit) or convert_value(1.0, g.unit, n.unit)):
                left = whole - part
                for value in (
                    {left, *convert_value(left, g.unit, n.unit)} if n.unit != g.unit else {left}
                ):
                    yield f"{g.leaf.where} without {f.leaf.where}", value, leaves


def _iter_records(claims: Claims, facts: Facts) -> Iterator[list[Figure]]:
    """The figures of every record that the sentence is about, those the fields themselves name
    first.
    """
    fields = [
        [
            f
            for f in figures
            if f.number is not None and not f.leaf.part and isinstance(f.leaf.value, int | float)
        ]
        for figures in itertools.islice(facts.fields.values(), 400)
    ]
    fields = [figures for figures in fields if len(figures) > 1]
    named = [fs for fs in fields if any(m.labels & fs[0].leaf.labels for m in claims.mentions)]
    for figures in (named or (fields if len(fields) == 1 else []))[:_RECORDS]:
        ranked = sorted(figures, key=lambda f: not key_concepts(f.leaf.key) & claims.attributes)
        yield ranked[:_FIELDS]


def _find_part(f: Figure, g: Figure, claims: Claims) -> tuple[float, float] | None:
    """The values of a part and its whole: one kind of thing, the smaller one first, one of them
    spoken of.
    """
    if (
        f.number is None
        or g.number is None
        or f.unit != g.unit
        or f.unit in ("%", "C", "F", "K", "deg")
    ):
        return None
    if not 0 <= f.number.value <= g.number.value or not g.number.value:
        return None
    spoken = [bool(key_concepts(x.leaf.key) & claims.attributes) for x in (f, g)]
    return (
        (f.number.value, g.number.value)
        if any(spoken) and (f.unit or _is_count_pair(f, g))
        else None
    )


def _is_count_pair(f: Figure, g: Figure) -> bool:
    """Return True if two values without a unit are both counts."""
    return all(x.number is not None and x.number.value == int(x.number.value) for x in (f, g))


def _compute_rates(f: Figure, g: Figure, unit: str) -> list[float]:
    """A way over a time, as a speed in ``unit``."""
    if f.number is None or g.number is None or not f.unit or not g.unit:
        return []
    if (
        UNITS[f.unit].dimension != "length"
        or UNITS[g.unit].dimension != "time"
        or not g.number.value
    ):
        return []
    metres, seconds = f.number.value * UNITS[f.unit].factor, g.number.value * UNITS[g.unit].factor
    return list(convert_value(metres / seconds, "m/s", unit))
