"""``callwright verify``: the commands that there are, and what all of them promise of a process
that is killed.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from callwright_lab.cli.verify import VERIFIERS, verify
from tests.cli.killed import NOTE, World, posix, without_cost
from tests.cli.test_verify_queries import YES
from tests.cli.test_verify_trajectories import agent

TOOLS = f'''{NOTE}
from callwright.tools import tool
from callwright.nouns.types import READ_LOCAL, WRITE

@tool(effects=READ_LOCAL)
def weather(city: str) -> dict[str, object]:
    """The weather of a city, such as Oslo or Rome."""
    note(f"tool weather {{city}}")
    return {{"city": city, "sky": {{"Oslo": "clear", "Rome": "cloudy"}}[city]}}

@tool(effects=READ_LOCAL)
def weather_days(days: int = 1) -> dict[str, object]:
    """How far the weather is known."""
    note(f"tool weather_days {{days}}")
    return {{"days": days}}

@tool(effects=WRITE)
def book(city: str) -> dict[str, object]:
    """Book a room."""
    note(f"tool book {{city}}")
    return {{"booked": city}}
'''
COMMANDS = """
import sys
from callwright.cli.app import app

for command in (
    "apis --only weather* --no-diff --report apis.md",
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
        return (
            "<thought>I book weather or not.</thought><execute>print(book(city='Oslo'))</execute>"
        )
    return agent(body)


def world(folder: Path, requests: str = REQUESTS) -> World:
    rows = [
        json.dumps({"id": str(n), "query": line}) for n, line in enumerate(requests.splitlines())
    ]
    files = {"tools__py": TOOLS, "asked__txt": requests, "queries__jsonl": "\n".join(rows)}
    return World(folder, COMMANDS, answer, "weather", **files)


@posix
@pytest.mark.heavy
@pytest.mark.parametrize("count", [1, 5])
def test_killed_at_random_points_nothing_is_asked_twice_and_nothing_is_lost(
    count: int, tmp_path: Path
) -> None:
    """Only what was under way when the process was killed is asked again; the findings and reports
    are the same.
    """
    whole, broken = world(tmp_path / "whole"), world(tmp_path / "broken")
    expected = whole.whole()
    assert {one["category"] for one in expected} >= {"alive", "Pass"}
    kills = sorted(Random(7).sample(range(2, len(whole.asked)), count))
    assert without_cost(broken.broken(*kills)) == without_cost(expected)
    under_way = [broken.asked[kill - 1] for kill in kills]
    assert Counter(broken.asked) == Counter(whole.asked) + Counter(under_way)
    for report in ("apis.md", "queries.md", "trajectories.md"):
        table = [
            (world.folder / report).read_text().partition("\n\n")[0] for world in (whole, broken)
        ]
        assert table[0] == table[1]


@posix
def test_a_write_that_was_under_way_is_named_and_not_made_again(tmp_path: Path) -> None:
    whole, broken = world(tmp_path / "whole", BOOKING), world(tmp_path / "broken", BOOKING)
    whole.whole()
    found = broken.broken(whole.asked.index("tool book Oslo") + 1)
    assert broken.asked.count("tool book Oslo") == 1
    assert not found[-1]["kept"]
    assert "in doubt: " in found[-1]["why"]
    assert "book" in found[-1]["why"]


def test_every_verifier_is_a_command_that_says_what_it_does() -> None:
    assert [command.name for command in verify.registered_commands] == list(VERIFIERS)
    assert all(command.__doc__ for command in VERIFIERS.values())
