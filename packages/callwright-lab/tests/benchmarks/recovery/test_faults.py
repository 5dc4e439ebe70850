"""Faults put into ordinary tasks: by rule, each at a call that gold makes, each with a way on."""

from __future__ import annotations

from dataclasses import replace

from callwright_lab.benchmarks.desk.tasks import DeskTask
from callwright_lab.benchmarks.recovery.desk import FaultyTasks, select_faulty_tasks
from callwright_lab.benchmarks.recovery.faults import KINDS, inject_faults
from tests.benchmarks.desk.test_bench import DESK


def put(faulty: FaultyTasks) -> list[DeskTask]:
    """The tasks that a fault was put into."""
    return [task for task in faulty.tasks if "+" in task.id]


def test_every_fault_meets_the_call_that_the_documentation_asks_for_and_not_the_one_after_it(
    faulty: FaultyTasks,
) -> None:
    for task in put(faulty):
        answers = [
            DESK.answered(task.faults, call["tool"], call["arguments"]) for call in task.gold_calls
        ]
        assert answers == [bool(call.get("fails")) for call in task.gold_calls], task.id
        assert any(answers), task.id


def test_what_repairs_a_fault_gives_what_the_tool_gave_before(faulty: FaultyTasks) -> None:
    for task in put(faulty):
        assert faulty.gold[task.id], task.id
        assert all(
            gold.content is not None for gold in faulty.gold[task.id] if gold.tool != "convert_time"
        ), task.id


def test_kinds_take_turns_and_tasks_keep_their_halves(faulty: FaultyTasks) -> None:
    counts = {kind: sum(task.kind == kind for task in put(faulty)) for kind in KINDS}
    assert min(counts.values()) > 0
    assert counts == {"misnamed": 16, "stale_enum": 2, "hint_400": 8, "error_200": 7, "renamed": 16}
    half_of = {task.id: task.half for task in DESK.tasks}
    assert all(task.half == half_of[task.id.partition("+")[0]] for task in put(faulty))


def test_a_renamed_tool_stands_beside_its_old_name_and_may_be_the_one_that_answers(
    faulty: FaultyTasks,
) -> None:
    for task in (task for task in put(faulty) if task.kind == "renamed"):
        (fault,) = task.faults
        assert {fault["tool"], fault["to"]} <= {*task.tools}
        assert all(fault["to"] in group for group in task.expect.must if fault["tool"] in group)


async def test_the_same_tasks_get_the_same_faults_in_whatever_order_they_come(
    faulty: FaultyTasks,
) -> None:
    source = DESK.faulty([])
    tools = {tool.name: tool for tool in await source.open()}
    await source.aclose()
    assert inject_faults(DESK.tasks, {}) == ()
    assert list(inject_faults(DESK.tasks[::-1], tools)) == put(faulty)
    parts = [select_faulty_tasks(DESK, which, tools) for which in ("written", "injected", "all")]
    assert (*parts[0], *parts[1]) == parts[2] == faulty.tasks
    assert all(task.faults for task in parts[0])


def test_the_assignment_is_the_one_that_was_frozen_before_any_run(faulty: FaultyTasks) -> None:
    written = replace(faulty, tasks=tuple(task for task in faulty.tasks if "+" not in task.id))
    assert (len(faulty.tasks), faulty.digest) == (71, "7691a0469f561139")
    assert (len(written.tasks), written.digest) == (22, "3b6b24ffd3489c75")
