"""Compile library data into the files of language packs: ``python benchmarks/language_packs.py
--stop FOLDER``.

Needs babel (CLDR) and a checkout of snowballstem/snowball-website, whose ``algorithms`` folder
holds the stop words. It writes names of months and days, signs of numbers and names of units for
every language of :data:`PACKS`, and the stop words of every language of :data:`SNOWBALL`. English
calendar, numbers and units are not written: their entries also hold what texts of tools need.
Run it again after an update of either library and look at the difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LANGUAGE = ROOT / "packages" / "callwright" / "src" / "callwright" / "language"
PACKS = ("ar", "de", "es", "zh")
SNOWBALL = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
UNITS = {  # unit of CLDR -> our name of it
    "length-meter": "m", "length-kilometer": "km", "length-centimeter": "cm", "length-millimeter": "mm",
    "length-mile": "mi", "length-nautical-mile": "nmi", "length-foot": "ft", "length-inch": "in",
    "length-yard": "yd", "mass-kilogram": "kg", "mass-gram": "g", "mass-milligram": "mg",
    "mass-tonne": "t", "mass-pound": "lb", "mass-ounce": "oz", "duration-second": "s",
    "duration-millisecond": "ms", "duration-minute": "min", "duration-hour": "h", "duration-day": "day",
    "duration-week": "week", "duration-month": "month", "duration-year": "year",
    "speed-kilometer-per-hour": "km/h", "speed-mile-per-hour": "mph", "speed-meter-per-second": "m/s",
    "speed-knot": "kn", "temperature-celsius": "C", "temperature-fahrenheit": "F",
    "temperature-kelvin": "K", "angle-degree": "deg", "area-square-meter": "m2",
    "area-square-kilometer": "km2", "area-hectare": "ha", "area-acre": "acre", "volume-liter": "l",
    "volume-milliliter": "ml", "volume-cubic-meter": "m3", "volume-gallon": "gal",
    "digital-byte": "B", "digital-kilobyte": "KB", "digital-megabyte": "MB", "digital-gigabyte": "GB",
    "digital-terabyte": "TB", "pressure-hectopascal": "hPa", "pressure-bar": "bar", "power-watt": "W",
    "power-kilowatt": "kW", "power-horsepower": "hp", "energy-kilowatt-hour": "kWh",
    "energy-kilocalorie": "kcal", "frequency-hertz": "Hz", "concentr-percent": "%",
}  # fmt: skip
CURRENCIES = ("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "CAD", "AUD", "SEK", "NOK", "DKK")


def main(argv: Sequence[str]) -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--stop", type=Path, help="a checkout of snowballstem/snowball-website")
    options = arguments.parse_args(argv)
    for code in PACKS:
        compile_pack(code)
    if options.stop:
        compile_stop_words(options.stop)
    return 0


def compile_pack(code: str) -> None:
    """Write the files of one language that hold CLDR's names."""
    import babel  # type: ignore[import-not-found, unused-ignore]

    locale, folder = babel.Locale(code), LANGUAGE / code
    source = f"CLDR, via babel {babel.__version__}"
    months = _names(locale.months, {i: i for i in range(1, 13)})
    days = _names(locale.days, {i: i for i in range(7)})
    calendar = [_table("months", source, months), _table("weekdays", source, days)]
    (folder / "calendar.toml").write_text("\n".join(calendar), encoding="utf-8")
    symbols = locale.number_symbols["latn"]
    signs = {"decimal": symbols["decimal"], "group": symbols["group"]}
    (folder / "signs.toml").write_text(_table("numbers", source, signs), encoding="utf-8")
    (folder / "units.toml").write_text(_table("names", source, _units(locale)), encoding="utf-8")


def compile_stop_words(checkout: Path) -> None:
    """Write the stop words by which a language is told."""
    parts = []
    for code, name in SNOWBALL.items():
        text = (checkout / "algorithms" / name / "stop.txt").read_text(encoding="utf-8")
        words = [w for line in text.splitlines() for w in line.partition("|")[0].split()]
        parts.append(_words(code, f"Snowball (BSD-3-Clause), stop words of {name}", words))
    (LANGUAGE / "detection" / "stop_words.toml").write_text("\n".join(parts), encoding="utf-8")


def _names(forms: Mapping[str, Any], places: Mapping[int, int]) -> dict[str, int]:
    """Every wide and abbreviated name, lower case and without a full stop -> its number."""
    found = {}
    for place in places:
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                found[forms[context][width][place].lower().rstrip(".")] = place
    return found


def _units(locale: Any) -> dict[str, str]:
    """Every name of a unit or currency, lower case -> our name of the unit."""
    found: dict[str, str] = {}
    patterns = locale._data["unit_patterns"]
    for unit, name in UNITS.items():
        for form in ("long", "short", "narrow"):
            for count, pattern in (patterns.get(unit, {}).get(form) or {}).items():
                if count != "per" and isinstance(pattern, str):
                    found.setdefault(pattern.replace("{0}", "").strip().lower(), name)
    for currency in CURRENCIES:
        names = [currency, locale.currency_symbols.get(currency, currency)]
        names += locale._data["currency_names_plural"].get(currency, {}).values()
        for written in names:
            found.setdefault(written.lower(), currency)
    found.pop("", None)
    return found


def _table(name: str, source: str, rows: Mapping[str, Any]) -> str:
    lines = [f"[{name}]", f'source = "{source}"', "", f"[{name}.table]"]
    lines += [f"{_quoted(key)} = {_quoted(value)}" for key, value in rows.items()]
    return "\n".join(lines) + "\n"


def _words(name: str, source: str, words: Iterable[str]) -> str:
    text = textwrap.fill(" ".join(dict.fromkeys(words)), 96, break_on_hyphens=False)
    return f"[{name}]\nsource = \"{source}\"\nwords = '''\n{text}\n'''\n"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
