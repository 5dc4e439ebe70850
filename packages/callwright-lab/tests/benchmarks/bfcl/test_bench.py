"""The command: the sample first, then rows that are run once, then tables."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.bfcl import bench
from callwright_lab.benchmarks.bfcl.bench import (
    Row,
    Runner,
    Setup,
    list_missing,
    main,
    run_cases,
    run_row,
)
from callwright_lab.benchmarks.bfcl.endpoints import Endpoint
from callwright_lab.benchmarks.bfcl.harness import Inference, Unreachable
from callwright_lab.benchmarks.bfcl.sample import Case
from callwright_lab.benchmarks.comparison.rows import read_rows

RAW = Row("raw", Inference("m", native=False))
CASES = tuple(Case(f"parallel_{n}", "parallel", "dev") for n in range(4))


class Verdicts:
    """Runs cases without a suite: right, but for those that are lost."""

    def __init__(self, lost: tuple[str, ...] = ()) -> None:
        self.lost, self.begun = lost, list[str]()

    def run(self, category: str, case: str) -> JsonObject:
        self.begun.append(case)
        if case in self.lost:
            raise Unreachable("no reply")
        return {"valid": True, "error_type": ""}


def test_a_case_is_run_once_and_a_lost_one_again(tmp_path: Path) -> None:
    setup = Setup(tmp_path / "results.jsonl")
    runner = Verdicts(lost=("parallel_1",))
    run_cases(runner, RAW, deque(CASES), setup)
    assert [case.id for case in list_missing(RAW, CASES, setup.results)] == ["parallel_1"]
    run_cases(Verdicts(), RAW, deque(CASES[1:2]), setup)
    assert list_missing(RAW, CASES, setup.results) == []
    assert len(read_rows(setup.results)) == 5
    other = Row("raw", Inference("m", native=False, max_tokens=9))
    assert list_missing(other, CASES, setup.results) == list(CASES)


def test_an_endpoint_that_is_gone_ends_the_row(tmp_path: Path) -> None:
    setup = Setup(tmp_path / "results.jsonl")
    runner = Verdicts(lost=("parallel_1", "parallel_2"))
    with pytest.raises(ConfigError, match="the endpoint of raw gives no reply"):
        run_cases(runner, RAW, deque(CASES), setup)
    assert runner.begun == ["parallel_0", "parallel_1", "parallel_2"]


def test_no_case_begins_when_the_time_is_over(tmp_path: Path) -> None:
    setup = Setup(tmp_path / "results.jsonl", limit_seconds=1e-9)
    waiting = deque(CASES)
    run_cases(Verdicts(), RAW, waiting, setup)
    assert len(waiting) == 4
    assert not setup.results.exists()


class Together(Verdicts):
    """Ends no case before another one stands beside it."""

    both = threading.Barrier(2, timeout=60)

    def run(self, category: str, case: str) -> JsonObject:
        self.both.wait()
        return super().run(category, case)


def give_runners(monkeypatch: pytest.MonkeyPatch, *runners: Verdicts) -> None:
    """Each runner that a row opens is the next of these."""
    left = iter(runners)

    @contextmanager
    def open_runner(row: Row, setup: Setup, shared: Endpoint | None) -> Iterator[Runner]:
        assert shared == Endpoint("http://there/v1")
        yield next(left)

    monkeypatch.setattr(bench, "open_runner", open_runner)


def test_cases_run_at_once_each_of_them_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = Setup(tmp_path / "results.jsonl", "http://there/v1", parallel=2)
    runners = Together(), Together()
    give_runners(monkeypatch, *runners)
    assert run_row(RAW, CASES, setup) == 0
    assert [len(runner.begun) for runner in runners] == [2, 2]
    rows = read_rows(setup.results)
    assert sorted(row["case"] for row in rows) == [case.id for case in CASES]
    assert {row["parallel"] for row in rows} == {2}
    assert list_missing(RAW, CASES, setup.results) == []


def test_a_lost_endpoint_ends_the_row_for_all_its_runners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = Setup(tmp_path / "results.jsonl", "http://there/v1", parallel=2)
    cases = tuple(Case(f"parallel_{n}", "parallel", "dev") for n in range(9))
    names = tuple(case.id for case in cases)
    give_runners(monkeypatch, Verdicts(lost=names), Verdicts(lost=names))
    with pytest.raises(ConfigError, match="the endpoint of raw gives no reply"):
        run_row(RAW, cases, setup)
    assert 2 <= len(read_rows(setup.results)) <= 4
    assert list_missing(RAW, cases, setup.results) == list(cases)


def test_only_the_proxy_s_row_depends_on_its_options() -> None:
    asked = Inference("m", native=True)
    assert Row("proxy", asked).config != Row("proxy", asked, ("--guided", "on")).config
    assert Row("proxy", asked).config != Row("proxy", asked, label="after").config
    assert Row("proxy", asked).config != Row("fc-direct", asked).config


def test_without_harness_the_sample_is_printed_and_nothing_run(
    wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    assert main(["--categories", "multi_turn", "--results", str(results)]) == 0
    said = capsys.readouterr().out
    assert "dev half, 45 cases" in said
    assert "multi_turn_miss_func (15): " in said
    assert [*tmp_path.iterdir()] == []


@pytest.mark.heavy
def test_all_rows_with_the_scripted_model_and_the_tables_after_it(
    suite_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("uvicorn", reason="extra 'proxy' is not installed")
    results = tmp_path / "results.jsonl"
    command = ["--harness", "--model", "gold", "--per-category", "1", "--results", str(results)]
    command += ["--categories", "multi_turn_miss_param,multiple,parallel"]
    assert main(command) == 0
    rows = read_rows(results)
    assert [(r["row"], r["case"]) for r in rows if not r["valid"]] == []
    assert len(rows) == 9
    assert len(json.loads((tmp_path / "results.dev.json").read_text())) == 3
    said = capsys.readouterr().out
    assert said.index("3 cases") < said.index("| multi-turn |") < said.index("right by")
    assert main([*command, "--parallel", "2"]) == 0
    assert len(read_rows(results)) == 9
    beside = ["--per-category", "2", "--parallel", "2", "--rows", "proxy"]
    assert main([*command, *beside]) == 0
    rows = read_rows(results)
    assert [(r["row"], r["case"]) for r in rows if not r["valid"]] == []
    assert len({(r["row"], r["case"]) for r in rows}) == len(rows) == 12
    assert main(["--report", "--results", str(results)]) == 0
    assert capsys.readouterr().out.count("Model gold, 6 cases (dev).") == 2


def test_the_final_half_is_opened_with_a_note_of_when(
    suite_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    command = ["--harness", "--model", "gold", "--rows", "raw", "--categories", "simple"]
    command += ["--per-category", "1", "--open-final", "--results", str(results)]
    assert main(command) == 0
    assert "final half for raw: opened 2" in capsys.readouterr().out
    assert [row["half"] for row in read_rows(results)] == ["final"]
    with pytest.raises(ConfigError, match="under other settings"):
        main([*command, "--max-tokens", "7"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--rows", "guided", "there is no row 'guided'"),
        ("--categories", "memory", "there is no category 'memory'"),
        ("--per-category", "0", "is less than 1"),
    ],
)
def test_what_does_not_exist_is_said(option: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        main([option, value])
