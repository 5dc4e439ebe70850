"""Training the ranker: fair splits, spoiled choices, bounds that hold. Small data written for the
project.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from callwright.nouns.types import READ, Tool, ToolCall, to_canonical_json
from callwright.repair import ranker as serving
from callwright_lab.training.ranker.repair_ranker import (
    Choice,
    Gold,
    Score,
    assign_part,
    beats_rules,
    described_name,
    fit_trees,
    main,
    reword_name,
    score_choices,
    tool_choices,
    train_tasks,
    tune_bounds,
)

THINGS = "weather stock recipe flight hotel movie song train museum parcel".split()
VERBS = ("get", "search", "update", "compare")


def world(root: Path) -> Path:
    """Two tiny sources in their publishers' formats."""
    specs, calls, nested = [], [], []
    for thing in THINGS:
        for verb in VERBS:
            spec = {
                "api_name": f"{verb}{thing.title()}Report",
                "api_description": f"Produces a {verb} report about one {thing} for analysts",
                "parameters": {
                    f"{thing}_name": {
                        "type": "str",
                        "description": f"which {thing} the report covers",
                    },
                    "year": {"type": "int", "description": "calendar period"},
                },
                "required": [f"{thing}_name"],
                "responses": {"report": {"type": "str", "description": "text"}},
            }
            specs.append(spec)
            call = {
                "api": spec["api_name"],
                "parameters": {f"{thing}_name": "Alpha", "year": 1999},
                "responses": ["API_call_0"],
            }
            query = f"A {verb} report on the {thing} Alpha of 1999 please"
            calls.append({"id": str(len(calls)), "query": query, "calling": [call]})
            nested.append(
                {
                    "test_id": len(nested),
                    "task": query,
                    "api": [spec],
                    "call": [{**call, "api_name": call["api"]}],
                }
            )
    (root / "seal_tools").mkdir()
    (root / "nestools").mkdir()
    files = {
        "seal_tools/tool.jsonl": specs,
        "seal_tools/dev.jsonl": calls,
        "seal_tools/test_in_domain.jsonl": calls,
        "nestools/test_data.jsonl": nested,
    }
    for name, rows in files.items():
        (root / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return root


def test_training_writes_a_file_that_the_rules_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lightgbm")
    out = tmp_path / "made" / "ranker.json"
    main(["--data", str(world(tmp_path)), "--out", str(out)])
    report = json.loads(capsys.readouterr().out)
    made = serving.load(out)
    assert made is not None
    assert set(report) == {"tool", "parameter", "keep"}
    assert set(made.tasks) == {task for task in report if beats_rules(report[task])}
    assert sum(report["tool"]["all"]["rules"]) == sum(report["tool"]["all"]["with ranker"]) > 0


def test_the_same_data_give_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    root = world(tmp_path)
    assert to_canonical_json(train_tasks(root, 0)) == to_canonical_json(train_tasks(root, 0))


def test_a_tool_is_in_one_part_only() -> None:
    assert {assign_part(f"tool{i}") for i in range(200)} == {"train", "tune", "test"}
    assert assign_part("getWeather") == assign_part("getWeather")


def test_exported_trees_say_what_the_trainer_said() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rng = random.Random(1)
    choices = []
    for _ in range(300):
        a, b = rng.random(), rng.random()
        choices.append(Choice(((a, b), (b, a)), 0 if a > b else 1, -1, "x"))
    trees = fit_trees(choices)
    assert lightgbm.__version__
    made = serving.Trees(("a", "b"), trees, 0.0, 0.0)
    assert score_choices(choices, made).right > 280
    assert score_choices(choices, None).none == 300


def test_bounds_add_no_wrong_choice_to_those_of_the_rules() -> None:
    rng = random.Random(2)
    choices = [
        Choice(((rng.random(),), (rng.random(),)), rng.choice((0, 1, -1)), -1, "x")
        for _ in range(200)
    ]
    sure = Choice(((5.0,), (0.0,)), 0, -1, "x")
    bound = tune_bounds("tool", (((0, 2.0, 1, 2), -1.0, 4.0),), [*choices, sure])
    assert score_choices([*choices, sure], bound) == Score(right=1, wrong=0, none=200)


def test_bounds_of_keeping_lose_nothing_that_the_rules_keep() -> None:
    asked = [Choice(((0.9,),), 0, 0, "asked")] * 9 + [Choice(((0.1,),), 0, -1, "asked")]
    filled = [Choice(((0.2,),), -1, 0, "filled_in")] * 5
    bound = tune_bounds("keep", (((0, 0.5, 1, 2), -3.0, 3.0),), [*asked, *filled])
    assert score_choices([*asked, *filled], bound, alone=True) == Score(right=9, wrong=0, none=6)


def test_the_rules_and_the_ranker_are_counted_alike() -> None:
    choices = [
        Choice(((1.0,),), 0, 0, "x"),
        Choice(((1.0,),), -1, 0, "x"),
        Choice(((1.0,),), 0, -1, "x"),
    ]
    assert score_choices(choices, None) == Score(right=1, wrong=1, none=1)
    assert Score(1, 1, 1).total == 3


def test_names_are_spoiled_and_the_right_tool_is_sometimes_not_offered() -> None:
    tools = [
        Tool(f"get{t.title()}Data", f"Returns the latest facts about any {t}", effects=READ)
        for t in THINGS
    ]
    golds = [
        Gold(f"facts about the {t}", ToolCall("c", tool.name, {}), tool)
        for t, tool in zip(THINGS, tools, strict=True)
    ]
    made = list(tool_choices(golds * 4, tools, random.Random(3)))
    assert {c.how for c in made} >= {"described", "reworded"}
    assert -1 in {c.right for c in made}
    assert all(0 <= c.right < len(c.rows) for c in made if c.right >= 0)


def test_descriptions_and_verbs_give_other_names() -> None:
    rng = random.Random(4)
    assert set(described_name("Retrieve the policy document", rng).split("_")) <= {
        "retrieve",
        "policy",
        "document",
    }
    assert described_name("Go", rng) == ""
    assert reword_name("get_weather", rng) != ""


def test_more_right_choices_do_not_outweigh_a_wrong_one() -> None:
    assert beats_rules({"all": {"rules": [5, 1, 4], "with ranker": [6, 1, 3]}})
    assert not beats_rules({"all": {"rules": [5, 1, 4], "with ranker": [8, 2, 0]}})
    assert not beats_rules({"all": {"rules": [5, 1, 4], "with ranker": [5, 0, 5]}})
