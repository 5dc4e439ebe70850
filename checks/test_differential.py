"""``benchmarks/differential.py``: code is equal to itself, and a planted difference is seen."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callwright.nouns.types import Message, Tool, ToolCall
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.harm.prose import Prose
from callwright_lab.benchmarks.refine.task import Score, Task
from callwright_lab.training.refiner.corruption import KINDS, Corrupted, corrupt
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent
UNNEEDED = ("benchmarks", "explore", "training", "verify", "viewer", "__pycache__")
# no value is converted
PLANTED = "\n\ndef coerce_value(arguments, schema):\n    return arguments, []\n"

TOOLS = (
    Tool(
        "get_weather",
        "The weather of a city.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City."},
                "days": {"type": "integer", "description": "How many days."},
                "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
                "hours": {"type": "array", "items": {"type": "integer"}},
                "detailed": {"type": "boolean"},
            },
            "required": ["city", "days"],
        },
    ),
    Tool(
        "send_mail",
        "Sends a mail.",
        {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
            "required": ["to", "text"],
        },
    ),
)
WEATHER = {"city": "Graz", "days": 3, "unit": "celsius", "hours": [6, 18], "detailed": True}
GOLD = (
    ToolCall("call_1", "get_weather", WEATHER),
    ToolCall("call_2", "send_mail", {"to": "ann@example.org", "text": "Take a coat"}),
)
SAID = "Weather in Graz, 3 days, celsius, detailed, at 6 and 18? Mail ann@example.org: Take a coat"
TASK = Task("t1", "invented", "both", (Message("user", SAID),), TOOLS, GOLD)


class NothingElse:
    """A scorer for whom only the gold calls are right."""

    name = headline = "invented"
    single = False

    def tasks(self) -> tuple[Task, ...]:
        return (TASK,)

    def score(self, task: Task, found: Any) -> Score:
        return Score({}, "wrong_value")

    def ask(self, task: Task) -> Any:
        raise NotImplementedError


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    yield load_script("differential")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture
def worker() -> Iterator[ModuleType]:
    module = load_script("differential_worker")
    yield module
    for name in ("lookup", "_fields", "_toolsets"):
        getattr(module, name).cache_clear()


def spoiled() -> list[tuple[Task, Corrupted]]:
    found = (corrupt(GOLD, TOOLS, kind, 1, query=SAID) for kind in KINDS)
    return [(TASK, made) for made in found if made is not None]


def sections(script: ModuleType) -> Iterator[Any]:
    """A little of every section."""
    cases = sys.modules["differential_cases"]
    pairs, scorer = spoiled(), NothingElse()
    gold = [GoldCase("g1", "invented", SAID, TOOLS, GOLD)]
    prose = [Prose("p1", 'Her entry is {"name": "Ann", "age": 30}.', TOOLS)]
    few = {
        "spoiled, refine": (cases.spoiled_makes(pairs, scorer), 24),
        "spoiled, gate": (cases.spoiled_gate_makes(pairs, scorer), 8),
        "right, refine": (cases.right_makes(gold), 8),
        "right, gate": (cases.right_gate_makes(gold), 1),
        "spoiled, proxy": (cases.proxy_spoiled_makes(pairs[::4], scorer), 15),
        "right, proxy": (cases.proxy_right_makes([TASK] * 2), 10),
        "prose, refine": (cases.prose_makes(prose), 1),
        "prose, proxy": (cases.proxy_prose_makes(prose), 5),
    }
    for name, (makes, most) in few.items():
        yield cases.Section(name, list(islice(makes, most)))


def compared(script: ModuleType, old: Path, new: Path, see: Callable[[Any], None]) -> list[Any]:
    workers = [script.Worker(old), script.Worker(new)]
    try:
        comparison = script.Comparison(*workers, block=10)
        return [comparison.compare(section, see) for section in sections(script)]
    finally:
        for worker in workers:
            worker.close()


def test_a_revision_is_equal_to_itself(script: ModuleType) -> None:
    seen: list[Any] = []
    with script.checked_out("HEAD") as tree:
        found = compared(script, tree, tree, seen.append)
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "list"], capture_output=True, text=True, check=True
        )
        assert str(tree) in listed.stdout
    assert not tree.exists()
    assert not [script.told(difference) for difference in seen]
    total = sum((made.total for made in found), start=script.Class())
    assert total.kinds["cases"] == total.kinds["equal"] == 72
    assert total.new["failed"] == 0
    assert total.new["repaired"] > 15
    assert total.new["right calls"] == 36
    assert not any(made.worse for made in found)


def test_a_planted_difference_is_seen(script: ModuleType, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for folder in script.sources(ROOT):
        copied = tree / folder.relative_to(ROOT)
        shutil.copytree(folder, copied, ignore=shutil.ignore_patterns(*UNNEEDED))
    (place,) = tree.rglob("coerce.py")
    with place.open("a", encoding="utf-8") as file:
        file.write(PLANTED)
    telling = script.Telling(3)
    found = {made.name: made for made in compared(script, ROOT, tree, telling)}
    made = found["spoiled, refine"]
    assert made.classes["boolean_as_text"].kinds["calls"] == 1
    assert made.classes["boolean_as_text"].rate == "repaired 100.0 → 0.0"
    assert made.classes["number_as_text"].kinds["edits"] == 1  # another rule, the same call
    assert made.classes["fence"].kinds["equal"] == 1
    assert "repaired" in made.worse
    assert not found["right, refine"].worse
    assert telling.calls > 0
    assert len(telling.shown) == 3
    assert "old: " in telling.shown[0]
    assert any("WORSE" in line for line in script.tables(made))


def test_what_differs_is_named_by_its_gravest_part(script: ModuleType) -> None:
    one = {"calls": [["a", "f", {}]], "edits": [["trim", "/0/x"]], "refused": [], "said": []}
    assert script.difference(one, {**one, "calls": [["b", "f", {}]]}) == ""  # another id
    assert script.difference(one, {**one, "calls": [["a", "g", {}]], "said": ["x"]}) == "calls"
    assert script.difference(one, {**one, "refused": [["schema", ""]]}) == "refusals"
    assert script.difference(one, {**one, "edits": []}) == "edits"
    assert script.difference(one, {**one, "edits": [["trim", "/0/y"]]}) == "places"
    assert script.difference(one, {"error": "ValueError: x"}) == "failed"
    twice = {**one, "calls": [["a", "f", {}], ["a", "f", {}]]}
    apart = {**one, "calls": [["a", "f", {}], ["b", "f", {}]]}
    assert script.difference(twice, apart) == "calls"


def test_a_side_that_fails_at_every_case_is_no_comparison(script: ModuleType) -> None:
    failed, half = Counter({"cases": 2, "failed": 2}), Counter({"cases": 2, "failed": 1})
    made = script.Compared("x", {"a": script.Class(Counter(), failed, half)})
    assert made.blind == ["old"]
    assert not made.worse
    assert "old: every case failed, nothing was compared" in script.tables(made)
    assert not script.Compared("x").blind


def test_a_field_that_a_tree_does_not_know_is_left_out(worker: ModuleType) -> None:
    row = {"id": "c1", "tool": "f", "arguments": {}, "colour": "red"}
    assert worker.call_of(row) == ToolCall("c1", "f", {})


def test_what_a_client_gets_is_put_together(script: ModuleType, worker: ModuleType) -> None:
    cases = sys.modules["differential_cases"]
    call = {"id": "c1", "function": {"name": "f", "arguments": '{"city": "Graz"}'}}
    message = {"role": "assistant", "content": "Well. \u00e9", "tool_calls": [call]}
    wanted = ("Well. \u00e9", [["c1", "f", {"city": "Graz"}]])
    for sent in (cases.whole(message), cases.streamed(cases.deltas_of(message, "seed"))):
        assert worker.received("".join(sent["pieces"]).encode()) == wanted


def test_a_sample_is_always_the_same_and_follows_no_pattern(script: ModuleType) -> None:
    found = list(script.sampled(range(4000), 20))
    assert found == list(script.sampled(range(4000), 20))
    assert 150 < len(found) < 250
    assert {place % 20 for place in found} == set(range(20))


def test_a_thing_is_found_at_the_newest_place_that_has_it(
    worker: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {
        "moved": ("callwright.nowhere.at_all:Tool", "argparse:Nothing", "argparse:ArgumentParser"),
        "lost": ("callwright.nowhere:Tool",),
    }
    monkeypatch.setattr(worker, "PLACES", places)
    assert worker.lookup("moved") is argparse.ArgumentParser
    with pytest.raises(ImportError, match="add its place"):
        worker.lookup("lost")
