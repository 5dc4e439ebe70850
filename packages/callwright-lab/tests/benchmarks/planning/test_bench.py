"""The plan benchmark: one protocol a row, what was trained on is marked, absent parts are left out
with a note.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright.planning.card import Card
from callwright.planning.network import Shape
from callwright.planning.planner import AllInOnePlanner, SchemaPlanner
from callwright.testing import FixedPlan
from callwright_lab.benchmarks.planning import bench
from callwright_lab.datasets.examples import example_from_calls

TEXT = {"type": "string"}
PAY = Tool(
    "pay_invoice", input_schema={"properties": {"invoice_id": TEXT}, "required": ["invoice_id"]}
)
BILL = Tool("create_invoice", output_schema={"properties": {"invoice_id": TEXT}})
CHAIN = example_from_calls("x", "s", "q", [PAY, BILL], ["create_invoice", "pay_invoice"], {1: [0]})


def test_a_planner_is_measured_on_gold_worked_out_by_hand() -> None:
    flat = bench.measure_planner(AllInOnePlanner(), [CHAIN])
    assert (flat.accuracy, flat.error, flat.order, flat.valid, flat.f1) == (
        50.0,
        0.5,
        0.0,
        0.0,
        0.0,
    )
    right = bench.measure_planner(SchemaPlanner(), [CHAIN])
    assert (right.accuracy, right.error, right.order, right.valid, right.f1) == (
        100.0,
        0.0,
        100.0,
        100.0,
        100.0,
    )


def test_a_planner_that_chooses_tools_has_no_layers_to_score() -> None:
    with pytest.raises(ConfigError, match="fixed chooses tools"):
        bench.measure_planner(FixedPlan(["pay_invoice"]), [CHAIN])


def test_a_score_on_a_source_that_was_trained_on_is_marked() -> None:
    row = bench.measure_planner(SchemaPlanner(), [CHAIN], seen=True)
    assert row.cells() == "| schema | s | 1 | 100.0* | 100.0* | 100.0* | 100.0* | 0.00 |"


def test_the_shipped_card_says_what_was_trained_on() -> None:
    from callwright.planning.edges import EdgePlanner

    assert "nestools" in bench.list_training_sources(EdgePlanner())
    assert "complexfuncbench_refs" in bench.list_training_sources(EdgePlanner())
    assert bench.list_training_sources(SchemaPlanner()) == frozenset()


def test_both_kinds_of_cards_are_read() -> None:
    card = Card("x", "", Shape(4), "minilm", {"data": [{"source": "tmdb"}, {"source": "nestools"}]})
    planner = AllInOnePlanner()
    planner.card = card  # type: ignore[attr-defined]
    assert bench.list_training_sources(planner) == {"tmdb", "tmdb_links", "nestools"}


def test_the_mean_needs_every_source() -> None:
    row = bench.measure_planner(SchemaPlanner(), [CHAIN])
    assert bench.average_rows([row]) is None
    whole = bench.average_rows([row], ["s"])
    assert whole is not None
    assert (whole.source, whole.accuracy) == ("macro", 100.0)


def test_the_command_prints_a_table_and_notes_what_is_absent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "complextool_plan"
    folder.mkdir()
    tools = {
        "1": {
            "name": "pay",
            "inputSchema": {"properties": {"invoice_id": TEXT}, "required": ["invoice_id"]},
        },
        "2": {"name": "create_invoice", "description": "", "inputSchema": {}},
    }
    row = {"input": json.dumps({"query": "q", "tool_sequence": tools}), "output": '{"DAG": "2->1"}'}
    (folder / "easy.json").write_text(json.dumps([row]))
    (folder / "hard.json").write_text("[]")
    given = [
        "--sources",
        "complextool_plan,tmdb",
        "--planners",
        "all-in-one,nothing",
        "--data",
        str(tmp_path),
    ]
    assert bench.main(given) == 0
    shown = capsys.readouterr()
    assert "| all-in-one | complextool_plan | 1 | 50.0 | 0.0 | 0.0 | 0.0 | 0.50 |" in shown.out
    assert "tmdb: left out" in shown.err
    assert "nothing: left out" in shown.err
    assert (
        "| all-in-one | complextool_plan | 1 | 1.000 | 1.000 | 1.000 | 0.000 | 0.000 | 0.000 |"
        " 0.000 |" in shown.out
    )


def test_one_table_may_be_asked_for_and_gold_tools_alone_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = [{"name": n, "description": "", "parameters": {}, "output_schema": None} for n in "abc"]
    rows = [
        {"id": "1", "query": "q", "tools": tools, "plan": "1"},
        {"id": "2", "query": "q", "tools": tools, "plan": "1->2"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    given = ["--sources", str(path), "--planners", "all-in-one", "--tables", "graphs"]
    assert bench.main(given) == 0
    shown = capsys.readouterr().out
    assert "| all-in-one | mine | 2 | 0.500 | 1.000 |" in shown, "a plan of one tool counts as well"
    assert "accuracy" not in shown
    assert bench.main([*given, "--gold-tools"]) == 0
    assert (
        "| all-in-one | mine | 2 | 1.000 | 1.000 | 1.000 | 0.500 | 0.500 | 0.500 | 0.500 |"
        in capsys.readouterr().out
    )
    with pytest.raises(SystemExit):
        bench.main([*given, "--tables", "songs"])


def test_two_files_of_one_name_are_two_sources_and_what_holds_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = [{"name": name, "description": name, "parameters": {}} for name in ("a", "b")]
    for name, plan, count in (("x/mine", "1->2", 3), ("y/mine", "1->2", 2), ("one", "1", 1)):
        rows = [{"id": f"{n}", "query": "q", "tools": tools, "plan": plan} for n in range(count)]
        path = tmp_path / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(json.dumps, rows)))
    first, second, one = (str(tmp_path / f"{name}.jsonl") for name in ("x/mine", "y/mine", "one"))
    given = ["--planners", "all-in-one", "--tables", "layers", "--sources"]
    assert bench.main([*given, f"{first},{second},{one}"]) == 0
    shown = capsys.readouterr()
    assert "| all-in-one | mine | 3 |" in shown.out
    assert f"| all-in-one | {second} | 2 |" in shown.out
    assert f"{one}: left out: no plan of it has 2 tools or more" in shown.err
    assert bench.main([*given, one]) == 1
