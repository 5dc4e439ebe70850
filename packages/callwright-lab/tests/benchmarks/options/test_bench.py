"""Cases out of ACEBench's layout, asked of a real endpoint on loopback that states probabilities."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.options.bench import iter_cases, main, render_report
from tests.benchmarks.invented_ace import write_data


class _Oracle(BaseHTTPRequestHandler):
    """Holds the first value likely where the request says "express", else the last."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = json.dumps(body["messages"][:-1])
        share = 0.8 if "gift" in said or "express" in said else 0.2
        top = [{"token": t, "logprob": p} for t, p in (("A", share - 1), ("B", -share), ("C", -2))]
        choice = {"message": {"content": "A"}, "logprobs": {"content": [{"top_logprobs": top}]}}
        data = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Oracle)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def test_rows_are_measured_once_and_reported(
    tmp_path: Path,
    endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[Any],
) -> None:
    write_data(tmp_path)
    gold = tmp_path / "acebench/data_en/possible_answer/data_normal_atom_enum.json"
    gold.write_text(gold.read_text().replace('"count": 7', '"count": 7, "speed": "express"'))
    cases = [*iter_cases(tmp_path)]
    assert {case.is_said for case in cases} == {True, False}
    assert {case.option.key for case in cases} <= {"speed", "gift"}
    monkeypatch.setenv("CALLWRIGHT_DATA", str(tmp_path))
    out = tmp_path / "rows.jsonl"
    assert main(["--upstream", endpoint, "--out", str(out)]) == 0
    before = out.read_bytes()
    assert len(read_rows(out)) == len(cases)
    assert main(["--upstream", endpoint, "--out", str(out)]) == 0
    assert out.read_bytes() == before
    assert "| least gain | said kept | unsaid kept |" in capsys.readouterr().out


def test_a_report_of_rows() -> None:
    rows = [{"said": True, "gain": 0.4}, {"said": True, "gain": -0.2}, {"said": False, "gain": -1}]
    report = render_report(rows)
    assert report.startswith("2 said, 1 unsaid; AUC 1.000")
    assert "| 0.0 | 1 (50%) | 0 (0%) |" in report
    assert render_report([]) == "too few rows"
