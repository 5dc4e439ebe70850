"""Thresholds are data, and every one says where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

import callwright
from callwright.nouns.errors import ConfigError
from callwright.nouns.thresholds import threshold, thresholds_of

ROOT = Path(callwright.__file__).parent
PACKAGES = sorted(
    "callwright." + ".".join(path.relative_to(ROOT).parts[:-2])
    for path in ROOT.glob("**/data/thresholds.toml")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_threshold_says_what_it_was_measured_on_or_that_it_was_not(package: str) -> None:
    found = thresholds_of(package)
    assert found
    for name, cut in found.items():
        measured = bool(cut.data_set and cut.split and cut.command)
        assert measured or "by hand" in cut.note, f"{package}: {name}"


def test_the_packages_are_found() -> None:
    assert {"callwright.dataflow", "callwright.planning", "callwright.grounding"} <= set(PACKAGES)


def test_an_unknown_threshold_is_an_error_that_names_it() -> None:
    with pytest.raises(ConfigError, match="nothing"):
        threshold("callwright.planning", "nothing")
