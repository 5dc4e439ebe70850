"""``callwright verify``: the commands that there are, and what all of them promise of a process that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.cli.endpoint import replying
from tests.cli.test_verify_queries import YES
from tests.cli.test_verify_trajectories import agent

from callwright.cli.verify import VERIFIERS, verify

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
TOOLS = '''
import os, pathlib, signal
from callwright.catalog import tool
from callwright.types import READ_LOCAL, WRITE

HERE = pathlib.Path(__file__).parent

def note(text):
    with open(HERE / "asked", "a") as asked:
        asked.write(text + "\\n")
    if len((HERE / "asked").read_text().splitlines()) == int((HERE / "kill").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)

@tool(effects=READ_LOCAL)
def weather(city: str) -> dict[str, object]:
    """The weather of a city, such as Oslo or Rome."""
    note(f"tool weather {city}")
    return {"city": city, "sky": {"Oslo": "clear", "Rome": "cloudy"}[city]}

@tool(effects=READ_LOCAL)
def weather_days(days: int = 1) -> dict[str, object]:
    """How far the weather is known."""
    note(f"tool weather_days {days}")
    return {"days": days}

@tool(effects=WRITE)
def book(city: str) -> dict[str, object]:
    """Book a room."""
    note(f"tool book {city}")
    return {"booked": city}
'''
COMMANDS = """
import sys
from callwright.cli.app import app

for command in (
    "apis --only weather* --no-evidence --no-diff --report apis.md",
    "queries queries.jsonl --report queries.md",
    "trajectories --requests asked.txt --allow book --report trajectories.md",
):
    stage = command.split()[0]
    model = ["--judge", sys.argv[1], *(["--model", sys.argv[1]] if stage != "queries" else [])]
    common = ["--tools", "tools.py", "--journal", f"{stage}.journal", "--concurrency", "1", "--json"]
    app(["verify", *command.split(), *model, *common], standalone_mode=False)
"""
REQUESTS = "What is the weather in Oslo?\nWhat is the weather in Rome?\n"
BOOKING = "Book a room in Oslo, whatever the weather.\n"
PASS = json.dumps({"content": "It says so.", "answer_status": "Pass", "all_steps_validity": "yes"})


def answer(body: dict[str, Any]) -> str:
    """What the models of all stages say."""
    text = str(body["messages"])
    if "quality_score" in text:
        return YES
    if "is_api_valid" in text:
        return '{"is_api_valid": true}'
    if "answer_status" in text:
        return PASS
    if "<execute>" not in text:
        return '{"calls": [{"city": "Rome"}, {"city": "Oslo"}]}'
    if "Book a room in Oslo" in text and "booked" not in text.rpartition("whatever the weather")[2]:
        return "<thought>I book weather or not.</thought><execute>print(book(city='Oslo'))</execute>"
    return agent(body)


class World:
    """A folder with tools, requests, and what was asked by all lives so far; line ``kill`` of that is the last of a
    life."""

    def __init__(self, folder: Path, requests: str = REQUESTS) -> None:
        folder.mkdir()
        self.folder, self.life = folder, 0
        (folder / "tools.py").write_text(TOOLS)
        (folder / "asked.txt").write_text(requests)
        rows = [{"id": str(n), "query": line} for n, line in enumerate(requests.splitlines())]
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []

    @contextmanager
    def model(self) -> Iterator[str]:
        def reply(asked: str) -> str:
            body = json.loads(asked)
            text = json.dumps(body["messages"])
            if "weather" not in text:  # asked to find out what the endpoint can do
                return "{}"
            with (self.folder / "asked").open("a") as file:
                file.write(f"model {text}\n")
            if len(self.asked) == int((self.folder / "kill").read_text()):
                os.kill(self.life, signal.SIGKILL)
            return answer(body)

        with replying(reply) as url:
            yield f"{url}#m"

    def live(self, url: str, kill: int = -1) -> tuple[int, list[Any]]:
        """One process through all three stages: its end, and the findings that it printed."""
        (self.folder / "kill").write_text(str(kill))
        command = [sys.executable, "-c", COMMANDS, url]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.life = process.pid
            out, err = process.communicate(timeout=120)
        assert process.returncode in (0, -signal.SIGKILL), err.decode()
        return process.returncode, [json.loads(line) for line in out.splitlines()]


def without_cost(findings: list[Any]) -> list[Any]:
    """What was found; a run that goes on counts what it asks now."""
    return [{**one, "cost": {}} for one in findings]


@posix
def test_killed_at_random_points_nothing_is_asked_twice_and_nothing_is_lost(tmp_path: Path) -> None:
    """Only what was under way when the process was killed is asked again; the findings and reports are the same."""
    whole, broken = World(tmp_path / "whole"), World(tmp_path / "broken")
    with whole.model() as url:
        code, expected = whole.live(url)
    assert code == 0
    assert {one["category"] for one in expected} >= {"alive", "Pass"}
    kills = sorted(Random(7).sample(range(2, len(whole.asked)), 3))
    with broken.model() as url:
        for kill in kills:
            code, _ = broken.live(url, kill)
            assert code == -signal.SIGKILL
        code, found = broken.live(url)
    assert code == 0
    assert without_cost(found) == without_cost(expected)
    under_way = [broken.asked[kill - 1] for kill in kills]
    assert Counter(broken.asked) == Counter(whole.asked) + Counter(under_way)
    for report in ("apis.md", "queries.md", "trajectories.md"):
        table = [(world.folder / report).read_text().partition("\n\n")[0] for world in (whole, broken)]
        assert table[0] == table[1]


@posix
def test_a_write_that_was_under_way_is_named_and_not_made_again(tmp_path: Path) -> None:
    world = World(tmp_path / "world", BOOKING)
    with world.model() as url:
        code, _ = world.live(url)
        assert code == 0
        at = world.asked.index("tool book Oslo") + 1
        for path in ("asked", "apis.journal", "queries.journal", "trajectories.journal"):
            (world.folder / path).unlink()
        assert world.live(url, at)[0] == -signal.SIGKILL
        code, found = world.live(url)
    assert code == 0
    assert world.asked.count("tool book Oslo") == 1
    assert not found[-1]["kept"]
    assert "in doubt: " in found[-1]["why"]
    assert "book" in found[-1]["why"]


def test_every_verifier_is_a_command_that_says_what_it_does() -> None:
    assert [command.name for command in verify.registered_commands] == list(VERIFIERS)
    assert all(command.__doc__ for command in VERIFIERS.values())
