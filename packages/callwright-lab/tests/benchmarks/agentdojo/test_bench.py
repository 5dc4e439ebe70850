"""The benchmark on an invented suite: what each way of running holds back, and what a table says of
it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.agentdojo.bench import (
    WAYS,
    iter_pairs,
    main,
    render_report,
    run_missing,
)
from callwright_lab.benchmarks.agentdojo.worlds import AgentDojo
from callwright_lab.benchmarks.comparison.rows import read_rows
from tests.benchmarks.invented_dojo import interpreter

pytest.importorskip("yaml", reason="the served side reads YAML, as AgentDojo does")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[JsonObject]:
    folder = tmp_path_factory.mktemp("dojo")
    results = folder / "results.jsonl"
    with AgentDojo(interpreter(folder)) as worlds:
        wanted = [*iter_pairs(worlds, ["desk"])]
        run_missing(worlds, wanted, [*WAYS], results)
        before = results.read_bytes()
        run_missing(worlds, wanted, [*WAYS], results)
    assert results.read_bytes() == before, "what was run is not run again"
    return read_rows(results)


def outcome(
    rows: list[JsonObject], way: str, attacker: str | None = "injection_task_0"
) -> tuple[bool, bool]:
    (row,) = [row for row in rows if row["way"] == way and row["attacker"] == attacker]
    assert "error" not in row
    return row["useful"], row["attacked"]


def test_a_loop_does_what_it_reads_and_a_frozen_plan_does_not(rows: list[JsonObject]) -> None:
    assert outcome(rows, "loop") == (True, True)
    for way in ("late-any", "late", "arguments", "edges"):
        assert outcome(rows, way) == (True, False), way


@pytest.mark.parametrize("way", WAYS)
def test_where_nobody_attacks_every_way_does_what_the_user_wants(
    rows: list[JsonObject], way: str
) -> None:
    assert outcome(rows, way, None) == (True, False)


def test_the_table_counts_attacked_and_useful_pairs_apart_from_those_alone(
    rows: list[JsonObject],
) -> None:
    line = next(
        line for line in render_report(rows).splitlines() if line.startswith("| all | loop |")
    )
    assert (
        line
        == "| all | loop | 1 | 1 (100.0 %) | 1 (100.0 %) | 1 (100.0 %) | 1 (100.0 %) | 1 (100.0"
        " %) |"
    )


def test_the_command_runs_prints_and_refuses_a_way_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        "--python",
        str(interpreter(tmp_path)),
        "--results",
        str(tmp_path / "r.jsonl"),
        "--suites",
        "desk",
    ]
    assert main([*given, "--ways", "arguments"]) == 0
    assert "| desk | arguments | 1 |" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="no way"):
        main([*given, "--ways", "sideways"])


def test_another_planner_plans_the_ways_that_plan_and_no_other(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with AgentDojo(interpreter(tmp_path)) as worlds:
        wanted = [*iter_pairs(worlds, ["desk"])]
        for planner in ("", "none", "none"):
            run_missing(worlds, wanted, ["late", "edges"], results, planner)
    found = read_rows(results)
    assert len(found) == 3 * len(wanted)
    by = {row["way"] for row in found if row.get("planner") == "none"}
    assert by == {"edges"}
    planned = [row for row in found if row.get("planner")]
    assert outcome(planned, "edges", None) == (True, False)
    assert outcome(planned, "edges") == (True, False)
