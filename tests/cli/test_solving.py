"""A request that the agent was solving when the process was killed goes on where it stood: no question is asked and
no call made a second time; and who imitates dead tools answers in their place, marked."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.cli.test_verify_trajectories import agent, endpoint

from callwright.catalog import open_catalog
from callwright.overlay import Overlay, ToolOverlay, documented
from callwright.types import Tool

TOOLS = '''
from pathlib import Path
from callwright.catalog import tool
from callwright.types import WRITE

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
    made = ("verify", "trajectories", "--requests", "asked.txt", "--tools", "tools.py", "--allow", "*")
    return [sys.executable, "-m", "callwright", *made, "--journal", "j", "--out", "v.json", *more]


def environment(folder: Path) -> dict[str, str]:
    state = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "200"}
    return {**os.environ, **state}


def ended(line: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120, check=False
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
            line, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
        )
    assert "kept 1 of 1" in done.stdout, done.stderr
    assert (tmp_path / "calls.txt").read_text() == "Oslo\n"
    assert asked == [2, 4, 4], "only the question that was never answered"
    assert not (tmp_path / "j.runs").exists(), "what is judged needs no journal of its run"
    assert "Observation:" in (tmp_path / "v.json").read_text()


def test_an_imitator_answers_for_what_the_overlay_calls_dead_and_it_is_marked(tmp_path: Path) -> None:
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
    assert not (tmp_path / "calls.txt").exists()
    assert '\\"simulated\\": \\"model\\"' in (tmp_path / "v.json").read_text()


def test_an_imitator_without_an_overlay_is_refused(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9/v1#m"
    done = ended(command(tmp_path, "--model", nobody, "--imitate", nobody), tmp_path)
    assert done.returncode == 1
    assert "--overlay FILE" in done.stderr
