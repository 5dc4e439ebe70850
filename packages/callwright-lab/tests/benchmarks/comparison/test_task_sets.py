from __future__ import annotations

from dataclasses import dataclass

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.comparison.task_sets import Half, select_tasks, split_halves


@dataclass(frozen=True)
class Named:
    id: str
    half: Half
    kind: str = "any"
    query: str = ""


def test_halves_are_equal_in_every_kind_and_do_not_depend_on_order() -> None:
    tasks = [(f"task-{n}", "chain" if n % 3 else "single") for n in range(31)]
    split = split_halves(tasks)
    assert split == split_halves(tasks[::-1])
    for kind in ("chain", "single"):
        ours = [split[name] for name, k in tasks if k == kind]
        assert abs(ours.count("dev") - ours.count("final")) <= 1
    assert abs(list(split.values()).count("dev") - list(split.values()).count("final")) <= 1


def test_tasks_are_chosen_by_half_and_id() -> None:
    tasks = [Named("a", "dev"), Named("b", "final"), Named("c", "dev")]
    assert [t.id for t in select_tasks(tasks)] == ["a", "b", "c"]
    assert [t.id for t in select_tasks(tasks, "dev")] == ["a", "c"]
    assert [t.id for t in select_tasks(tasks, "all", ["b"])] == ["b"]
    with pytest.raises(ConfigError, match="no task 'nope'"):
        select_tasks(tasks, "all", ["nope"])
    with pytest.raises(ConfigError, match="no half 'third'"):
        select_tasks(tasks, "third")
