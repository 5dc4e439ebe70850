"""``callwright explore`` as a user calls it: a learner over a real endpoint, and runs from their journals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.cli import program
from tests.cli.test_verify_trajectories import CLEAR, END, TOOLS, endpoint, record
from tests.explore.runs import NO, NONE, bound, made

from callwright.cli.explore import Form, Layout
from callwright.explore.row import row_of
from callwright.transcripts import WRITTEN, read_files


def callwright(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    state = {"XDG_STATE_HOME": str(folder / "state"), "CALLWRIGHT_RUNS": str(folder / "runs"), "COLUMNS": "200"}
    return program.callwright("explore", *arguments, folder=folder, **state)


def learner(body: dict[str, Any]) -> str:
    """Knows the wrong city half of the time, and a wrong argument once."""
    call = ("weather(city='Rome')", "weather(city='Bergen')", "weather(town='Oslo')", "weather(city='Oslo')")
    return f"<thought>I ask.</thought>\n<execute>\nprint({call[body['seed'] % 4]})\n</execute>"


def test_a_learners_errors_become_rows_that_convert_reads_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "v.jsonl").write_text(json.dumps(record("good", CLEAR, ending=END)) + "\n")
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> str:
        if body.get("temperature") == 1.0:  # not one of the questions that find out what the endpoint can do
            asked.append(body["seed"])
        return learner(body)

    with endpoint(answer) as url:
        wanted = ["v.jsonl", "--tools", "tools.py", "--model", url, "--out", "r.jsonl", "--report", "r.md"]
        done = callwright(*wanted, folder=tmp_path)
        again = callwright(*wanted[:-1], "r.html", "--to", "trl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(asked) == [0, 1, 2, 3], "the second run goes on from the first"
    assert "3 rows written" in done.stderr
    assert again.returncode == 0, again.stderr
    report = (tmp_path / "r.md").read_text()
    for kind in ("planning: other argument values", "calling: execution failure", "calling: ", "right"):
        assert kind in report
    page = (tmp_path / "r.html").read_text()
    assert page.count("<h4>Reflection (by rule)</h4>") == 3
    assert "planning: other argument values" in page
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert all("prompt" in row for row in rows), "the last layout that was asked for"
    found = [row_of(row) for row in rows]
    assert {row.kind for row in found} == {"calling", "planning"}
    assert all(row.right[0].arguments == {"city": "Oslo"} for row in found)
    assert {t.format for _, t in read_files(tmp_path / "r.jsonl").transcripts} == {"trl"}


async def test_runs_are_harvested_from_their_journals_and_the_filters_say_what_they_did(tmp_path: Path) -> None:
    script = {"bind": [bound("OSL"), NONE], "repair": {"station": "ENGM"}}
    await made(tmp_path / "runs", {"weather": [NO]}, script)
    (tmp_path / "runs" / "broken.run").write_text("no journal")
    done = callwright("--runs", "runs", "--out", "r.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: runs/broken.run" in done.stderr
    assert "1 runs hold 1 errors that were put right" in done.stderr
    assert "addresses renamed 1" in done.stderr
    (line,) = (tmp_path / "r.jsonl").read_text().splitlines()
    row = row_of(json.loads(line))
    assert "fjord" not in line
    assert row.before.query.endswith("for person1@example.com?")
    assert row.right[0].arguments == {"station": "ENGM"}
    none = callwright("--runs", "runs", "--drop", "weather", "--out", "none.jsonl", folder=tmp_path)
    assert "rows dropped for their tools 1" in none.stderr
    assert (tmp_path / "none.jsonl").read_text() == ""


def test_what_to_explore_must_be_said_and_be_there(tmp_path: Path) -> None:
    done = callwright(folder=tmp_path)
    assert done.returncode == 1
    assert "explore takes verified trajectories, or runs to harvest" in done.stderr
    (tmp_path / "empty").mkdir()
    done = callwright("--runs", "empty", "empty", folder=tmp_path)
    assert done.returncode == 1
    assert "there is no run to harvest" in done.stderr


def test_the_layouts_and_forms_are_those_that_there_are() -> None:
    assert {one.value for one in Layout} < set(WRITTEN)
    assert {one.value for one in Form} == {"auto", "code", "calls"}
