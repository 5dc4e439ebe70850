"""Thresholds are data, and every one says where it comes from."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import callwright
from callwright.nouns.errors import ConfigError
from callwright.nouns.thresholds import (
    threshold,
    threshold_group,
    threshold_pairs,
    thresholds_of,
)
from callwright.repair.result import Settings
from callwright.repair.rules import extracted, names

ROOT = Path(callwright.__file__).parent
PACKAGES = sorted(
    "callwright." + ".".join(path.relative_to(ROOT).parts[:-2])
    for path in ROOT.glob("**/data/thresholds.toml")
)
REPAIR = tomllib.loads((ROOT / "repair/data/thresholds.toml").read_text(encoding="utf-8"))
GROUPS = [name for name in REPAIR if name not in ("version", "measurements")]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_threshold_says_what_it_was_measured_on(package: str) -> None:
    """One that was set by hand says what its value does on a data set."""
    found = thresholds_of(package)
    assert found
    for name, cut in found.items():
        assert all(text.strip() for text in (cut.data_set, cut.split, cut.command)), name
        assert "none recorded" not in cut.command, name


def test_the_packages_are_found() -> None:
    assert {
        "callwright.dataflow",
        "callwright.planning",
        "callwright.grounding",
        "callwright.repair",
    } <= set(PACKAGES)


def test_an_unknown_threshold_is_an_error_that_names_it() -> None:
    with pytest.raises(ConfigError, match="nothing"):
        threshold("callwright.planning", "nothing")


@pytest.mark.parametrize("group", GROUPS)
def test_every_value_of_repair_names_data_split_command_and_record(group: str) -> None:
    assert set(REPAIR["measurements"][REPAIR[group]["measured"]]) == {
        "data_set",
        "split",
        "command",
        "record",
    }
    found = thresholds_of("callwright.repair")
    cuts = [cut for name, cut in found.items() if name.startswith(f"{group}.")]
    assert len(cuts) == len(REPAIR[group]) - 1
    for cut in cuts:
        assert all(text.strip() for text in (cut.data_set, cut.split, cut.command, cut.record))


def test_every_measurement_is_used_and_every_value_is_a_share_or_a_cut() -> None:
    own = [value for group in GROUPS for value in REPAIR[group].values() if isinstance(value, dict)]
    used = {row["measured"] for row in (*own, *(REPAIR[group] for group in GROUPS))}
    assert used == set(REPAIR["measurements"])
    for group in GROUPS:
        for name, value in REPAIR[group].items():
            plain = value["value"] if isinstance(value, dict) else value
            listed = plain if isinstance(plain, list) else [plain]
            assert name == "measured" or all(0 <= v <= 1 for v in listed), (group, name)


def test_the_rules_use_these_values() -> None:
    assert Settings().least == threshold("callwright.repair", "settings.least") == 0.88
    assert threshold("callwright.repair", "names.least_meaning") == names.LEAST_MEANING
    assert threshold_pairs("callwright.repair", "extracted") == extracted.CONFIDENCE
    with pytest.raises(ConfigError, match="no such name"):
        threshold("callwright.repair", "names.no such name")


def test_a_pair_is_read_for_one_call_and_for_several_and_a_single_value_for_both() -> None:
    assert threshold_pairs("callwright.repair", "extracted")["named"] == (0.94, 0.5)
    assert threshold_pairs("callwright.repair", "split") == {"confidence": (0.93, 0.93)}


def test_a_value_may_have_a_measurement_of_its_own() -> None:
    found = thresholds_of("callwright.repair")
    comma, option = found["formats.decimal_comma"], found["formats.option_meaning"]
    assert (comma.value, option.value) == (0.97, 0.95)
    assert "rules" in comma.command
    assert "made" in option.command


def test_a_file_that_is_not_as_it_should_be_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {
        "cut_unknown_field": "version = 1\n[a]\nvalue = 0.5\nodd = 1",
        "cut_unmeasured": 'version = 1\n[a]\nmeasured = "nowhere"\nx = 0.5',
        "cut_without_version": "[a]\nvalue = 0.5",
    }.items():
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "data" / "thresholds.toml").write_text(text)
        with pytest.raises(ConfigError, match=name):
            thresholds_of(name)


def test_a_group_is_known_by_its_names_and_one_that_is_not_there_is_an_error() -> None:
    hints = threshold_group("callwright.repair", "hints")
    assert hints["better_tool"] == threshold("callwright.repair", "hints.better_tool")
    with pytest.raises(ConfigError, match="no thresholds of 'nothing'"):
        threshold_group("callwright.repair", "nothing")
