"""The cases are sound, measured once, and reported by their halves."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import Reply
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.letters.bench import (
    KINDS,
    load_cases,
    main,
    measure,
    render_report,
)


class Oracle:
    """Holds the last choice but one likely, or says nothing of probabilities."""

    name = "oracle"

    def __init__(self, *, is_silent: bool = False) -> None:
        self.asked = 0
        self._is_silent = is_silent

    async def capabilities(self) -> Capabilities:
        return Capabilities()

    async def complete(self, request: ChatRequest, watch: object = None) -> Reply:
        self.asked += 1
        lines = request.messages[-1].content.split("\n")
        letters = [line[0] for line in lines if line[1:2] == ")"]
        likely = {letter: 0.1 / len(letters) for letter in letters} | {letters[-2]: 0.9}
        return Reply("A", first_token={} if self._is_silent else likely)

    async def aclose(self) -> None:
        """Nothing is open."""


def test_the_cases_are_different_and_balanced() -> None:
    cases = load_cases()
    assert len({case.id for case in cases}) == len(cases)
    for kind in KINDS:
        for half in ("tune", "test"):
            found = [case for case in cases if (case.kind, case.half) == (kind, half)]
            assert len(found) >= 10
            assert 0.3 < sum(case.is_true for case in found) / len(found) < 0.7
    tune = {case.text for case in cases if case.half == "tune"}
    assert tune.isdisjoint(case.text for case in cases if case.half == "test")


def test_rows_are_measured_once_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, model = tmp_path / "rows.jsonl", Oracle()
    cases = [
        case
        for kind in ("sentence", "request", "wish", "answer")
        for case in [one for one in load_cases() if one.kind == kind][:4]
    ]
    asyncio.run(measure(cases, model, out))
    assert model.asked == 4 + 2 * 4 + 4 + 2 * 4, (
        "a request and an answer are asked about in two orders"
    )
    asyncio.run(measure(cases, model, out))
    assert (model.asked, len(read_rows(out))) == (24, 16)
    assert main(["--report", "--out", str(out)]) == 0
    assert "sentences, tune" in capsys.readouterr().out


def test_a_model_without_probabilities_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="oracle states no probabilities"):
        asyncio.run(measure(load_cases()[:1], Oracle(is_silent=True), tmp_path / "rows.jsonl"))


def test_a_report_needs_both_kinds_of_cases() -> None:
    assert render_report([]) == "too few rows"
    rows = [
        {"kind": "request", "half": "test", "true": true, "share": share}
        for true, share in ((True, 0.9), (True, 0.5), (False, 0.2), (False, 0.6))
    ]
    text = render_report(rows)
    assert "AUC 0.750" in text
    assert "unasked: 1 left out, 1 asked about; asked for: 0 left out, 1 asked about" in text
