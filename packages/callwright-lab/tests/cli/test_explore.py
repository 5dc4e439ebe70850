"""``callwright explore`` as a user calls it: a learner over a real endpoint, and runs from their
journals.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from callwright_lab.cli.explore import Form, Layout
from callwright_lab.reflection.row import row_of
from callwright_lab.transcripts import WRITTEN, read_files
from tests.cli import program
from tests.cli.killed import NOTE, World, posix, without_cost
from tests.cli.test_verify_trajectories import CLEAR, END, FUNCTION, TOOLS, endpoint, record
from tests.reflection.runs import NO, NONE, bound, made


def callwright(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    state = {
        "XDG_STATE_HOME": str(folder / "state"),
        "CALLWRIGHT_RUNS": str(folder / "runs"),
        "COLUMNS": "200",
    }
    return program.callwright("explore", *arguments, folder=folder, **state)


def learner(body: dict[str, Any]) -> str:
    """Knows the wrong city half of the time, and a wrong argument once."""
    call = (
        "weather(city='Rome')",
        "weather(city='Bergen')",
        "weather(town='Oslo')",
        "weather(city='Oslo')",
    )
    return f"<thought>I ask.</thought>\n<execute>\nprint({call[body['seed'] % 4]})\n</execute>"


def test_a_learners_errors_become_rows_that_convert_reads_and_a_second_run_asks_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "v.jsonl").write_text(json.dumps(record("good", CLEAR, ending=END)) + "\n")
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> str:
        if (
            body.get("temperature") == 1.0
        ):  # not one of the questions that find out what the endpoint can do
            asked.append(body["seed"])
        return learner(body)

    with endpoint(answer) as url:
        wanted = [
            "v.jsonl",
            "--tools",
            "tools.py",
            "--model",
            url,
            "--out",
            "r.jsonl",
            "--report",
            "r.md",
        ]
        done = callwright(*wanted, folder=tmp_path)
        again = callwright(*wanted[:-1], "r.html", "--to", "trl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(asked) == [0, 1, 2, 3], "the second run goes on from the first"
    assert "3 rows written" in done.stderr
    assert again.returncode == 0, again.stderr
    report = (tmp_path / "r.md").read_text()
    for kind in (
        "planning: other argument values",
        "calling: execution failure",
        "calling: ",
        "right",
    ):
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


async def test_runs_are_harvested_from_their_journals_and_the_filters_say_what_they_did(
    tmp_path: Path,
) -> None:
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


COUNTED = f'''{NOTE}
from callwright.tools import tool
from callwright.nouns.types import READ_LOCAL, WRITE

@tool(effects=READ_LOCAL)
def weather(city: str) -> dict[str, object]:
    """The weather of a city."""
    note(f"tool weather {{city}}")
    return {{"city": city, "sky": {{"Oslo": "clear", "Rome": "cloudy"}}[city]}}

@tool(effects=WRITE)
def book(city: str) -> dict[str, object]:
    """Book a room."""
    note(f"tool book {{city}}")
    return {{"booked": city}}

@tool(effects=WRITE)
def send(text: str) -> dict[str, object]:
    """Send a letter."""
    note(f"tool send {{text}}")
    return {{}}
'''
COMMANDS = """
import sys
from callwright.cli.app import app

models = [part for name in ("model", "reflector", "judge", "imitate") for part in (f"--{name}", sys.argv[1])]
explore = "explore v.jsonl --tools tools.py --sandbox book --samples 6 --out rows.jsonl --report explore.md".split()
dataset = "verify dataset data.jsonl --report dataset.md --model".split()
common = ["--concurrency", "1", "--json", "--journal"]
app([*explore, *models, *common, "explore.journal"], standalone_mode=False)
app([*dataset, sys.argv[1], *common, "dataset.journal"], standalone_mode=False)
"""
ACTIONS = (  # a read, one that fails, two that compute, a write in the sandbox, one that is imitated
    "print(weather(city='Rome'))",
    "print(weather(city='Bergen'))",
    "print(weather(city='Ro' + 'me'))",
    "print(first['city'])\nprint(weather(city='Os' + 'lo')['cloud'])",
    "print(book(city='Oslo'))",
    "print(send(text='Oslo'))",
)


def in_parts(body: dict[str, Any]) -> str:
    """What every model says: the learner by its seed, the others by what they are asked."""
    text = str(body["messages"])
    if body.get("temperature") == 1.0:
        return f"<thought>I ask.</thought>\n<execute>\n{ACTIONS[body['seed'] % 6]}\n</execute>"
    if "API Server" in text:
        return json.dumps({"error": "", "response": {"sent": "Oslo"}})
    if "serves" in text:
        return json.dumps({"why": "It says nothing of Oslo.", "serves": "no"})
    if "analysis" in text:
        return json.dumps(
            {"analysis": "That is not what was asked for.", "strategy": "I ask for Oslo."}
        )
    return json.dumps(
        {"reason": "fine", "specificity": True, "coherence": True, "solvability": False}
    )


def exploring(folder: Path) -> World:
    """Two trajectories; the first round of the second left a variable, and what it called is not on
    record.
    """
    tools = [FUNCTION, *({**FUNCTION, "function": {**FUNCTION["function"], **one}} for one in MORE)]
    first = ("first = weather(city='Oslo')\nprint('noted')", "noted")
    made = [record("one", CLEAR, ending=END), record("two", first, CLEAR, ending=END)]
    for row in made:
        row["messages"][0]["content"] = f"You call APIs.\n{tools!r}"
    made[1]["messages"][1]["content"] += " Be quick."  # another request
    rows = "\n".join(map(json.dumps, made))
    files = {"tools__py": COUNTED, "v__jsonl": rows, "data__jsonl": rows}
    return World(folder, COMMANDS, in_parts, "Oslo", **files)


MORE = (
    {"name": "book"},
    {
        "name": "send",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    },
)


def told(world: World) -> list[str]:
    """The rows, and the reports without what they cost."""
    reports = [
        (world.folder / name).read_text().splitlines() for name in ("explore.md", "dataset.md")
    ]
    counted = [
        "\n".join(line for line in lines if " model calls, " not in line) for lines in reports
    ]
    return [(world.folder / "rows.jsonl").read_text(), *counted]


@pytest.mark.heavy
@posix
def test_killed_at_random_points_no_call_is_made_twice_and_the_rows_are_the_same(
    tmp_path: Path,
) -> None:
    """Only what was under way when the process was killed is asked or, where it only reads, called
    again.
    """
    whole, broken = exploring(tmp_path / "whole"), exploring(tmp_path / "broken")
    expected = whole.whole()
    calls = Counter(line for line in whole.asked if line.startswith("tool"))
    assert calls.keys() == {
        "tool weather Rome",
        "tool weather Bergen",
        "tool weather Oslo",
        "tool book Oslo",
    }
    of_calls, of_questions = (
        [
            n
            for n, line in enumerate(whole.asked, 1)
            if line.startswith(kind) and line != "tool book Oslo"
        ]
        for kind in ("tool", "model")
    )
    kills = sorted(
        [*Random(3).sample(of_calls, 2), *Random(3).sample(of_questions, 1), len(whole.asked) + 3]
    )
    assert without_cost(broken.broken(*kills)) == without_cost(expected)
    under_way = [broken.asked[kill - 1] for kill in kills]
    assert Counter(broken.asked) == Counter(whole.asked) + Counter(under_way)
    assert told(broken) == told(whole)
    assert {line.partition(" ")[0] for line in under_way} == {"tool", "model"}


@posix
def test_a_write_that_was_under_way_in_the_sandbox_is_named_and_not_made_again(
    tmp_path: Path,
) -> None:
    """All other samples are judged as ever; whoever asks again is told the same."""
    whole, broken = exploring(tmp_path / "whole"), exploring(tmp_path / "broken")
    were = {one["id"]: one for one in whole.whole()}
    with broken.model() as url:
        assert broken.live(url, whole.asked.index("tool book Oslo") + 1)[0] != 0
        found, again = ({one["id"]: one for one in broken.live(url)[1]} for _ in range(2))
    assert broken.asked.count("tool book Oslo") == whole.asked.count("tool book Oslo")
    (doubted,) = (one for one in found.values() if one["category"] == "in doubt")
    assert 'in doubt: book({"city":"Oslo"}) was under way' in doubted["why"]
    assert found.keys() == were.keys()
    assert [id for id in found if found[id]["why"] != were[id]["why"]] == [doubted["id"]]
    assert not doubted["kept"]
    assert again == found
    assert "in doubt" in (broken.folder / "explore.md").read_text()
