"""Questions are asked once a refiner; the table compares what every refiner was asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply, Usage
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.search.corpus import (
    invented_corpus,
    invented_questions,
    read_questions,
)
from callwright_lab.benchmarks.search.run import render_report, run_missing
from callwright_lab.datasets.sources import data_root


def careless(request: ChatRequest) -> str:
    """Writes its search without a tag, and reads what comes."""
    shown = request.messages[-1].content
    if len(request.messages) == 1:
        return "Let me look.\nsearch: Velmark capital"
    return "<answer> Sundholm" if "Sundholm" in shown else "<answer> unknown"


def test_the_refiner_answers_what_the_careless_model_alone_does_not(tmp_path: Path) -> None:
    questions = [q for q in invented_questions() if q.answers == ("Sundholm",)][:1]
    model, out = ScriptedModel(careless), tmp_path / "search.jsonl"
    assert asyncio.run(run_missing(questions, invented_corpus(), model, out)) == 0
    rows = {row["refiner"]: row for row in read_rows(out)}
    assert (rows["raw"]["em"], rows["rules"]["em"]) == (0.0, 1.0)
    assert rows["rules"]["queries"] == ["Velmark capital"]
    asked = len(model.requests)
    asyncio.run(run_missing(questions, invented_corpus(), model, out))
    assert len(model.requests) == asked
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])  # killed while it wrote the last row
    for _ in range(2):
        assert asyncio.run(run_missing(questions, invented_corpus(), model, out)) == 0
    assert len(read_rows(out)) == len(rows)
    assert "| rules | 1 | 1.00 | 1.00 | 2.00 | 1.00 |" in render_report(read_rows(out))
    assert render_report([]) == "No rows yet."


def test_the_papers_refiner_is_asked_by_its_own_prompt_and_only_without_an_answer(
    tmp_path: Path,
) -> None:
    """Everything of E.3 at once: upstream, refiner, passages, turns, scores and what they cost."""
    questions = [q for q in invented_questions() if q.answers == ("Sundholm",)][:1]
    refiner = ScriptedModel(
        [Reply("<think>The capital.</think>\n<search> Velmark capital", usage=Usage(7, 3))]
    )
    upstream, out = ScriptedModel(careless), tmp_path / "search.jsonl"
    chosen = {"raw": None}
    run = run_missing(
        questions, invented_corpus(), upstream, out, refiners=chosen, refiner_model=refiner
    )
    assert asyncio.run(run) == 0
    raw, refined = sorted(read_rows(out), key=lambda row: row["em"])
    assert refined["refiner"].startswith("model ")
    assert (raw["em"], refined["em"], refined["queries"], refined["turns"]) == (
        0.0,
        1.0,
        ["Velmark capital"],
        2,
    )
    assert refined["tokens"] > raw["tokens"] + 10  # the second turn and the refiner
    (asked,) = refiner.requests
    assert asked.messages[0].content.startswith(
        "Your role is a highly professional tool-calling instruction corrector"
    )
    assert all(
        part in asked.messages[1].content
        for part in (questions[0].text, "search: Velmark capital", "top searched")
    )


def test_the_shared_bamboogle_questions_serve_the_protocol(tmp_path: Path) -> None:
    path = data_root() / "bamboogle" / "data.json"
    if not path.is_file():
        pytest.skip("needs shared data: Bamboogle")
    questions = read_questions(path)
    assert len(questions) == 125
    assert all(q.text.endswith("?") and q.answers for q in questions)
    model = ScriptedModel(lambda _: f"<answer> {questions[0].answers[0]} </answer>")
    asyncio.run(
        run_missing(
            questions[:2], invented_corpus(), model, tmp_path / "s.jsonl", refiners={"raw": None}
        )
    )
    assert [row["em"] for row in read_rows(tmp_path / "s.jsonl")] == [1.0, 0.0]
