from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.broken_tools.bench import Bench, main, sample_queries
from callwright_lab.benchmarks.broken_tools.score import render_report
from callwright_lab.benchmarks.broken_tools.world import Query, read_world
from callwright_lab.benchmarks.comparison.rows import read_rows

FOLDER = Path(__file__).resolve().parents[5] / "examples" / "broken_tools"


def test_queries_are_taken_evenly() -> None:
    queries = [Query(str(n), "made", "", ()) for n in range(10)]
    assert [query.id for query in sample_queries(queries, 4)] == ["0", "2", "5", "7"]
    assert sample_queries(queries, 0) == sample_queries(queries, 99) == queries


def test_the_digest_is_printed_without_running_anything(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for given, digest in (("1", "04df52b858ec6fd1"), ("2", "0406d4765e53142e")):
        assert main(["--digest", "--breakages", given, "--out", str(tmp_path)]) == 0
        assert f"82 queries, 42 tools with twins, {digest}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_unknown_system_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--systems", "magic", "--out", str(tmp_path)]) == 1
    assert "there is no 'magic'" in capsys.readouterr().err


@pytest.mark.heavy
def test_a_query_is_ranked_by_every_system_and_a_second_start_adds_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ["--rates", "50", "--queries", "1", "--mode", "lexical", "--out", str(tmp_path)]
    assert main(command) == 0
    rows = read_rows(tmp_path / "dev.jsonl")
    assert len(rows) == 6
    tried = {row["query"]: row["calls"] for row in rows if row["system"] == "try all"}
    for row in rows:
        assert row["ranking"]
        assert row["calls"] <= tried[row["query"]] or row["system"] == "base"
        assert all(need["tools"] for need in row["gold"])
    first = capsys.readouterr().out
    assert main(command) == 0
    assert read_rows(tmp_path / "dev.jsonl") == rows
    assert capsys.readouterr().out == first


def make_up(schema: Any) -> Any:
    """A value that a schema of a reply allows."""
    match schema.get("type"):
        case "object":
            inner = schema.get("properties", {})
            return {key: "" if key == "error" else make_up(part) for key, part in inner.items()}
        case "array":
            return [make_up(schema["items"])]
        case "number" | "integer":
            return 3
    return "amber"


@pytest.mark.heavy
async def test_every_system_of_the_papers_table_3_is_a_row(tmp_path: Path) -> None:
    """Planned only, simulated only, real only, and both; beside no re-ranker and a model's."""

    def reply(request: ChatRequest) -> str:
        if request.purpose == "trial.plan":
            return "I cannot say."
        return (
            "[3, 2, 1]" if request.purpose == "trial.rank" else json.dumps(make_up(request.schema))
        )

    systems = ["base", "model", "planned", "simulated", "real", "both"]
    world = read_world("dev", FOLDER, FOLDER, None)
    model = ScriptedModel(reply)
    bench = Bench(world, None, world.queries[:1], tmp_path / "dev.jsonl", "lexical", None, model)
    await bench.run([50], systems)
    rows = {row["system"].split()[0]: row for row in read_rows(bench.results)}
    assert [*rows] == systems
    calls = {name: row["calls"] for name, row in rows.items()}
    assert min(calls["real"], calls["both"]) > 0
    assert {calls[name] for name in ("base", "model", "planned", "simulated")} == {0}
    assert all(rows[name]["model_calls"] > 0 for name in systems[1:])
    outcomes = {name: {one[2] for one in row.get("tried_tools", ())} for name, row in rows.items()}
    assert "simulated functional_success" in outcomes["simulated"]
    assert not any(one.startswith("simulated") for one in outcomes["real"] | outcomes["planned"])
    told = render_report([*rows.values()])
    assert "Table 3" in told
    assert "Table 4" in told


def test_the_encoders_verdict_needs_the_encoder_that_was_calibrated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ["--systems", "trials+encoder", "--mode", "lexical", "--out", str(tmp_path)]
    assert main(command) == 1
    assert "--mode hybrid" in capsys.readouterr().err
