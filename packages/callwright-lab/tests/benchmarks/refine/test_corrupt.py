"""Spoiled gold calls: what counts as repaired, what as reported, and the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message, Tool, ToolCall
from callwright_lab.benchmarks.refine import corrupt as bench
from callwright_lab.benchmarks.refine.read import READERS
from callwright_lab.benchmarks.refine.task import Found, Task
from callwright_lab.training.refiner.corruption import KINDS, Corrupted

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["celsius", "kelvin"]},
    },
    "required": ["city"],
}
FUNCTION = {
    "name": "get_weather",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"type": "string"},
        },
        "required": ["city"],
    },
}
ANSWER = {"get_weather": {"city": ["Graz"], "days": [3, ""], "unit": ["celsius", ""]}}
GOLD = ToolCall("call_1", "get_weather", {"city": "Graz", "days": 3, "unit": "celsius"})
TASK = Task(
    "t1", "bfcl", "simple_python", (Message("user", "Weather in Graz, 3 days, celsius?"),),
    (Tool("get_weather", "", SCHEMA),), (GOLD,), ([FUNCTION], [ANSWER]),
)  # fmt: skip


def spoiled(kind: str, *, answerable: bool = True, text: str = "") -> Corrupted:
    return Corrupted(kind, "text", answerable, "a note", (GOLD,), text=text)


def test_every_class_is_read_and_a_class_is_never_larger_than_asked_for() -> None:
    for kind in KINDS:
        found = list(bench.iter_corruptions([TASK], kind, 3))
        assert len(found) <= 3, kind
        for task, made in found:
            for ours in (False, True):
                assert bench.build_reply(task, made, ours=ours).message["role"] == "assistant"


def test_the_same_seed_spoils_the_same_calls_in_the_same_places() -> None:
    assert list(bench.iter_corruptions([TASK], "name_typo", 2, 4)) == list(
        bench.iter_corruptions([TASK], "name_typo", 2, 4)
    )


def test_repaired_reported_and_silent_are_told_apart() -> None:
    right, wrong = Found((GOLD,)), Found((ToolCall("c", "get_weather", {"city": "Linz"}),))
    reported = Found(wrong.calls, abstained=("that is no city",))
    counts = {}
    for name, answerable, found in (
        ("repaired", True, right), ("wrong", True, wrong), ("said", True, reported),
        ("lost", False, wrong), ("lost said", False, reported), ("lost dropped", False, Found()),
    ):  # fmt: skip
        tally = bench.Tally()
        bench.count_reading(tally, bench.Bfcl(()), TASK, spoiled("x", answerable=answerable), found)
        counts[name] = (tally.repaired, tally.unrepaired, tally.reported, tally.silent)
    assert counts == {
        "repaired": (1, 0, 0, 0),
        "wrong": (0, 1, 0, 0),
        "said": (0, 0, 0, 0),
        "lost": (0, 0, 0, 1),
        "lost said": (0, 0, 1, 0),
        "lost dropped": (0, 0, 1, 0),
    }


def test_ids_must_tell_calls_apart_where_ids_were_spoiled() -> None:
    twice = (
        ToolCall("a", "get_weather", GOLD.arguments),
        ToolCall("a", "get_weather", GOLD.arguments),
    )
    made = Corrupted("reused_id", "calls", True, "", twice, calls=twice)
    assert not bench.is_repaired(bench.Bfcl(()), TASK, made, Found(twice))
    apart = (twice[0], ToolCall("b", "get_weather", GOLD.arguments))
    assert bench.is_repaired(bench.Bfcl(()), TASK, made, Found(apart))
    assert len(bench.build_reply(TASK, made).message["tool_calls"]) == 2


def test_the_table_has_a_line_a_class_and_their_sum() -> None:
    readers = {name: READERS[name] for name in bench.SHOWN}
    kinds = ("name_typo", "trailing_comma", "fence")
    found = {
        kind: bench.measure_readers(list(bench.iter_corruptions([TASK], kind, 1)), readers)
        for kind in kinds
    }
    text = bench.render_tables(found)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(kinds) + 1
    assert len({line.count("|") for line in lines}) == 1
    assert "| fence | 1 | 100.0 | 100.0 | 100.0 | 100.0 |" in text
    assert "| trailing_comma | 1 | 0.0 | 100.0 |" in text
    assert text.endswith(".")


def test_a_class_is_measured_once_for_the_same_code(tmp_path: Path) -> None:
    said: list[str] = []
    plan = bench.Plan(
        ("fence", "name_typo"), 1, results=tmp_path / "rows" / "c.jsonl", failures=tmp_path / "f.md"
    )
    first = bench.measure_all(plan, [TASK], said.append)
    assert len(said) == 2
    again = bench.measure_all(plan, [TASK], said.append)
    assert len(said) == 2
    assert again["fence"]["sequence"].repaired == first["fence"]["sequence"].repaired == 1
    bench.measure_all(replace(plan, config="other code"), [TASK], said.append)
    assert len(said) == 4


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="no corruption 'nobody'"):
        bench.measure_and_print(bench.Plan(("nobody",)))
