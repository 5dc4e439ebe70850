"""StableToolBench's tasks and the virtual server in front of which they are run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolOutput
from callwright.planning import open_planner
from callwright.simulation.recording import Recorded, Recording
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import Bench, run_task
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.stabletoolbench.tasks import (
    StableToolBench,
    VirtualServer,
    build_tasks,
    read_answers,
    read_queries,
    sample_tasks,
)
from callwright_lab.datasets.sources import data_root
from callwright_lab.transcripts.tooleval import TOOLEVAL
from callwright_lab.transcripts.transcript import Transcript, write
from tests.benchmarks.trajectory_case import run, step

API = {
    "category_name": "Weather",
    "tool_name": "Sky",
    "api_name": "weather",
    "api_description": "Weather of a city.",
    "required_parameters": [{"name": "city", "type": "STRING", "description": "", "default": ""}],
    "optional_parameters": [],
    "method": "GET",
}
TOOL = "weather_for_sky"
FINISHED = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
SAID = {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}


def call(city: str) -> dict[str, Any]:
    return {"thought": "next", "action": {"tool": TOOL, "arguments": {"city": city}}}


def queries(folder: Path, ids: tuple[int, ...] = (1, 2, 3)) -> Path:
    folder.mkdir(exist_ok=True)
    for group in ("G1_instruction", "G2_instruction"):
        rows = [
            {
                "api_list": [API],
                "query": f"Weather {n}?",
                "relevant APIs": [["Sky", "weather"]],
                "query_id": n,
            }
            for n in ids
        ]
        (folder / f"{group}.json").write_text(json.dumps(rows))
    return folder


def answers(folder: Path, group: str = "G1_instruction", **runs: Any) -> Path:
    """An answer file of ToolEval: query id -> run."""
    folder.mkdir(exist_ok=True)
    rows = {key.removeprefix("q"): write(Transcript(one), TOOLEVAL) for key, one in runs.items()}
    (folder / f"{group}.json").write_text(json.dumps(rows))
    return folder


async def row_of(
    server: VirtualServer, tasks: Any, script: Any, strategy: str = "react"
) -> dict[str, Any]:
    bench = Bench(
        StableToolBench(tasks, server), ScriptedModel(script), planner=open_planner("all-in-one")
    )
    return await run_task(bench, tasks[0], strategy)


def test_queries_are_tasks_by_group_with_their_own_tools(tmp_path: Path) -> None:
    tasks = read_queries(queries(tmp_path / "q"))
    assert [task.id for task in tasks[:2]] == ["G1_instruction/1", "G1_instruction/2"]
    assert {tool.name for tool in tasks[0].tools} == {TOOL}
    assert all(task.solvable for task in tasks)


def test_a_sample_is_so_many_of_each_group_in_an_order_nobody_chose(tmp_path: Path) -> None:
    tasks = read_queries(queries(tmp_path / "q"))
    few, more = sample_tasks(tasks, each=1), sample_tasks(tasks, each=2)
    assert [task.group for task in few] == ["G1_instruction", "G2_instruction"]
    assert {*few} <= {*more}
    assert [task.group for task in sample_tasks(tasks, ["G2_instruction"])] == [
        "G2_instruction"
    ] * 3
    with pytest.raises(ConfigError, match="no group 'G9'"):
        sample_tasks(tasks, ["G9"])


def test_others_answers_are_read_and_their_tasks_are_solvable_only_where_that_is_known(
    tmp_path: Path,
) -> None:
    found = read_answers(answers(tmp_path / "a", q1=run("It rains."), q9=run(None, given_up=True)))
    assert found["G1_instruction/1"].answer == "It rains."
    assert found["G1_instruction/9"].given_up
    tasks = {task.id: task.solvable for task in build_tasks(found, ["G1_instruction/1"])}
    assert tasks == {"G1_instruction/1": True, "G1_instruction/9": False}


def test_what_is_no_query_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no StableToolBench queries"):
        read_queries(tmp_path)
    (tmp_path / "G1.json").write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        read_queries(tmp_path)


async def test_recorded_replies_come_first_by_name_and_arguments(tmp_path: Path) -> None:
    recorded = Recording(
        [Recorded(TOOL, {"city": "Oslo"}, ToolOutput({"sky": "rain"}), digest="another")]
    )
    tasks = read_queries(queries(tmp_path / "q"))
    row = await row_of(
        VirtualServer(recorded), tasks, {"bind": [call("Oslo"), FINISHED], "*": SAID}
    )
    assert (row["tools"], row["group"], row["solvable"], row["answered"]) == (
        [TOOL],
        "G1_instruction",
        True,
        True,
    )


async def test_what_a_model_made_up_is_kept_and_answered_again_without_it(tmp_path: Path) -> None:
    tasks, kept = read_queries(queries(tmp_path / "q")), tmp_path / "replies.jsonl"
    model = ScriptedModel({"simulate": {"error": "", "response": {"sky": "snow"}}})
    script = {"bind": [call("Oslo"), FINISHED], "*": SAID}
    assert (await row_of(VirtualServer(None, model, kept), tasks, script))["tools"] == [TOOL]
    assert [row["arguments"] for row in read_rows(kept)] == [{"city": "Oslo"}]
    row = await row_of(
        VirtualServer(None, None, kept), tasks, {"bind": [call("Oslo"), FINISHED], "*": SAID}
    )
    assert row["tools"] == [TOOL]


async def test_without_a_record_and_a_model_a_call_fails_and_nothing_is_kept(
    tmp_path: Path,
) -> None:
    tasks, kept = read_queries(queries(tmp_path / "q")), tmp_path / "replies.jsonl"
    script = {
        "bind": [call("Oslo"), FINISHED],
        "repair": "no",
        "*": {"statements": [], "missing": ["all"]},
    }
    row = await row_of(VirtualServer(None, None, kept), tasks, script)
    assert (row["answered"], row["tools"]) == (False, [f"{TOOL}!"])
    assert not kept.exists()


def test_the_digest_is_of_the_tasks_and_of_who_imitates(tmp_path: Path) -> None:
    tasks = read_queries(queries(tmp_path / "q"))
    digests = {StableToolBench(tasks).digest, StableToolBench(tasks[:1]).digest}
    digests.add(StableToolBench(tasks, VirtualServer(None, ScriptedModel([]))).digest)
    assert len(digests) == 3


def test_of_tooleval_only_what_finish_was_given_is_an_answer(tmp_path: Path, capsys: Any) -> None:
    folder = answers(tmp_path / "a", q1=run("It rains."))
    rows = json.loads((folder / "G1_instruction.json").read_text())
    last = rows["1"]["answer"]["answer_details"][0]
    while last["next"]:
        last = last["next"][0]
    last |= {"role": "assistant", "message": "It may rain, I would say."}
    rows["1"]["answer"]["final_answer"] = ""
    (folder / "G1_instruction.json").write_text(json.dumps({**rows, "2": {"answer": "no record"}}))
    found = read_answers(folder)
    assert list(found) == ["G1_instruction/1"]
    assert (found["G1_instruction/1"].answer, found["G1_instruction/1"].given_up) == (None, False)
    assert "left out: G1_instruction.json, record 2" in capsys.readouterr().err


def test_the_published_runs_of_gpt_35_are_read_whole() -> None:
    folder = data_root() / "stabletoolbench" / "gpt35_react_runs"
    if not folder.is_dir():
        pytest.skip("needs shared data: StableToolBench")
    found = read_answers(folder)
    assert len(found) == 400
    assert sum(bool(one.answer) and not one.given_up for one in found.values()) == 232
    assert step("r1", {"city": "Oslo"}).calls[0].tool == "weather"
