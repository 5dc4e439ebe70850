"""Units of measure: how they are written, and which may be the same."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import product

from callwright.language import ENGLISH
from callwright.language.quantities import UNITS

ALIASES: dict[str, str] = {}
"""How people and keys write a unit, lower case, words joined by a space -> its name."""

for _units in ENGLISH.file("units").values():
    for _name, _about in _units.items():
        for _word in _about["names"]:
            ALIASES[_word.rstrip("_").replace("_", " ")] = _name

# Keys write units as last words: distance_km, tempC, price_usd, durationMinutes, total_sqft.
KEY_UNITS = {a: n for a, n in ALIASES.items() if re.fullmatch(r"[a-z]{2,}|[a-z]{1,3}[23]?", a)} | {
    "pct": "%"
}
for _short in ENGLISH.listed("units_written.not_in_keys"):
    KEY_UNITS.pop(_short, None)
# What only a last word of a key says: distance_m, temp_c, wind_mi; "min" is a minimum unless the
# key is a time.
TAIL_UNITS: Mapping[str, str] = ENGLISH.table("units_written.last_in_keys")

_TOLERANT = {
    frozenset(("m", "min")),
    frozenset(("deg", "C")),
    frozenset(("deg", "F")),
    frozenset(("deg", "K")),
}


def is_same_unit(a: str, b: str) -> bool:
    """Return True if two unit names may mean the same unit ("" means: not stated)."""
    return not a or not b or a == b or frozenset((a, b)) in _TOLERANT


RATES = {
    (way, time): speed
    for speed, way, time in product(UNITS, UNITS, ("h", "s"))
    if (UNITS[speed].dimension, UNITS[way].dimension) == ("speed", "length")
    and math.isclose(
        UNITS[speed].factor / UNITS["m/s"].factor,
        UNITS[way].factor / UNITS[time].factor,
        rel_tol=1e-4,
    )
}
"""A unit of length and one of time -> that of a speed: ("km", "h") -> "km/h"."""


_AMBIGUOUS: Mapping[str, list[str]] = ENGLISH.table("units_written.ambiguous")


def list_readings(name: str) -> tuple[str, ...]:
    """The units that a written unit may stand for, the likeliest first."""
    return (name, *_AMBIGUOUS.get(name, ()))


def list_related_units(name: str) -> tuple[str, ...]:
    """The other units of the same dimension."""
    unit = UNITS.get(name)
    if unit is None or unit.dimension in ("money", "share"):
        return ()
    return tuple(n for n, u in UNITS.items() if u.dimension == unit.dimension and n != name)
