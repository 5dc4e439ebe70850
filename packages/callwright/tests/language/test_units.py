"""The factors of units are those of pint."""

from __future__ import annotations

from collections import defaultdict

import pytest

from callwright.language.quantities import UNITS

IN_PINT = {
    "m": "m", "km": "km", "cm": "cm", "mm": "mm", "mi": "mile", "nmi": "nautical_mile", "ft": "foot",
    "in": "inch", "yd": "yard", "kg": "kg", "g": "g", "mg": "mg", "t": "metric_ton", "lb": "pound",
    "oz": "ounce", "s": "s", "ms": "ms", "min": "minute", "h": "hour", "day": "day", "week": "week",
    "km/h": "km/hour", "mph": "mile/hour", "m/s": "m/s", "kn": "knot", "m2": "m^2", "km2": "km^2",
    "mi2": "mile^2", "ft2": "foot^2", "ha": "hectare", "acre": "acre", "l": "liter",
    "ml": "milliliter", "m3": "m^3", "gal": "gallon", "hPa": "hPa", "kPa": "kPa", "bar": "bar",
    "inHg": "inHg", "psi": "psi", "W": "W", "kW": "kW", "MW": "MW", "hp": "metric_horsepower",
    "kWh": "kWh", "Wh": "Wh", "kcal": "kcal", "kJ": "kJ", "Hz": "Hz", "kHz": "kHz", "MHz": "MHz",
    "GHz": "GHz", "B": "byte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte",
    "TB": "terabyte", "KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte",
}  # fmt: skip
WITHOUT = {"money", "share", "angle", "temperature", "months", "years"}  # no factor between them


def test_every_unit_with_a_factor_is_compared() -> None:
    with_factor = {name for name, unit in UNITS.items() if unit.dimension not in WITHOUT}
    assert with_factor == set(IN_PINT)


def test_factors_are_those_of_pint() -> None:
    pint = pytest.importorskip("pint", reason="extra 'desk' is not installed")
    registry = pint.UnitRegistry()
    of_dimension: dict[str, list[str]] = defaultdict(list)
    for name in IN_PINT:
        of_dimension[UNITS[name].dimension].append(name)
    for reference, *others in of_dimension.values():
        for name in others:
            theirs = registry.Quantity(1, IN_PINT[name]).to(IN_PINT[reference]).magnitude
            ours = UNITS[name].factor / UNITS[reference].factor
            assert ours == pytest.approx(theirs, rel=2e-5), name
