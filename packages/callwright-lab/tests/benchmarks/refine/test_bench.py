"""The command: rows that are made once, failures that can be read, sets by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.refine import bench
from callwright_lab.benchmarks.refine.read import READERS
from callwright_lab.benchmarks.refine.task import Found, Recorded
from tests.benchmarks.refine.test_replies import TINY

READ = {name: READERS[name] for name in ("stripped", "rules")}


def pairs(text: str) -> list[tuple[bench.Task, Recorded]]:
    return [(t, Recorded(t.id, "m", {"role": "assistant", "content": text})) for t in TINY.tasks()]


def test_rows_are_made_once_for_the_same_code_and_reply(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "results.jsonl"
    assert bench.run_missing(pairs("nothing"), {"tiny": TINY}, READ, out) == 4
    assert bench.run_missing(pairs("nothing"), {"tiny": TINY}, READ, out) == 0
    assert bench.run_missing(pairs("something else"), {"tiny": TINY}, READ, out) == 4
    assert bench.run_missing(pairs("nothing"), {"tiny": TINY}, READ, out, config="other code") == 4
    assert len(bench.select_current_rows(read_rows(out), bench.code_digest())) == 8


def test_the_number_of_jobs_changes_no_row(tmp_path: Path) -> None:
    files = []
    for jobs in (1, 4):
        out = tmp_path / f"{jobs}.jsonl"
        assert bench.run_missing(pairs("nothing"), {"tiny": TINY}, READ, out, jobs=jobs) == 4
        files.append([{**row, "seconds": 0} for row in read_rows(out)])
    assert files[0] == files[1]
    assert [row["refused"] for row in files[0]] == [None] * 4


def test_refusals_are_counted_where_calls_are_known_to_be_right() -> None:
    wanted = TINY.tasks()[0]
    known = replace(wanted, gold=(ToolCall("1", "f", {"x": "y"}),))
    assert bench.count_refused(known, Found(refused=("x is missing",))) == 1
    assert bench.count_refused(known, Found(refused=())) == 0
    assert bench.count_refused(known, Found()) is None
    assert bench.count_refused(wanted, Found(refused=("x is missing",))) is None


def test_a_reading_whose_model_cannot_be_asked_is_left_for_the_next_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, is_down = tmp_path / "results.jsonl", True

    def read(reply: Recorded, task: bench.Task) -> Found:
        if is_down and task.id == "a":
            raise ModelError("too long")
        return Found()

    readers = {"stripped": READ["stripped"], "model": read}
    assert bench.run_missing(pairs("nothing"), {"tiny": TINY}, readers, out) == 3
    assert "a: model was not asked: too long" in capsys.readouterr().err
    is_down = False
    assert bench.run_missing(pairs("nothing"), {"tiny": TINY}, readers, out) == 1


def test_the_digest_covers_the_code_that_decides() -> None:
    """Most of its entries named folders that had moved, so that it missed their changes."""
    files = bench.list_deciding_files()
    assert not [name for name, paths in files.items() if not paths]
    assert "read.py" in [path.name for path in files["refine/read"]]


def test_what_is_not_right_can_be_read(tmp_path: Path) -> None:
    failures = bench.Failures(tmp_path / "f.md", "rules")
    failures.see(pairs("no call here"))
    bench.run_missing(
        pairs("no call here"), {"tiny": TINY}, READ, tmp_path / "r.jsonl", on_row=failures
    )
    failures.close()
    text = (tmp_path / "f.md").read_text()
    assert "## free: no_call (2)" in text
    assert "no call here" in text
    assert "call a" in text


def test_sets_are_opened_by_name() -> None:
    assert bench.open_examination("api_bank").name == "api_bank"
    assert bench.open_examination("acebench").name == "acebench"
    assert bench.open_examination("nestful=some/file.jsonl").name == "nestful_v2"
    for wrong in ("nobody", "bfcl=x"):
        with pytest.raises(ConfigError, match="there is no set"):
            bench.open_examination(wrong)


def test_a_longer_run_holds_a_shorter_one() -> None:
    tasks = bench.open_examination("bamboogle").tasks()
    short, long = (bench._select_tasks(tasks, "tagged", 0, n) for n in (3, 9))
    assert {t.id for t in short} < {t.id for t in long}
    assert {t.category for t in long} == {"tagged"}
    with pytest.raises(ConfigError, match="no category"):
        bench._select_tasks(tasks, "nobody", 0, 1)


def test_the_command_reads_replies_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = next(t for t in bench.open_examination("bamboogle").tasks() if t.category == "pythonic")
    listed = [{"name": c.tool, "arguments": c.arguments} for c in task.gold]
    row = {"set": "bamboogle", "task": task.id, "message": {"content": json.dumps(listed)}}
    (tmp_path / "replies.jsonl").write_text(json.dumps(row) + "\n")
    common = ["--sets", "bamboogle", "--out", str(tmp_path / "rows.jsonl")]
    assert (
        bench.main(
            [
                *common,
                "--replies",
                str(tmp_path / "replies.jsonl"),
                "--readers",
                "server,stripped,rules",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "| rules | 100 %" in said
    assert (
        "| stripped | 100 %" in said
    )  # the calls are right; only the reply's own text is not in the format
    assert "| server | 0 %" in said
    assert bench.main([*common, "--report"]) == 0
    assert "| rules | 100 %" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="no replies to read"):
        bench.main(common)
