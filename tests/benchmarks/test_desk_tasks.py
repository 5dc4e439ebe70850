from __future__ import annotations

from pathlib import Path

import pytest

from callwright.benchmarks.desk_tasks import DeskTask, digest_of, halves, load_desk
from callwright.errors import ConfigError


def test_halves_are_equal_in_every_kind_and_do_not_depend_on_order() -> None:
    tasks = [(f"task-{n}", "chain" if n % 3 else "single") for n in range(31)]
    split = halves(tasks)
    assert split == halves(tasks[::-1])
    for kind in ("chain", "single"):
        ours = [split[name] for name, k in tasks if k == kind]
        assert abs(ours.count("dev") - ours.count("final")) <= 1
    assert abs(list(split.values()).count("dev") - list(split.values()).count("final")) <= 1


def test_the_digest_sees_every_change_but_not_the_order() -> None:
    rows = [{"id": "a", "query": "x"}, {"id": "b", "query": "y"}]
    assert digest_of(rows) == digest_of(rows[::-1])
    assert digest_of(rows) != digest_of([{"id": "a", "query": "X"}, rows[1]])


def test_a_folder_without_a_desk_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no desk in"):
        load_desk(tmp_path)


def test_a_row_that_is_no_task_is_named() -> None:
    with pytest.raises(ConfigError, match="desk task 'odd'"):
        DeskTask.from_row({"id": "odd"})


def test_tasks_are_chosen_by_half_and_id() -> None:
    pytest.importorskip("airportsdata", reason="needs the extra desk")
    desk = load_desk()
    both = {task.id for task in desk.choose("dev")} | {task.id for task in desk.choose("final")}
    assert both == {task.id for task in desk.choose()}
    assert [task.id for task in desk.choose("all", ["drone-case"])] == ["drone-case"]
    with pytest.raises(ConfigError, match="no desk task 'nope'"):
        desk.choose("all", ["nope"])
    with pytest.raises(ConfigError, match="no half 'third'"):
        desk.choose("third")


def test_servers_are_named_only_where_a_tool_needs_them() -> None:
    pytest.importorskip("airportsdata", reason="needs the extra desk")
    desk = load_desk()
    assert [Path(p).name for p in desk.sources(["convert_units"])] == ["tools.py"]
    assert [Path(p).name for p in desk.sources(["convert_units", "git_log"])] == ["tools.py", "mcp.json"]
