"""Faults put into ordinary tasks: by rule, each at a call that gold makes, each with a way on."""

from __future__ import annotations

import pytest
from tests.benchmarks.test_desk import DESK

from callwright.benchmarks.recovery_desk import faulty_tasks
from callwright.benchmarks.recovery_faults import KINDS, injected
from callwright.types import Tool

FAULTY = faulty_tasks(DESK, "injected")


def test_every_fault_meets_the_call_that_the_documentation_asks_for_and_not_the_one_after_it() -> None:
    for task in FAULTY.tasks:
        answers = [DESK.answered(task.faults, call["tool"], call["arguments"]) for call in task.gold_calls]
        assert answers == [bool(call.get("fails")) for call in task.gold_calls], task.id
        assert any(answers), task.id


def test_what_mends_a_fault_gives_what_the_tool_gave_before() -> None:
    for task in FAULTY.tasks:
        assert FAULTY.gold[task.id], task.id
        assert all(gold.content is not None for gold in FAULTY.gold[task.id] if gold.tool != "convert_time"), task.id


def test_kinds_take_turns_and_tasks_keep_their_halves() -> None:
    counts = {kind: sum(task.kind == kind for task in FAULTY.tasks) for kind in KINDS}
    assert min(counts.values()) > 0
    assert counts == {"misnamed": 16, "stale_enum": 2, "hint_400": 8, "error_200": 7, "renamed": 16}
    half_of = {task.id: task.half for task in DESK.tasks}
    assert all(task.half == half_of[task.id.partition("+")[0]] for task in FAULTY.tasks)


def test_a_renamed_tool_stands_beside_its_old_name_and_may_be_the_one_that_answers() -> None:
    for task in (task for task in FAULTY.tasks if task.kind == "renamed"):
        (fault,) = task.faults
        assert {fault["tool"], fault["to"]} <= {*task.tools}
        assert all(fault["to"] in group for group in task.expect.must if fault["tool"] in group)


def test_the_same_tasks_get_the_same_faults_in_whatever_order_they_come() -> None:
    tools: dict[str, Tool] = {}
    assert injected(DESK.tasks, tools) == ()
    again = faulty_tasks(DESK, "injected")
    assert [task.faults for task in again.tasks] == [task.faults for task in FAULTY.tasks]


@pytest.mark.parametrize(
    ("which", "tasks", "digest"), [("all", 71, "7691a0469f561139"), ("written", 22, "3b6b24ffd3489c75")]
)
def test_the_assignment_is_the_one_that_was_frozen_before_any_run(which: str, tasks: int, digest: str) -> None:
    found = faulty_tasks(DESK, which)
    assert (len(found.tasks), found.digest) == (tasks, digest)
