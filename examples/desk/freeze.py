"""Work out every task's gold and write tasks.json: ``python examples/desk/freeze.py [--check]``.

``--check`` writes nothing and fails if the gold worked out now is not the gold that was frozen.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from callwright_lab.benchmarks.comparison.task_sets import hash_text, split_halves
from callwright_lab.benchmarks.desk.score import diff_snapshots
from callwright_lab.benchmarks.desk.tasks import digest_tasks

_PARENT = str(Path(__file__).resolve().parent.parent)
if _PARENT not in sys.path:
    sys.path.append(_PARENT)

from desk import tasks_company, tasks_crowd, tasks_faults, tasks_limits, tasks_world, world  # noqa: E402
from desk.gold import Gold, Task, fresh  # noqa: E402
from desk.tools import BY_NAME, DESTRUCTIVE_NAMES  # noqa: E402

FROZEN = Path(__file__).parent / "tasks.json"
FIRST: tuple[Task, ...] = (*tasks_world.TASKS, *tasks_company.TASKS, *tasks_limits.TASKS)
SECOND: tuple[Task, ...] = (*tasks_faults.TASKS, *tasks_crowd.TASKS)
"""Frozen a day later. Halves are drawn among themselves, so that no task of the first batch changes
its half.
"""
CROWD = (
    "list_employees",
    "get_office",
    "find_rooms",
    "list_notes",
    "delete_expense",
    "git_status",
    "delete_note",
)
"""Every third task is seen among these as well, up to nine tools: none of them helps anywhere they
are added.
"""


def few(place: int, task: Task) -> list[str]:
    """The tools a task of the first batch is given, in an order that says nothing."""
    names = list(dict.fromkeys(task.tools))
    if place % 3 == 2:
        names += [name for name in CROWD if name not in names][: 9 - len(names)]
    return sorted(names)


def many(_place: int, task: Task) -> list[str]:
    """The tools a task of the second batch is given: filled up to ``task.view`` in an order that
    nobody chose.
    """
    names = list(dict.fromkeys(task.tools))
    others = sorted(BY_NAME.keys() - {*names}, key=lambda name: hash_text(f"{task.id} {name}"))
    return sorted([*names, *others[: max(0, task.view - len(names))]])


def worked(task: Task, tools: list[str]) -> dict[str, Any]:
    """One task with its gold, worked out on a fresh desk."""
    with tempfile.TemporaryDirectory() as folder:
        home = fresh(Path(folder) / "desk")
        before = world.snapshot(home)
        gold = Gold(task.faults)
        answer = task.work(gold)
        after = world.snapshot(home)
    called = {call["tool"] for call in gold.calls}
    expect = {
        "facts": gold.facts,
        "forbidden": gold.forbidden,
        "must": [[gold.calls[-1]["tool"]]] if gold.must is None else gold.must,
        "must_not": sorted((DESTRUCTIVE_NAMES & set(tools)) - called),
        "limitation": gold.limitation,
        "change": diff_snapshots(before, after),
        "note_facts": gold.note_facts,
    }
    row: dict[str, Any] = {"id": task.id, "kind": task.kind, "query": task.query, "tools": tools}
    if task.faults:
        row["faults"] = [fault.row for fault in task.faults]
    return {**row, "gold_calls": gold.calls, "gold_answer": answer, "expect": expect}


def batch(tasks: tuple[Task, ...], view: Callable[[int, Task], list[str]]) -> list[dict[str, Any]]:
    """Tasks that were frozen together, each with its gold and its half."""
    half = split_halves([(task.id, task.kind) for task in tasks])
    return [
        {**worked(task, view(place, task)), "half": half[task.id]}
        for place, task in enumerate(tasks)
    ]


def main(arguments: list[str]) -> int:
    rows = [*batch(FIRST, few), *batch(SECOND, many)]
    if "--check" in arguments:
        frozen = orjson.loads(FROZEN.read_bytes())
        changed = [row["id"] for row in rows if row not in frozen]
        print(
            f"{digest_tasks(frozen)}  {len(frozen)} tasks; changed: {', '.join(changed) or 'none'}"
        )
        return 1 if changed or len(frozen) != len(rows) else 0
    FROZEN.write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    print(f"{digest_tasks(rows)}  {len(rows)} tasks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
