from __future__ import annotations

from pathlib import Path

import pytest

from callwright_lab.benchmarks.broken_tools.bench import main, sample_queries
from callwright_lab.benchmarks.broken_tools.world import Query
from callwright_lab.benchmarks.comparison.rows import read_rows


def test_queries_are_taken_evenly() -> None:
    queries = [Query(str(n), "made", "", ()) for n in range(10)]
    assert [query.id for query in sample_queries(queries, 4)] == ["0", "2", "5", "7"]
    assert sample_queries(queries, 0) == sample_queries(queries, 99) == queries


def test_the_digest_is_printed_without_running_anything(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["--digest", "--out", str(tmp_path)]) == 0
    assert "82 queries, 42 tools with twins, 04df52b858ec6fd1" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_unknown_system_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--systems", "magic", "--out", str(tmp_path)]) == 1
    assert "there is no 'magic'" in capsys.readouterr().err


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
