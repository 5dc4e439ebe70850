"""The retrieval bench on a few rows in StableToolBench's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.types import Tool
from callwright_lab.benchmarks.retrieval.bench import (
    main,
    render_intervals,
    score_rankings,
)
from callwright_lab.training.ranker.retrieval_data import Query, Task, read_stabletoolbench
from tests.training.stabletoolbench_case import write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path)


def test_groups_are_measured_alone_and_together(data: Path) -> None:
    task = read_stabletoolbench(data)
    right = {q.text: sorted(q.relevant) for q in task.queries}
    whole = score_rankings((query, right[query.text], ()) for query in task.queries)
    assert all(score == 100 for scores in whole.values() for score in scores.values())
    found = score_rankings((query, ["songs_for_music"], ()) for query in task.queries)
    assert list(found) == ["G1", "G2", "all"]
    assert found["G2"]["R@3"] == 50
    assert found["all"]["R@10"] == 25
    assert found["all"]["all@10"] == 0


def test_the_table_has_a_row_for_each_mode_and_group(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(data), "--modes", "lexical,bm25"]) == 0
    out = capsys.readouterr().out
    assert "2 queries over 3 tools" in out
    table, intervals = out.split("\n\n")[1:]
    for part in (table, intervals):
        assert [line.split(" | ")[:2] for line in part.splitlines()[2:]] == [
            [f"| {mode}", group] for mode in ("lexical", "bm25") for group in ("G1", "G2", "all")
        ]


def test_no_data_and_no_such_mode_are_said(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path / "none")]) == 1
    assert main(["--data", str(data), "--modes", "best"]) == 1
    assert "no StableToolBench queries" in (said := capsys.readouterr().err)
    assert "no retrieval mode 'best'" in said


def test_what_was_brought_along_counts_beyond_the_ten_only(data: Path) -> None:
    task = read_stabletoolbench(data)
    found = score_rankings((q, ["songs_for_music"], {"price_for_post"}) for q in task.queries)["G2"]
    assert (found["all@10"], found["all@10+"]) == (0, 100)


def test_a_set_that_is_not_there_says_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLWRIGHT_DATA", str(tmp_path))
    for name, where in (
        ("seal-tools", "Seal-Tools"),
        ("api-bank", "ToolRL"),
        ("toolret", "mangopy/ToolRet-Queries"),
    ):
        assert main(["--set", name, "--modes", "lexical"]) == 1
        assert where in capsys.readouterr().err


def test_queries_that_share_an_api_are_drawn_together() -> None:
    tools = tuple(Tool(f"t{i}", source=f"s{i // 3}") for i in range(6))
    queries = tuple(Query("g", f"q{i}", frozenset({f"t{i}"})) for i in range(6))
    right = [(query, sorted(query.relevant), ()) for query in queries[:3]]
    wrong = [(query, ["t9"], ()) for query in queries[3:]]
    shown = render_intervals({"lexical": [*right, *wrong]}, Task(tools, queries))
    row = shown.splitlines()[-1].split(" | ")
    assert row[:5] == ["| lexical", "all", "6", "2", "50.0 (0.0 to 100.0)"]
