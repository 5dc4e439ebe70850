"""Every threshold has a measurement, and the values are those that the rules use."""

from __future__ import annotations

import tomllib

import pytest

from callwright.repair.result import Settings
from callwright.repair.rules import extracted, names
from callwright.repair.thresholds import FILE, measurement_of, pairs, threshold

TABLES = tomllib.loads(FILE.read_text(encoding="utf-8"))
VALUES = [name for name in TABLES if name not in ("version", "measurements")]


@pytest.mark.parametrize("table", VALUES)
def test_every_value_names_data_split_command_and_record(table: str) -> None:
    found = measurement_of(table)
    assert set(found) == {"data", "split", "command", "record"}
    assert all(text.strip() for text in found.values())


def test_every_measurement_is_used_and_every_value_is_a_share_or_a_cut() -> None:
    used = {TABLES[table]["measured"] for table in VALUES}
    assert used == set(TABLES["measurements"])
    for table in VALUES:
        for name, value in TABLES[table].items():
            listed = value if isinstance(value, list) else [value]
            assert name == "measured" or all(0 <= v <= 1 for v in listed), (table, name)


def test_the_rules_use_these_values() -> None:
    assert Settings().least == threshold("settings", "least") == 0.88
    assert threshold("names", "least_meaning") == names.LEAST_MEANING
    assert pairs("extracted") == extracted.CONFIDENCE
    with pytest.raises(KeyError):
        threshold("names", "no such name")
