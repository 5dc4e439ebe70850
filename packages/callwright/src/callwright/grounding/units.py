"""Units of measure: what they are called, and whether one value can be another in a different
unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from callwright.language import ENGLISH


@dataclass(frozen=True, slots=True)
class Unit:
    """``value * factor + offset`` gives the dimension's reference unit."""

    name: str
    dimension: str
    factor: float = 1.0
    offset: float = 0.0


UNITS: dict[str, Unit] = {}
ALIASES: dict[str, str] = {}
"""How people and keys write a unit, lower case, words joined by a space -> its name."""

for _dimension, _units in ENGLISH.file("units").items():
    for _name, _about in _units.items():
        UNITS[_name] = Unit(_name, _dimension, _about["factor"], _about.get("offset", 0.0))
        for _word in _about["names"]:
            ALIASES[_word.rstrip("_").replace("_", " ")] = _name

CENT = "cent"
"""A hundredth of any currency."""

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
_BINARY = {"KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}


def is_same_unit(a: str, b: str) -> bool:
    """Return True if two unit names may mean the same unit ("" means: not stated)."""
    return not a or not b or a == b or frozenset((a, b)) in _TOLERANT


def convert_value(value: float, source: str, target: str) -> tuple[float, ...]:
    """``value`` in ``source`` expressed in ``target``; empty where no conversion exists (money
    included).
    """
    a, b = UNITS.get(source), UNITS.get(target)
    if a is None or b is None or a.dimension != b.dimension or a.dimension in ("money", "share"):
        return ()
    found = [(value * a.factor + a.offset - b.offset) / b.factor]
    if "hp" in (source, target):  # metric and mechanical horsepower go by one name
        found.append(
            found[0] * (735.49875 / 745.699872 if target == "hp" else 745.699872 / 735.49875)
        )
    if a.dimension == "data":
        low, high = _BINARY.get(source, a.factor), _BINARY.get(target, b.factor)
        found.append(value * low / high)
    return tuple(found)


RATES = {
    (way.name, time.name): speed.name
    for speed, way, time in product(UNITS.values(), UNITS.values(), (UNITS["h"], UNITS["s"]))
    if (speed.dimension, way.dimension) == ("speed", "length")
    and math.isclose(speed.factor / UNITS["m/s"].factor, way.factor / time.factor, rel_tol=1e-4)
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
