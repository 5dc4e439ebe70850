"""Derives facts about a field's value from its key: its unit, its magnitude, its dimension."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from callwright.grounding.units import ALIASES, KEY_UNITS, TAIL_UNITS
from callwright.grounding.words import all_concepts, find_concepts, stem_word
from callwright.language import ENGLISH
from callwright.language.quantities import UNITS
from callwright.language.tokens import fold_text, key_tokens

_SQUARE = ENGLISH.words("units_written.square")
_UNIT_KEYS = ENGLISH.words("fields.unit_keys")
_MINOR_WORDS = ENGLISH.words("fields.minor")
MINOR = 0.01  # the scale of an amount in cents


def names_a_unit(key: str) -> bool:
    """Return True if a field holds the unit of the fields beside it."""
    return fold_text(key).replace("_", "") in _UNIT_KEYS


def unit_beside(value: Any) -> str:
    """The unit that a field beside the others names; "time:min" where it names it for one of them
    (``timeUnit``).
    """
    if not isinstance(value, dict):
        return ""
    for key, item in list(value.items())[:40]:
        if not isinstance(item, str) or len(item) >= 24:
            continue
        words = key_tokens(key)
        plain = "".join(words) in _UNIT_KEYS
        if plain or words[-1:] in (["unit"], ["units"], ["uom"], ["currency"]):
            unit = ALIASES.get(fold_text(item), "")
            if unit:
                return unit if plain or words[-1] == "currency" else f"{words[0]}:{unit}"
    return ""


@lru_cache(maxsize=4096)
def concepts_of_keys(keys: tuple[str, ...]) -> frozenset[str]:
    return all_concepts(w for k in keys for w in key_tokens(k[:80]))


@lru_cache(maxsize=4096)
def unit_of_field(keys: tuple[str, ...], beside: str) -> str:
    for depth, key in enumerate(reversed(keys[-2:])):
        words = key_tokens(key)
        if not words:
            continue
        if is_in_minor(key):
            break  # it counts cents of the currency that stands beside it
        pair = " ".join(words[-2:])
        if pair in _SQUARE:
            return ALIASES[pair]
        if len(words) > 2 and words[-2:] in (["per", "hour"], ["per", "second"]):
            continue
        if len(words) > 1 and words[-1] in ("h", "s", "hour") and words[-2] in ("km", "m", "mi"):
            return {"km": "km/h", "m": "m/s", "mi": "mph"}[words[-2]]
        if scaled := _SCALED.match(words[-1]):
            return ALIASES[scaled["c"]]
        if len(words) > 1 and words[-1] == "ms" and all_concepts(words[:-1]) & {"=wind", "=speed"}:
            return "m/s"  # elsewhere milliseconds
        if words == ["runtime"]:
            return "min"  # the film databases' custom
        if words[-1] in KEY_UNITS:
            return KEY_UNITS[words[-1]]
        if len(words) > 1 and words[-1] in TAIL_UNITS and depth == 0:
            return TAIL_UNITS[words[-1]]
        if words[-1] in ("min", "mins") and len(words) > 1 and find_concepts(words[-2]) & _TIMED:
            return "min"
        if depth == 0 and words[0] in KEY_UNITS and len(words) == 1:
            return KEY_UNITS[words[0]]
    for_key, _, unit = beside.rpartition(":")
    if not keys or (for_key and for_key not in key_tokens(keys[-1])):
        return ""
    return unit if _is_unit_applicable(keys[-1], unit) else ""


_TIMED = frozenset({"=duration", "time"}) | all_concepts(ENGLISH.words("fields.timed"))
_SCALED = ENGLISH.pattern("fields.scaled")
_SCALE_WORDS: Mapping[str, float] = ENGLISH.table("fields.scales")


def scale_of_field(key: str) -> float:
    """Return the magnitude that a field's key states: ``revenue_musd``, ``population_millions``,
    ``price_cents``; 1 if none.
    """
    words = key_tokens(key)
    if not words:
        return 1.0
    if is_in_minor(key):
        return MINOR
    found = _SCALED.match(words[-1])
    if found:
        return _SCALE_WORDS[found["s"]]
    return next((_SCALE_WORDS[w] for w in words[1:] if w in _SCALE_WORDS and len(w) > 2), 1.0)


def is_in_minor(key: str) -> bool:
    """Return True if a field's key says that it holds an amount in cents or the like."""
    words = key_tokens(key)
    return words[-1:] != [] and words[-1] in _MINOR_WORDS and words[-2:-1] != ["per"]


@lru_cache(maxsize=4096)
def list_dimensions(key: str) -> frozenset[str | None]:
    """The dimensions that a value of this key may have, None among them for a plain count; empty
    where its words do not tell. "high" and "low" may be the most and the least of anything.
    """
    found = (all_concepts([word]) for word in key_tokens(key[:80]))
    own = frozenset().union(*(one for one in found if one.isdisjoint(_EXTREMES)))
    return frozenset().union(*(_DIMENSIONS[name] for name in own & _DIMENSIONS.keys()))


def _is_unit_applicable(key: str, unit: str) -> bool:
    """Return True if a unit in a neighbouring field (currency, unit) applies to the field of
    ``key``. One of temperatures applies to no humidity, wind or rain.
    """
    words = {stem_word(w) for w in key_tokens(key)}
    if not unit or words & _COUNTS:
        return False
    if (dimension := UNITS[unit].dimension) == "temperature":
        return dimension in (list_dimensions(key) or {dimension})
    return UNITS[unit].dimension != "money" or bool(words & _MONETARY)


_EXTREMES = frozenset({"=highest", "=lowest"})
_DIMENSIONS = {
    f"={name}": frozenset(found or [None])
    for name, found in ENGLISH.table("fields.dimensions").items()
}
_MONETARY = {stem_word(w) for w in ENGLISH.words("fields.monetary")}
_COUNTS = {stem_word(w) for w in ENGLISH.words("fields.counts")}
