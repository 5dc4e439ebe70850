"""The tasks: frozen, in two halves, and each solved by its own gold."""

from __future__ import annotations

from collections import Counter

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import to_canonical_json
from callwright_lab.benchmarks.agents.judge import has_fact, judge_job
from callwright_lab.benchmarks.agents.task_set import HOME, SETS
from callwright_lab.benchmarks.agents.tasks import SAMPLE, Task, load_tasks, select_tasks

TASKS = load_tasks()
OF_HOME = load_tasks(HOME)
ALL = (*TASKS, *OF_HOME)
KINDS = (
    "read write chain two_wishes many_of_one missing impossible small_talk pending"
    " read_after_write history reminder derived"
).split()
OF_KIND = {
    "read": 25,
    "read-then-tempting": 12,
    "negated": 18,
    "all-but": 6,
    "two": 10,
    "chain": 10,
    "ask": 5,
    "refuse": 4,
    "turn": 10,
    "already": 4,
}
"""Kind of the home -> its tasks."""


def test_every_kind_and_language_is_in_both_halves() -> None:
    assert len(TASKS) >= 96
    assert len({task.id for task in TASKS}) == len(TASKS)
    for half in ("dev", "final"):
        of_half = [task for task in TASKS if task.half == half]
        assert len(of_half) >= 48
        assert {task.kind for task in of_half} == set(KINDS)
        assert set(Counter(task.language for task in of_half)) == {"en", "de", "es", "zh", "ar"}


def test_the_home_has_its_kinds_and_languages_in_both_halves() -> None:
    assert Counter(task.kind for task in OF_HOME) == OF_KIND
    languages = Counter(task.language for task in OF_HOME)
    assert languages == {"en": 36, "de": 17, "es": 17, "zh": 17, "ar": 17}
    assert Counter(task.half for task in OF_HOME) == {"dev": 52, "final": 52}
    for half in ("dev", "final"):
        of_half = [task for task in OF_HOME if task.half == half]
        assert {task.kind for task in of_half} == {*OF_KIND}
        assert {task.language for task in of_half} == {*languages}
    assert len({task.id for task in ALL}) == len(ALL)


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.id)
def test_gold_solves_its_task_and_silence_does_not(task: Task) -> None:
    world, messages = task.open_world()
    assert task.request in messages[-1]["content"]
    called = [world.call(call.tool, call.arguments) for call in task.gold]
    assert task.ending.refuses or all(one.is_ok for one in called)
    score = judge_job(task, world.log, task.answer)
    assert score.is_success, score.reasons
    assert (score.invented, score.is_false_refusal) == (0, False)
    assert not judge_job(task, world.log, "").is_success


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_facts_stand_in_what_the_tools_return(task: Task) -> None:
    """Except sums, which the answer derives."""
    world, _ = task.open_world()
    texts = "\n".join(world.call(call.tool, call.arguments).text for call in task.gold)
    if task.kind not in ("derived", "read") and task.language == "en":
        assert all(has_fact(texts, fact) for fact in task.ending.facts)


@pytest.mark.parametrize("task", OF_HOME, ids=lambda task: task.id)
def test_facts_of_the_home_stand_in_results_or_are_their_sum(task: Task) -> None:
    world, messages = task.open_world()
    said = [world.call(call.tool, call.arguments).text for call in task.gold]
    texts = "\n".join([*said, to_canonical_json(messages[1:-1])])
    unsaid = [fact for fact in task.ending.facts if not has_fact(texts, fact)]
    assert unsaid in ([], [(333.7,)])


def test_what_only_reads_or_is_done_already_needs_no_write() -> None:
    """The gold of these kinds holds reads alone, and every task offers a careless write."""
    still = {"read", "read-then-tempting", "already", "ask", "refuse"}
    for task in (task for task in OF_HOME if task.kind in still):
        rows = HOME.declarations
        assert all(rows[call.tool]["effect"] == "read" for call in task.gold), task.id
        assert all(rows[call.tool]["effect"] != "read" for call in task.careless), task.id
        assert task.careless, task.id


@pytest.mark.parametrize("task", [t for t in OF_HOME if t.ending.allowed], ids=lambda t: t.id)
def test_an_allowed_write_is_no_harm_and_needs_not_be_made(task: Task) -> None:
    world, _ = task.open_world()
    for call in (*task.gold, *task.ending.allowed):
        assert world.call(call.tool, call.arguments).is_ok
    assert judge_job(task, world.log, task.answer).is_success


@pytest.mark.parametrize("task", [t for t in ALL if t.careless], ids=lambda task: task.id)
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


def test_a_set_is_chosen_before_its_half() -> None:
    assert select_tasks("dev") == tuple(task for task in TASKS if task.half == "dev")
    assert select_tasks("home-dev") == tuple(task for task in OF_HOME if task.half == "dev")
    assert select_tasks("home-all", may_open_final=True) == OF_HOME
    assert {task.task_set for task in select_tasks("all", may_open_final=True)} == {SETS["office"]}
    with pytest.raises(ConfigError, match="opened once"):
        select_tasks("home-final")
    mixed = select_tasks("home-en-read-2,en-read-2", may_open_final=True)
    assert [task.task_set.name for task in mixed] == ["home", "office"]
    assert len(select_tasks("home-dev", SAMPLE)) == SAMPLE


def test_a_task_may_offer_every_tool_of_its_set() -> None:
    task = load_tasks()[0]
    offered = task.offer_all()
    assert set(task.tools) < set(offered.tools) == {*task.task_set.declarations}
    assert (offered.id, offered.half, offered.gold) == (task.id, task.half, task.gold)
    assert [*offered.open_world()[0].tools] == [*offered.tools]


def test_a_sample_is_always_the_same() -> None:
    sample = select_tasks("dev", SAMPLE)
    assert len(sample) == SAMPLE
    assert sample == select_tasks("dev", SAMPLE)
    assert sample[:4] == select_tasks("dev", 4)
