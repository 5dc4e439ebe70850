from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.desk.tasks import DeskTask, digest_tasks, load_desk


def test_the_digest_sees_every_change_but_not_the_order() -> None:
    rows = [{"id": "a", "query": "x"}, {"id": "b", "query": "y"}]
    assert digest_tasks(rows) == digest_tasks(rows[::-1])
    assert digest_tasks(rows) != digest_tasks([{"id": "a", "query": "X"}, rows[1]])


def test_a_folder_without_a_desk_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no desk in"):
        load_desk(tmp_path)


def test_a_row_that_is_no_task_is_named() -> None:
    with pytest.raises(ConfigError, match="desk task 'odd'"):
        DeskTask.from_row({"id": "odd"})


def test_servers_are_named_only_where_a_tool_needs_them() -> None:
    pytest.importorskip("airportsdata", reason="needs the extra desk")
    desk = load_desk()
    assert [Path(p).name for p in desk.sources(["convert_units"])] == ["tools.py"]
    assert [Path(p).name for p in desk.sources(["convert_units", "git_log"])] == [
        "tools.py",
        "mcp.json",
    ]
