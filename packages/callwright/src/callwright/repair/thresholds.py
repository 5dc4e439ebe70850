"""The confidences and cuts of the rules: data, with the measurement that each was read off.

They stand in ``data/thresholds.toml``, which is read once, at import.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("data") / "thresholds.toml"
_TABLES: Mapping[str, Mapping[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))


def threshold(table: str, name: str) -> float:
    """One value. Raises KeyError for a name that the file does not have."""
    return float(_TABLES[table][name])


def pairs(table: str) -> dict[str, tuple[float, float]]:
    """The values of a table of pairs: for a reply of one call, and of several."""
    values = (row for row in _TABLES[table].items() if row[0] != "measured")
    return {name: (float(one), float(several)) for name, (one, several) in values}


def measurement_of(table: str) -> Mapping[str, str]:
    """The data set, split, command and record of a table's values."""
    found: Mapping[str, str] = _TABLES["measurements"][_TABLES[table]["measured"]]
    return found
