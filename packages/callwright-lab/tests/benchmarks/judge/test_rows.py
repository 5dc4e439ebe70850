"""Verdicts as rows: resumed, told apart by what was judged, fair to both places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import JsonObject
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.judge.rows import (
    Item,
    Judge,
    build_pass_item,
    build_win_item,
    group_verdicts,
    judge_in_turn,
    judge_item,
    judge_missing,
    keep_latest_rows,
)
from tests.benchmarks.trajectory_case import run

PASSES: dict[str, Any] = {"content": "fine", "answer_status": "Pass"}
FIRST_IS_BETTER = {"content": "", "better_answer_index": 0, "index": 0}


async def test_every_item_is_judged_so_many_times_and_never_again(tmp_path: Path) -> None:
    items = [build_pass_item("pr", name, run(id=name), system="ours") for name in ("a", "b")]
    model = ScriptedModel({"judge": PASSES})
    assert await judge_missing(Judge(model), items, tmp_path / "rows.jsonl") == 0
    assert len(model.requests) == 6
    assert await judge_missing(Judge(model), items, tmp_path / "rows.jsonl") == 0
    assert len(model.requests) == 6
    rows = read_rows(tmp_path / "rows.jsonl")
    assert group_verdicts(rows, "pr") == {
        name: {0: "Pass", 1: "Pass", 2: "Pass"} for name in ("a", "b")
    }
    assert {row["system"] for row in rows} == {"ours"}


async def test_a_stopped_command_goes_on_where_it_was(tmp_path: Path) -> None:
    items = [build_pass_item("pr", name, run()) for name in ("a", "b", "c")]
    broken = ScriptedModel([PASSES, ModelError("gone", retryable=True)])
    with pytest.raises(ModelError):
        await judge_missing(Judge(broken), items, tmp_path / "rows.jsonl", runs=1)
    model = ScriptedModel({"judge": PASSES})
    assert await judge_missing(Judge(model), items, tmp_path / "rows.jsonl", runs=1) == 0
    assert len(model.requests) == 2


async def test_nothing_to_judge_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run to judge"):
        await judge_missing(Judge(ScriptedModel([])), [], tmp_path / "rows.jsonl")


async def test_another_run_of_the_same_task_is_judged_anew(tmp_path: Path) -> None:
    model = ScriptedModel({"judge": PASSES})
    for answer in ("It rains.", "It snows."):
        await judge_missing(
            Judge(model), [build_pass_item("pr", "a", run(answer))], tmp_path / "rows.jsonl", runs=1
        )
    assert len(model.requests) == 2


async def test_a_stage_begins_when_those_before_it_are_complete_and_is_made_of_their_verdicts(
    tmp_path: Path,
) -> None:
    path, seen, model = tmp_path / "rows.jsonl", [], ScriptedModel({"judge": PASSES})

    def second(said: Sequence[JsonObject]) -> list[Item]:
        seen.append([row["verdict"] for row in said])
        return [build_pass_item("pr", f"after {len(said)}", run())]

    def first(_: Sequence[JsonObject]) -> list[Item]:
        return [build_pass_item("pr", name, run()) for name in ("a", "b")]

    ended = await judge_in_turn(Judge(model), [first, second], path, runs=2, limit_seconds=1e-9)
    assert (ended, seen, model.requests) == (6, [[]], [])
    assert await judge_in_turn(Judge(model), [first, second], path, runs=2) == 0
    assert seen[1] == ["Pass"] * 4
    assert [row["item"] for row in read_rows(path)][4:] == ["after 4"] * 2
    assert await judge_in_turn(Judge(model), [lambda _: [], first], path, runs=2) == 0
    with pytest.raises(ConfigError, match="no run to judge"):
        await judge_in_turn(Judge(model), [lambda _: []], path)


async def test_of_a_run_that_was_judged_anew_the_old_verdict_is_no_verdict(tmp_path: Path) -> None:
    for answer, status in (("It rains.", "Fail"), ("It snows.", "Pass")):
        model = ScriptedModel({"judge": {"content": "", "answer_status": status}})
        await judge_missing(
            Judge(model), [build_pass_item("pr", "a", run(answer))], tmp_path / "rows.jsonl", runs=2
        )
    rows = read_rows(tmp_path / "rows.jsonl")
    assert [row["verdict"] for row in rows] == ["Fail", "Fail", "Pass", "Pass"]
    assert [row["verdict"] for row in keep_latest_rows(rows)] == ["Pass", "Pass"]


async def test_no_question_is_begun_after_the_time_and_the_missing_are_counted(
    tmp_path: Path,
) -> None:
    items = [build_pass_item("pr", str(i), run()) for i in range(5)]
    left = await judge_missing(
        Judge(ScriptedModel({"judge": PASSES})), items, tmp_path / "r", limit_seconds=1e-9
    )
    assert left == 15


async def test_a_question_that_is_too_long_is_no_verdict_and_does_not_end_the_rest() -> None:
    model = ScriptedModel([ModelError("the prompt is longer than the model's context", status=400)])
    row = await judge_item(Judge(model), build_pass_item("pr", "a", run()), 0)
    assert (row["verdict"], row["reason"]) == ("", "the prompt is longer than the model's context")


async def test_a_judge_that_cannot_be_asked_at_all_ends_it() -> None:
    with pytest.raises(ModelError, match="key"):
        await judge_item(
            Judge(ScriptedModel([ModelError("wrong key", status=401)])),
            build_pass_item("pr", "a", run()),
            0,
        )


async def test_places_take_turns_and_the_winner_is_told_from_our_side() -> None:
    model = ScriptedModel({"judge": FIRST_IS_BETTER})
    item = build_win_item("wr", "a", run("ours"), run("theirs"))
    rows = [await judge_item(Judge(model), item, number) for number in range(4)]
    assert sorted(row["verdict"] for row in rows) == ["lose", "lose", "win", "win"]
    assert {(row["verdict"], row["more"]) for row in rows} == {("win", ""), ("lose", "swapped")}


async def test_of_two_the_solved_one_wins_without_a_question() -> None:
    model = ScriptedModel([])
    judge = Judge(model)
    assert (
        await judge_item(
            judge, build_win_item("sowr", "a", run(), run(None), ("Solved", "Unsolved")), 0
        )
    )["verdict"] == "win"
    assert (
        await judge_item(
            judge, build_win_item("sowr", "a", run(), run(None), ("Unsolved", "Unsure")), 0
        )
    )["verdict"] == "lose"
    assert model.requests == []


async def test_two_that_stand_alike_are_compared() -> None:
    model = ScriptedModel({"judge": FIRST_IS_BETTER})
    item = build_win_item(
        "sowr", "a", run("ours"), run("theirs"), ("Solved", "Solved"), swapped=False
    )
    assert (await judge_item(Judge(model), item, 0))["verdict"] == "win"
    assert len(model.requests) == 1


async def test_a_judge_is_held_to_schemas_where_its_endpoint_can() -> None:
    able = await Judge.of(ScriptedModel([], capabilities=Capabilities(json_schema=True)))
    not_able = await Judge.of(ScriptedModel([], capabilities=Capabilities()))
    assert (able.constrained, not_able.constrained) == (True, False)
    assert able.config != not_able.config
