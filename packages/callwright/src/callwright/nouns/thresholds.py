"""Confidences and cuts as data: ``data/thresholds.toml`` of a package.

An entry has a ``value``, and says where it was read off: ``data_set``, ``split``, ``command`` and,
where it is kept, ``record``. What a value that was set by hand does is measured all the same, and
its ``note`` says so.

A group of values that share a measurement is a table with ``measured``, the name of a table below
``measurements`` that holds these four. Its values are called ``group.name``; a pair of them is for
a reply of one call, and of several. A value with a measurement of its own is a table of ``value``
and ``measured``. ``version`` goes up when a value changes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from callwright.nouns.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cut, and what it was measured on. ``several`` is set where a reply of several calls has
    a value of its own.
    """

    value: float
    data_set: str = ""
    split: str = ""
    command: str = ""
    note: str = ""
    record: str = ""
    several: float | None = None


@cache
def thresholds_of(package: str) -> Mapping[str, Threshold]:
    """The thresholds of a package by their names. Raises ConfigError where a file is not as this
    module says.
    """
    text = files(package).joinpath("data", "thresholds.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)
    version = rows.pop("version", None)
    measurements = rows.pop("measurements", {})
    try:
        found = dict(pair for name, row in rows.items() for pair in _read(name, row, measurements))
    except (KeyError, TypeError, ValueError) as exc:
        raise ConfigError(f"the thresholds of {package} cannot be read: {exc!r}") from exc
    if not isinstance(version, int):
        raise ConfigError(f"the thresholds of {package} have no version")
    return MappingProxyType(found)


def threshold(package: str, name: str) -> float:
    """The value of one threshold. Raises ConfigError where the package has none of that name."""
    found = thresholds_of(package).get(name)
    if found is None:
        raise ConfigError(f"{package} has no threshold {name!r}")
    return found.value


def threshold_group(package: str, group: str) -> Mapping[str, float]:
    """The values of a group by their names in it. Raises ConfigError where the package has no group
    of that name.
    """
    found = {name: one for name, (one, _) in threshold_pairs(package, group).items()}
    if not found:
        raise ConfigError(f"{package} has no thresholds of {group!r}")
    return MappingProxyType(found)


def threshold_pairs(package: str, group: str) -> dict[str, tuple[float, float]]:
    """The values of a group by their names in it: for a reply of one call, and of several."""
    return {
        name.removeprefix(f"{group}."): (
            one.value,
            one.value if one.several is None else one.several,
        )
        for name, one in thresholds_of(package).items()
        if name.startswith(f"{group}.")
    }


def _read(
    name: str, row: Mapping[str, Any], measurements: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, Threshold]]:
    """The thresholds of one table with their names: one, or those of a group."""
    if "measured" not in row:
        yield name, Threshold(**row)
        return
    for key, value in row.items():
        if key != "measured":
            own = value if isinstance(value, dict) else {"value": value}
            one, several = own["value"] if isinstance(value, list) else (own["value"], None)
            about = measurements[own.get("measured", row["measured"])]
            yield f"{name}.{key}", Threshold(float(one), several=several, **about)
