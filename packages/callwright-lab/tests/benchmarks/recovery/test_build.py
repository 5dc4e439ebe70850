"""Where error cases come from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.recovery.build import (
    Building,
    Made,
    iter_desk_cases,
    iter_file_cases,
    iter_published_cases,
    make_desk_live,
    render_build_report,
)
from callwright_lab.benchmarks.recovery.cases import ErrorCase, read_cases, write_cases
from callwright_lab.datasets.sources import data_root
from callwright_lab.transcripts.messages import OPENAI
from callwright_lab.transcripts.tooleval import TOOLEVAL
from callwright_lab.transcripts.transcript import Transcript, write
from tests.benchmarks.desk.test_bench import DESK
from tests.benchmarks.recovery.test_cases import published
from tests.benchmarks.recovery.test_inject import SEVERAL


async def made_of(attempts: object) -> list[Made]:
    return [one async for one in attempts]  # type: ignore[attr-defined]


async def test_verified_trajectories_of_any_format_become_cases(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text(json.dumps({"7": write(Transcript(SEVERAL), TOOLEVAL)}))
    made = await made_of(iter_file_cases(tmp_path / "runs.json", Building(each=2)))
    assert len(made) == 4
    assert {one.part for one in made if isinstance(one, ErrorCase)} <= {"I3"}
    assert "cases of 4 attempts." in render_build_report(made)


async def test_runs_of_one_id_in_two_files_become_cases_that_can_be_told_apart(
    tmp_path: Path,
) -> None:
    for name in ("a.json", "b.json"):
        row = write(Transcript(replace(SEVERAL, id="7")), OPENAI)
        (tmp_path / name).write_text(json.dumps([{"id": "7", **row}]))
    simulator = ScriptedModel({"simulate": {"error": "", "response": {"sky": "snow"}}})
    made = await made_of(iter_file_cases(tmp_path, Building(simulator=simulator)))
    assert len({one.id for one in made}) == len(made) == 4


async def test_the_same_error_twice_is_one_case(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text(json.dumps({"7": write(Transcript(SEVERAL), TOOLEVAL)}))
    simulator = ScriptedModel({"simulate": {"error": "", "response": {"sky": "snow"}}})
    made = await made_of(
        iter_file_cases(tmp_path / "runs.json", Building(simulator=simulator, each=6))
    )
    cases = [one for one in made if isinstance(one, ErrorCase)]
    assert (
        len({(case.call.tool, str(case.call.arguments), len(case.before)) for case in cases})
        == len(cases)
        > 1
    )
    assert "another attempt gave the same error" in render_build_report(made)


async def test_the_published_samples_are_carried_out_anew_with_a_simulator(tmp_path: Path) -> None:
    simulator = ScriptedModel({"simulate": {"error": "", "response": {"result": 41}}})
    made = await made_of(iter_published_cases(published(tmp_path), Building(simulator=simulator)))
    cases = [one for one in made if isinstance(one, ErrorCase)]
    assert [case.part for case in cases] == ["I1", "I3"]
    assert cases[0].wrong.results[0].failure is not None  # the schema refuses "many" for a number
    assert cases[0].gold.content == {"result": 41}


async def test_without_a_simulator_tools_that_are_not_there_give_nothing_and_that_is_said(
    tmp_path: Path,
) -> None:
    made = await made_of(iter_published_cases(published(tmp_path), Building()))
    assert not any(isinstance(one, ErrorCase) for one in made)
    assert "the right call brings nothing here" in render_build_report(made)


async def test_published_samples_can_be_kept_unfiltered_and_say_what_is_wrong_with_them(
    tmp_path: Path,
) -> None:
    simulator = ScriptedModel({"simulate": {"error": "the service is closed", "response": ""}})
    how = Building(simulator=simulator, strict=False)
    single, several = await made_of(iter_published_cases(published(tmp_path), how))
    assert isinstance(single, ErrorCase)
    assert isinstance(several, ErrorCase)
    assert single.note.endswith("; the right call brings nothing here")
    assert single.gold.content is None


async def test_all_nine_published_samples_load_and_can_be_run(tmp_path: Path) -> None:
    folder = data_root() / "refinetoolbench"
    if not folder.is_dir():
        pytest.skip("needs shared data: RefineToolBench")
    simulator = ScriptedModel({"simulate": {"error": "", "response": {"done": True}}})
    made = await made_of(iter_published_cases(folder, Building(simulator=simulator, strict=False)))
    assert len(made) == 9
    write_cases(tmp_path / "cases.jsonl", [one for one in made if isinstance(one, ErrorCase)])
    assert len(read_cases(tmp_path / "cases.jsonl")) == 9
    assert (
        sum(
            bool(one.note) and "cannot be known" in one.note
            for one in made
            if isinstance(one, ErrorCase)
        )
        == 2
    )


async def test_the_desk_gives_cases_with_its_own_live_tools() -> None:
    made = await made_of(iter_desk_cases(DESK, Building()))
    cases = [one for one in made if isinstance(one, ErrorCase)]
    assert {case.part for case in cases} == {"I1", "I3"}
    assert all(case.gold.content is not None for case in cases)
    with make_desk_live(DESK)(cases[0]) as sources:
        assert sources
