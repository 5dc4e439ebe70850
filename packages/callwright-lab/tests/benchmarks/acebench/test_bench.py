"""The whole benchmark on invented rows: a scripted endpoint that does every row right, behind the
real proxy too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.acebench.bench import main
from callwright_lab.benchmarks.acebench.spoiling import list_gold_calls, write_gold
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.datasets.acebench import AceRow
from tests.benchmarks.invented_ace import write_data
from tests.cli.endpoint import served

Answer = Callable[[AceRow, Any], tuple[int, Any]]
LIMITS = "Due to the limitations of the function, I cannot solve this problem."
SMALL = "normal_single_turn_single_function,special_incomplete,special_irrelevant"


@contextmanager
def scripted(rows: dict[str, AceRow], answer: Answer) -> Iterator[tuple[str, list[Any]]]:
    """An endpoint that answers questions about rows as it is told; yields its URL and what it was
    asked.
    """
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = json.dumps(body["messages"])
            found = next((row for question, row in rows.items() if question in text), None)
            status, message = (200, {"role": "assistant", "content": "{}"})
            if found is not None:
                asked.append(body)
                status, message = answer(found, body)
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 10, "completion_tokens": 5}
            sent = json.dumps({"choices": [choice], "usage": usage, "model": "m"}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args: Any) -> None:
            pass

    with served(Handler) as url:
        yield url, asked


def do_right(row: AceRow, body: Any) -> tuple[int, Any]:
    if not body.get("tools"):
        return 200, {"role": "assistant", "content": write_gold(row)}
    if row.is_special:
        named = "Which item?" if row.category == "special_incomplete" else LIMITS
        return 200, {"role": "assistant", "content": named}
    calls = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, call in enumerate(list_gold_calls(row.gold_calls[0]))
        for name, arguments in call.items()
    ]
    return 200, {"role": "assistant", "content": None, "tool_calls": calls}


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, AceRow]:
    monkeypatch.setenv("CALLWRIGHT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return write_data(tmp_path / "data")


def run(url: str, *more: str, results: str = "out/results.jsonl") -> int:
    options = ["--upstream", url, "--model", "m", "--results", results, "--per-category", "2"]
    return main([*options, *more])


def test_a_model_that_does_every_row_right_has_the_full_score_in_every_way(
    rows: dict[str, AceRow], capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted(rows, do_right) as (url, asked):
        options = ("--proxy-options", "--guided off", "--categories", SMALL)
        assert run(url, *options) == 0
        before = len(asked)
        assert run(url, *options) == 0
    assert len(asked) == before, "what was run is not run again"
    found = read_rows(Path("out/results.jsonl"))
    assert {row["way"] for row in found} == {"raw", "direct", "proxy"}
    assert [row["id"] for row in found if not row["right"]] == []
    assert not any(row["invented"] for row in found)
    assert all(row["calls"] == [] for row in found if row["category"].startswith("special"))
    told = capsys.readouterr().out
    assert told.index("half dev, at most 2 rows") < told.index("| way | language |")
    stated = json.loads(Path("out/results.sample.json").read_bytes())
    assert {*stated["ids"]} == {"en", "zh"}


def test_a_refusal_is_a_wrong_row_and_a_failure_is_asked_again(rows: dict[str, AceRow]) -> None:
    states = {"special_incomplete": 400, "special_irrelevant": 503}

    def answer(row: AceRow, body: Any) -> tuple[int, Any]:
        status = states.get(row.category, 200)
        return (status, {}) if status != 200 else do_right(row, body)

    options = ("--ways", "raw", "--categories", SMALL, "--languages", "en")
    with scripted(rows, answer) as (url, _):
        assert run(url, *options) == 1
        found = read_rows(Path("out/results.jsonl"))
        refused = [row for row in found if row["category"] == "special_incomplete"]
        assert all("refused with status 400" in row["wrong"] for row in refused)
        assert "special_irrelevant" not in {row["category"] for row in found}
        del states["special_irrelevant"]
        assert run(url, *options) == 0
    assert "special_irrelevant" in {r["category"] for r in read_rows(Path("out/results.jsonl"))}


def test_rows_are_asked_side_by_side_where_that_is_wanted(rows: dict[str, AceRow]) -> None:
    """No request is answered before another one stands beside it."""
    together = threading.Barrier(2, timeout=60)

    def answer(row: AceRow, body: Any) -> tuple[int, Any]:
        together.wait()
        return do_right(row, body)

    options = ("--ways", "raw", "--categories", "special_irrelevant", "--parallel", "2")
    with scripted(rows, answer) as (url, _):
        assert run(url, *options) == 0
    found = read_rows(Path("out/results.jsonl"))
    assert found
    assert all(row["right"] and row["parallel"] == 2 for row in found)


def test_the_final_half_is_opened_by_a_word_and_noted(
    rows: dict[str, AceRow], capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted(rows, do_right) as (url, _):
        assert run(url, "--ways", "raw", "--open-final", "--categories", SMALL) == 0
        with pytest.raises(ConfigError, match="opened with another sample"):
            run(url, "--open-final", "--categories", "special_irrelevant", results="out/x.jsonl")
    (entry,) = read_rows(Path("out/acebench-ledger.jsonl"))
    assert (entry["model"], entry["ways"]) == ("m", ["raw"])
    assert {row["half"] for row in read_rows(Path("out/results.jsonl"))} == {"final"}
    assert "the final half is opened" in capsys.readouterr().out
