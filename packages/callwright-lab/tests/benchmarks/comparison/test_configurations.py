"""Which rows of a results file are shown together."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.configurations import EVERY, select_configuration


def row(task: str, config: str, strategy: str = "react") -> JsonObject:
    return {"task": task, "strategy": strategy, "model": "m", "config": config}


ROWS = [
    row("1", "aaa"),
    row("1", "aaa", "layered"),
    row("2", "bbb"),
    row("1", "bbb"),
    row("2", "bbb", "layered"),
]


def test_the_newest_configuration_of_each_system_is_shown_and_the_others_are_named() -> None:
    found, notes = select_configuration(
        [*ROWS, row("3", "aaa", "layered"), {**row("3", "ccc"), "error": "no server"}]
    )
    assert {(r["system"], r["task"]) for r in found} == {
        ("react, m, configuration bbb", "1"),
        ("react, m, configuration bbb", "2"),
        ("layered, m", "1"),
        ("layered, m", "3"),
    }
    assert notes == [
        "react, m: rows of configuration bbb only, not of aaa (--config all: each).",
        "layered, m: rows of configuration aaa only, not of bbb (--config all: each).",
    ]


def test_one_or_all_can_be_asked_for() -> None:
    found, notes = select_configuration(ROWS, EVERY)
    assert (len(found), notes) == (len(ROWS), [])
    assert len({(r["system"], r["task"]) for r in found}) == len(ROWS), "no two rows are one"
    found, _ = select_configuration(ROWS, "aaa")
    assert [r["system"] for r in found] == ["react, m", "layered, m"]
    with pytest.raises(ConfigError, match="no row has the configuration ccc"):
        select_configuration(ROWS, "ccc")


def test_a_file_of_one_configuration_is_as_it_was() -> None:
    found, notes = select_configuration(ROWS[:2])
    assert ([r["system"] for r in found], notes) == (["react, m", "layered, m"], [])
    assert select_configuration([]) == ([], [])
