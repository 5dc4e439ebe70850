"""Work out every task's gold and write tasks.json: ``python examples/desk/freeze.py [--check]``.

``--check`` writes nothing and fails if the gold worked out now is not the gold that was frozen.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

from callwright.benchmarks.desk_score import change
from callwright.benchmarks.desk_tasks import digest_of
from callwright.benchmarks.task_sets import halves

_PARENT = str(Path(__file__).resolve().parent.parent)
if _PARENT not in sys.path:
    sys.path.append(_PARENT)

from desk import tasks_company, tasks_limits, tasks_world, world  # noqa: E402
from desk.gold import Gold, Task, fresh  # noqa: E402
from desk.tools import DESTRUCTIVE_NAMES  # noqa: E402

FROZEN = Path(__file__).parent / "tasks.json"
TASKS: tuple[Task, ...] = (*tasks_world.TASKS, *tasks_company.TASKS, *tasks_limits.TASKS)
CROWD = ("list_employees", "get_office", "find_rooms", "list_notes", "delete_expense", "git_status", "delete_note")
"""Every third task is seen among these as well, up to nine tools: none of them helps anywhere they are added."""


def view(place: int, task: Task) -> list[str]:
    """The tools a task is given, in an order that says nothing."""
    names = list(dict.fromkeys(task.tools))
    if place % 3 == 2:
        names += [name for name in CROWD if name not in names][: 9 - len(names)]
    return sorted(names)


def worked(place: int, task: Task) -> dict[str, Any]:
    """One task with its gold, worked out on a fresh desk."""
    with tempfile.TemporaryDirectory() as folder:
        home = fresh(Path(folder) / "desk")
        before = world.snapshot(home)
        gold = Gold()
        answer = task.work(gold)
        after = world.snapshot(home)
    tools = view(place, task)
    called = {call["tool"] for call in gold.calls}
    expect = {
        "facts": gold.facts,
        "forbidden": gold.forbidden,
        "must": [[gold.calls[-1]["tool"]]] if gold.must is None else gold.must,
        "must_not": sorted((DESTRUCTIVE_NAMES & set(tools)) - called),
        "limitation": gold.limitation,
        "change": change(before, after),
        "note_facts": gold.note_facts,
    }
    row = {"id": task.id, "kind": task.kind, "query": task.query, "tools": tools}
    return {**row, "gold_calls": gold.calls, "gold_answer": answer, "expect": expect}


def main(arguments: list[str]) -> int:
    rows = [worked(place, task) for place, task in enumerate(TASKS)]
    half = halves([(row["id"], row["kind"]) for row in rows])
    rows = [{**row, "half": half[row["id"]]} for row in rows]
    if "--check" in arguments:
        frozen = orjson.loads(FROZEN.read_bytes())
        changed = [row["id"] for row in rows if row not in frozen]
        print(f"{digest_of(frozen)}  {len(frozen)} tasks; changed: {', '.join(changed) or 'none'}")
        return 1 if changed or len(frozen) != len(rows) else 0
    FROZEN.write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    print(f"{digest_of(rows)}  {len(rows)} tasks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
