"""Confidences and cuts as data: ``data/thresholds.toml`` of a package.

Every entry has a ``value``, and says where it was read off: ``data_set``, ``split`` and
``command``; an entry without a data set was set by hand, and its ``note`` says so. ``version`` goes
up when a value changes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from callwright.nouns.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cut, and what it was measured on."""

    value: float
    data_set: str = ""
    split: str = ""
    command: str = ""
    note: str = ""


@cache
def thresholds_of(package: str) -> Mapping[str, Threshold]:
    """The thresholds of a package by their names. Raises ConfigError where a file is not as this
    module says.
    """
    text = files(package).joinpath("data", "thresholds.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)
    version = rows.pop("version", None)
    try:
        found = {name: Threshold(**row) for name, row in rows.items()}
    except TypeError as exc:
        raise ConfigError(f"the thresholds of {package} cannot be read: {exc}") from exc
    if not isinstance(version, int):
        raise ConfigError(f"the thresholds of {package} have no version")
    return MappingProxyType(found)


def threshold(package: str, name: str) -> float:
    """The value of one threshold. Raises ConfigError where the package has none of that name."""
    found = thresholds_of(package).get(name)
    if found is None:
        raise ConfigError(f"{package} has no threshold {name!r}")
    return found.value
