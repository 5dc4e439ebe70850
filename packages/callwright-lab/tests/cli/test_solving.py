"""A request that the agent was solving when the process was killed goes on where it stood: no
question is asked and no call made a second time; and who imitates dead tools answers in their
place, marked.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ModelError
from callwright.nouns.trace import JsonlSink, Trace
from callwright.nouns.types import Tool, ToolOutput
from callwright.simulation.recording import record_call, start_recording
from callwright.testing import ScriptedModel
from callwright.tools.catalog import open_catalog
from callwright.tools.overlay import Overlay, ToolOverlay, documented
from callwright_lab.cli.solving import SolverServices
from callwright_lab.verify.budget import Account, Budget, BudgetSpent, Meter
from callwright_lab.verify.mock_tools import StandIn
from tests.cli.killed import World, posix, without_cost
from tests.cli.test_verify_trajectories import agent, endpoint

TOOLS = '''
from pathlib import Path
from callwright.tools import tool
from callwright.nouns.types import WRITE

@tool(effects=WRITE)
def weather(city: str) -> dict[str, object]:
    """The weather of a city."""
    with Path("calls.txt").open("a") as file:
        file.write(f"{city}\\n")
    return {"city": city, "sky": "clear"}
'''


def command(folder: Path, *more: str) -> list[str]:
    (folder / "tools.py").write_text(TOOLS)
    (folder / "asked.txt").write_text("What is the sky like in Oslo?\n")
    made = (
        "verify",
        "trajectories",
        "--requests",
        "asked.txt",
        "--tools",
        "tools.py",
        "--allow",
        "*",
    )
    return [
        sys.executable,
        "-P",
        "-m",
        "callwright",
        *made,
        "--journal",
        "j",
        "--out",
        "v.json",
        *more,
    ]


def environment(folder: Path) -> dict[str, str]:
    state = {
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "COLUMNS": "200",
    }
    return {**os.environ, **state}


def ended(line: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


async def offered(source: Path) -> Tool:
    async with open_catalog([str(source)]) as catalog:
        return catalog.tools[0]


def test_a_killed_run_goes_on_and_repeats_neither_a_question_nor_a_write(tmp_path: Path) -> None:
    second, killed, asked = threading.Event(), threading.Event(), []

    def answer(body: dict[str, Any]) -> str:
        if "Functions:" not in str(body):
            return "no"  # what the endpoint can do is found out first
        asked.append(len(body["messages"]))
        if len(asked) == 2:
            second.set()
            killed.wait(60)
        return agent(body)

    with endpoint(answer) as url:
        line = command(tmp_path, "--model", url)
        with subprocess.Popen(line, cwd=tmp_path, env=environment(tmp_path)) as process:
            assert second.wait(60)
            process.kill()
        killed.set()
        done = subprocess.run(
            line,
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
    assert "kept 1 of 1" in done.stdout, done.stderr
    assert (tmp_path / "calls.txt").read_text() == "Oslo\n"
    assert asked == [2, 4, 4], "only the question that was never answered"
    assert not (tmp_path / "j.runs").exists(), "what is judged needs no journal of its run"
    assert "Observation:" in (tmp_path / "v.json").read_text()


def test_an_imitator_answers_for_what_the_overlay_calls_dead_and_it_is_marked(
    tmp_path: Path,
) -> None:
    line = command(tmp_path)
    tool = asyncio.run(offered(tmp_path / "tools.py"))
    overlay = Overlay({tool.name: ToolOverlay(documented(tool), status="dead: unavailable")})
    overlay.write(tmp_path / "o.json")

    def answer(body: dict[str, Any]) -> str:
        if "API Server" in str(body):
            return json.dumps({"error": "", "response": {"city": "Oslo", "sky": "clear"}})
        return agent(body) if "Functions:" in str(body) else "no"

    with endpoint(answer) as url:
        more = ("--model", url, "--overlay", "o.json", "--imitate", url)
        done = ended([*line, *more], tmp_path)
    assert "kept 1 of 1" in done.stdout, done.stderr
    assert "; 0 calls, " in done.stdout, "what is made up is no call of a tool"
    assert not (tmp_path / "calls.txt").exists()
    assert '\\"simulated\\": \\"model\\"' in (tmp_path / "v.json").read_text()


def test_an_imitator_without_an_overlay_is_refused(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9/v1#m"
    done = ended(command(tmp_path, "--model", nobody, "--imitate", nobody), tmp_path)
    assert done.returncode == 1
    assert "--overlay FILE" in done.stderr


def recorded(folder: Path, *cities: str) -> None:
    """A recording of the weather in these cities, as ``callwright simulate --live --record`` writes
    one.
    """
    tool = asyncio.run(offered(folder / "tools.py"))
    with JsonlSink(folder / "recorded.jsonl") as sink:
        trace = Trace(sinks=(sink,))
        start_recording(trace, [tool])
        for city in cities:
            record_call(
                trace, tool, {"city": city}, ToolOutput({"city": city, "sky": "clear"}), 0.0
            )


def virtual(body: dict[str, Any]) -> str:
    """The agent, and who imitates its tools."""
    if "API Server" in str(body):
        return json.dumps({"error": "", "response": {"city": "Rome", "sky": "cloudy"}})
    return agent(body) if "Functions:" in str(body) else "no"


def kept(folder: Path, name: str = "v.json") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / name).read_text())
    return found


def test_what_is_on_record_answers_before_the_tool_and_the_tool_what_is_not(tmp_path: Path) -> None:
    line = command(tmp_path)
    (tmp_path / "asked.txt").write_text(
        "What is the sky like in Oslo?\nWhat is the sky like in Rome?\n"
    )
    recorded(tmp_path, "Oslo")
    with endpoint(virtual) as url:
        done = ended([*line, "--model", url, "--recorded", "recorded.jsonl"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls.txt").read_text() == "Rome\n", (
        "the agent asks for Oslo too, which is on record"
    )
    assert all(row["simulated"] == ["recorded"] for row in kept(tmp_path))
    assert "2 of them rest on simulated replies" in done.stderr
    assert "1 calls" in done.stdout, "what is on record costs none"


def test_a_simulator_answers_what_is_not_on_record_and_no_tool_is_called(tmp_path: Path) -> None:
    line = command(tmp_path)
    (tmp_path / "asked.txt").write_text(
        "What is the sky like in Oslo?\nWhat is the sky like in Rome?\n"
    )
    recorded(tmp_path, "Oslo")
    with endpoint(virtual) as url:
        common = ("--model", url, "--recorded", "recorded.jsonl", "--simulator", url, "--prune")
        with_tools = ended([*line, *common, "--report", "v.html", "--to", "openai"], tmp_path)
        source = line.index("--tools")
        without = ended([*line[:source], *line[source + 2 :], *common, "--anew"], tmp_path)
    assert with_tools.returncode == 0, with_tools.stderr
    assert without.returncode == 0, without.stderr
    assert not (tmp_path / "calls.txt").exists()
    oslo, rome = kept(tmp_path)
    assert (oslo["simulated"], rome["simulated"]) == (["recorded"], ["model", "recorded"])
    assert "0 calls" in without.stdout
    page = html.unescape((tmp_path / "v.html").read_text())
    assert "Simulated, not real" in page
    assert 'weather({"city":"Rome"}): model' in page


def test_without_a_simulator_what_is_not_on_record_fails_and_says_so(tmp_path: Path) -> None:
    line = command(tmp_path)
    recorded(tmp_path, "Rome")
    source = line.index("--tools")
    with endpoint(virtual) as url:
        common = ("--model", url, "--recorded", "recorded.jsonl", "--json")
        done = ended([*line[:source], *line[source + 2 :], *common], tmp_path)
    assert done.returncode == 0, done.stderr
    assert not json.loads(done.stdout)["kept"]
    assert "no reply to this call is on record" in done.stdout
    both = ended([*line, "--simulator", "a", "--imitate", "b"], tmp_path)
    assert both.returncode == 1
    assert "leave out --imitate" in both.stderr


async def test_a_question_that_nobody_may_answer_ends_the_run_and_is_no_failure_of_the_tool(
    tmp_path: Path,
) -> None:
    command(tmp_path)
    silent = ScriptedModel(lambda _: ModelError("nobody is there"))
    for model, meter, why in (
        (ScriptedModel([]), Meter(Account(Budget(model_calls=0))), BudgetSpent),
        (silent, Meter(), ModelError),
    ):
        async with open_catalog([str(tmp_path / "tools.py")]) as catalog:
            source = SolverServices(catalog, meter, StandIn(imitator=model), frozenset({"weather"}))
            (tool,) = await source.open()
            assert tool.effects.may_repeat, "nothing real is called, so no call is ever in doubt"
            output = await source.call(tool, {"city": "Oslo"})
        assert isinstance(source.stopped, why)
        assert output.failure is not None
        assert output.failure.kind == "not_executable"


SIMULATED = """
import sys
from callwright.cli.app import app

models = [part for name in ("model", "simulator") for part in (f"--{name}", sys.argv[1])]
made = "verify trajectories --requests asked.txt --tools tools.py --allow * --out v.jsonl".split()
app([*made, *models, "--journal", "j", "--concurrency", "1", "--json"], standalone_mode=False)
"""


@pytest.mark.heavy
@posix
def test_a_killed_simulation_asks_nobody_twice_and_no_simulated_write_is_in_doubt(
    tmp_path: Path,
) -> None:
    """The second request is told what the first was told: the imitation stands in the journal for
    all of them.
    """
    requests = "What is the sky like in Oslo?\nIs the sky clear in Oslo?\n"
    files = {"tools__py": TOOLS, "asked__txt": requests}
    whole, broken = (
        World(tmp_path / name, SIMULATED, virtual, "Oslo", **files) for name in ("whole", "broken")
    )
    expected = whole.whole()
    imitated = [n for n, line in enumerate(whole.asked, 1) if "API Server" in line]
    assert len(imitated) == 1
    kills = [
        imitated[0],
        len(whole.asked),
    ]  # while the tool is imitated, and in the middle of the second request
    assert without_cost(broken.broken(*kills)) == without_cost(expected)
    assert Counter(broken.asked) == Counter(whole.asked) + Counter(
        broken.asked[kill - 1] for kill in kills
    )
    assert (broken.folder / "v.jsonl").read_text() == (whole.folder / "v.jsonl").read_text()
