"""The task sets: their data are frozen, their tools declared, their ids apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright_lab.benchmarks.agents.task_set import (
    DATA,
    HOME,
    OFFICE,
    SETS,
    TaskSet,
    compute_digest,
    load_tools,
)


@pytest.mark.parametrize("task_set", SETS.values(), ids=SETS)
def test_the_data_are_those_that_were_frozen(task_set: TaskSet) -> None:
    assert compute_digest(task_set) == task_set.read_data("digest")["sha256"]


def test_the_first_set_stays_as_it_was_measured() -> None:
    frozen = "8824d38dd3ea9025785e45aaa27cf4aa7d75d24b708744d79d40110383c6a478"
    assert OFFICE.read_data("digest")["sha256"] == frozen == compute_digest(OFFICE)
    assert OFFICE.folder == DATA
    assert (OFFICE.hash_id("en-read-1") % 2, HOME.hash_id("en-read-1") % 2) == (1, 0)


def test_a_changed_file_or_prompt_is_another_digest(tmp_path: Path) -> None:
    (tmp_path / "tools.toml").write_text("a = 1")
    one = TaskSet("one", tmp_path, "x", "Help.")
    first = compute_digest(one)
    (tmp_path / "digest.toml").write_text("sha256 = 'no part of it'")
    assert compute_digest(TaskSet("two", tmp_path, "x", "Help.")) == first
    assert compute_digest(TaskSet("two", tmp_path, "x", "Help!")) != first
    (tmp_path / "tools.toml").write_text("a = 2")
    assert compute_digest(TaskSet("three", tmp_path, "x", "Help.")) != first


@pytest.mark.parametrize("task_set", SETS.values(), ids=SETS)
def test_what_a_task_may_offer_is_declared_and_has_reads_and_writes(task_set: TaskSet) -> None:
    rows = task_set.declarations
    for name, offered in task_set.read_data("toolsets").items():
        assert 4 <= len(offered) <= 8, name
        effects = {rows[tool]["effect"] == "read" for tool in offered}
        assert effects == {True, False}, name


def test_the_home_declares_its_effects_and_takes_arguments_of_many_kinds() -> None:
    tools = load_tools(HOME)
    assert tools["list_lamps"].effects.read_only
    assert tools["list_lamps"].input_schema["properties"] == {}
    assert not tools["switch_lamp"].effects.destructive
    assert tools["pay_bill"].effects.destructive
    assert tools["list_bills"].input_schema["required"] == []
    given = [part for tool in tools.values() for part in tool.input_schema["properties"].values()]
    assert {part["type"] for part in given} == {"string", "boolean", "integer", "number"}
