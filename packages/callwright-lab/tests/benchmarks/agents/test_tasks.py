"""The tasks: frozen, in two halves, and each solved by its own gold."""

from __future__ import annotations

from collections import Counter

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.agents.judge import has_fact, judge_job
from callwright_lab.benchmarks.agents.tasks import (
    SAMPLE,
    Task,
    compute_data_digest,
    load_tasks,
    read_frozen_digest,
    select_tasks,
)

TASKS = load_tasks()
KINDS = (
    "read write chain two_wishes many_of_one missing impossible small_talk pending"
    " read_after_write history reminder derived"
).split()


def test_the_data_are_those_that_were_frozen() -> None:
    assert compute_data_digest() == read_frozen_digest()


def test_every_kind_and_language_is_in_both_halves() -> None:
    assert len(TASKS) >= 96
    assert len({task.id for task in TASKS}) == len(TASKS)
    for half in ("dev", "final"):
        of_half = [task for task in TASKS if task.half == half]
        assert len(of_half) >= 48
        assert {task.kind for task in of_half} == set(KINDS)
        assert set(Counter(task.language for task in of_half)) == {"en", "de", "es", "zh", "ar"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_gold_solves_its_task(task: Task) -> None:
    world, messages = task.open_world()
    assert task.request in messages[-1]["content"]
    called = [world.call(call.tool, call.arguments) for call in task.gold]
    assert task.ending.refuses or all(one.is_ok for one in called)
    score = judge_job(task, world.log, task.answer)
    assert score.is_success, score.reasons
    assert (score.invented, score.is_false_refusal) == (0, False)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_facts_stand_in_what_the_tools_return(task: Task) -> None:
    """Except sums, which the answer derives."""
    world, _ = task.open_world()
    texts = "\n".join(world.call(call.tool, call.arguments).text for call in task.gold)
    if task.kind not in ("derived", "read") and task.language == "en":
        assert all(has_fact(texts, fact) for fact in task.ending.facts)


@pytest.mark.parametrize("task", [t for t in TASKS if t.careless], ids=lambda task: task.id)
def test_the_careless_call_is_one_nobody_asked_for(task: Task) -> None:
    world, _ = task.open_world()
    for call in task.careless:
        assert world.call(call.tool, call.arguments).is_ok
    score = judge_job(task, world.log, task.answer)
    assert score.unasked == 1
    assert score.invented >= (task.kind == "missing" and task.id != "de-missing-2")


def test_earlier_calls_were_made_in_the_world_and_are_no_part_of_its_log() -> None:
    task = next(task for task in TASKS if task.id == "en-history-2")
    world, messages = task.open_world()
    assert world.log == []
    assert world.state["orders"]["O-5005"]["quantity"] == 3
    assert [m["role"] for m in messages] == "system user assistant tool assistant user".split()
    assert messages[2]["calls"][0]["id"] == messages[3]["id"]
    assert "O-5005" in messages[3]["content"]


def test_a_reminder_stands_word_for_word_in_every_message_of_the_user() -> None:
    task = next(task for task in TASKS if task.reminder)
    _, messages = task.open_world()
    said = [m["content"] for m in messages if m["role"] == "user"]
    assert all(text.endswith(task.reminder) for text in said)


def test_the_final_half_is_opened_by_name_only() -> None:
    assert {task.half for task in select_tasks("dev")} == {"dev"}
    final = next(task.id for task in TASKS if task.half == "final")
    for which in ("final", "all", final):
        with pytest.raises(ConfigError, match="opened once"):
            select_tasks(which)
    assert {task.half for task in select_tasks("final", may_open_final=True)} == {"final"}
    assert [task.id for task in select_tasks(final, may_open_final=True)] == [final]
    with pytest.raises(ConfigError, match="no task is called nothing"):
        select_tasks("nothing")


def test_a_sample_is_always_the_same() -> None:
    sample = select_tasks("dev", SAMPLE)
    assert len(sample) == SAMPLE
    assert sample == select_tasks("dev", SAMPLE)
    assert sample[:4] == select_tasks("dev", 4)
