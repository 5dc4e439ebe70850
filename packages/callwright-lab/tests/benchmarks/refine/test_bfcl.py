"""BFCL: gold answers score full marks by its own checker, and its reasons become our classes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine import bfcl
from callwright_lab.benchmarks.refine.task import Found, Task


@pytest.fixture(scope="module")
def parallel() -> tuple[bfcl.Bfcl, tuple[Task, ...]]:
    made = bfcl.Bfcl(("live_parallel_multiple", "live_relevance"))
    try:
        return made, tuple(made.tasks())
    except ConfigError as error:
        pytest.skip(f"needs shared data: BFCL's wheel ({error})")


def test_gold_is_made_of_the_alternatives_and_optional_ones_are_left_out() -> None:
    answer = {
        "a.find": {
            "q": ["x", "y"],
            "n": ["", 3],
            "must": ["", 4],
            "o": [{"k": [1, 2], "l": ["", 5]}],
            "e": [""],
        }
    }
    made = bfcl.build_gold_call(1, answer, {"a.find": ("q", "must")})
    assert made == ToolCall("call_1", "a_find", {"q": "x", "must": 4, "o": {"k": 1}})


def test_gold_scores_full_marks(parallel: tuple[bfcl.Bfcl, tuple[Task, ...]]) -> None:
    exam, tasks = parallel
    with_gold = [t for t in tasks if t.gold]
    assert len(with_gold) == 24
    assert all(exam.score(t, Found(t.gold)).right for t in with_gold)
    assert all("." not in tool.name for t in tasks for tool in t.tools)


def test_every_mistake_has_a_class(parallel: tuple[bfcl.Bfcl, tuple[Task, ...]]) -> None:
    exam, tasks = parallel
    task = next(t for t in tasks if len(t.gold) > 1)
    first = task.gold[0]
    assert isinstance(first.arguments, dict)
    ghost = replace(first, arguments={**first.arguments, "no such thing": 1})
    empty = replace(first, arguments={})
    text = replace(first, arguments="{")
    other = replace(first, tool="nobody")
    for wrong, kind in (
        (ghost, "ghost"),
        (empty, "missing"),
        (text, "not_json"),
        (other, "unknown_tool"),
    ):
        assert exam.score(task, Found((wrong, *task.gold[1:]))).error.startswith(kind), kind
    assert exam.score(task, Found(task.gold[1:])).error == "missing_call"
    assert exam.score(task, Found((*task.gold, first))).error == "extra_call"
    assert exam.score(task, Found()).error == "no_call"


def test_relevance_is_any_call_and_irrelevance_is_none(
    parallel: tuple[bfcl.Bfcl, tuple[Task, ...]],
) -> None:
    exam, tasks = parallel
    wanted = next(t for t in tasks if t.category == "live_relevance")
    some = Found((ToolCall("1", "x", {}),))
    assert exam.score(wanted, some).right
    assert exam.score(wanted, Found()).error == "no_call"
    unwanted = replace(wanted, category="irrelevance")
    assert exam.score(unwanted, Found()).right
    assert exam.score(unwanted, some).error == "unwanted_call"


def test_the_question_offers_the_tools(parallel: tuple[bfcl.Bfcl, tuple[Task, ...]]) -> None:
    exam, tasks = parallel
    assert exam.ask(tasks[0]).tools == tasks[0].tools
