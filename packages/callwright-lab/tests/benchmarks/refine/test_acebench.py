"""ACEBench's normal rows as a client with native tools asks them, judged by the suite's rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine.acebench import AceBench, build_task
from callwright_lab.benchmarks.refine.read import read_server_calls
from callwright_lab.benchmarks.refine.task import Found, Recorded, Task
from callwright_lab.datasets.acebench import NORMAL, Language
from callwright_lab.datasets.sources import data_root
from tests.benchmarks import invented_ace

EXAM = AceBench(Path("nowhere"))
ROW = invented_ace.row(time="It is Monday.")
TASK = build_task(ROW)
RIGHT = {"item": "red bolts", "count": 7}


def answer(task: Task, *calls: tuple[str, object]) -> Found:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    return read_server_calls(Recorded(task.id, "m", {"tool_calls": made}), task)


def test_a_row_is_asked_with_native_tools_under_names_that_endpoints_take() -> None:
    request = EXAM.ask(TASK)
    assert [t.name for t in request.tools] == ["shop_order", "weather"]
    assert [(m.role, m.content) for m in request.messages[1:]] == [
        ("user", "Order 7 red bolts to Oslo.")
    ]
    assert "It is Monday." in request.messages[0].content
    assert TASK.gold == (ToolCall("call_1", "shop_order", RIGHT),)
    assert (TASK.id, TASK.category) == ("en-normal_atom_enum_0", "normal_atom_enum")


def test_the_suite_decides_and_its_verdict_has_the_rows_language() -> None:
    right = EXAM.score(TASK, answer(TASK, ("shop_order", RIGHT)))
    assert (right.right, right.metrics) == (True, {"suite": 1.0, "en": 1.0})
    assert EXAM.score(TASK, Found(TASK.gold)).right
    chinese = build_task(replace(ROW, language="zh"))
    wrong = EXAM.score(chinese, answer(chinese, ("shop_order", {**RIGHT, "speed": "slow"})))
    assert (wrong.error, wrong.metrics) == ("ghost_argument", {"suite": 0.0, "zh": 0.0})
    assert "not in gold" in wrong.detail
    assert EXAM.score(TASK, Found()).error == "no_call"
    assert EXAM.score(TASK, answer(TASK, ("shop_order", "{broken"))).error == "not_json"
    assert EXAM.score(TASK, answer(TASK, ("weather", {"city": "Oslo"}))).error == "wrong_tool"


def test_a_tool_that_gold_calls_twice_has_its_name_in_both_calls() -> None:
    gold = {"shop.order_1": {"item": "x"}, "shop.order_2": {"item": "y"}}
    task = build_task(invented_ace.row(gold=gold))
    assert [c.tool for c in task.gold] == ["shop_order", "shop_order"]
    assert EXAM.score(task, Found(task.gold[::-1])).right


def test_only_the_dev_half_is_there() -> None:
    root = data_root()
    if not (root / "acebench").is_dir():
        pytest.skip("needs shared data: ACEBench")
    tasks = AceBench(root).tasks()
    assert {t.aside.half for t in tasks} == {"dev"}
    assert {t.category for t in tasks} == set(NORMAL)
    assert len({t.id for t in tasks}) == len(tasks)
    right = [t for t in tasks if EXAM.score(t, Found(t.gold)).right]
    assert (len(right), len(tasks)) == (795, 831)
    only: tuple[Language, ...] = ("zh",)
    assert {t.aside.language for t in AceBench(root, only).tasks()} == {"zh"}
