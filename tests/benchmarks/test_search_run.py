"""Questions are asked once a refiner; the table compares what every refiner was asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from callwright.benchmarks.desk import read_rows
from callwright.benchmarks.search_corpus import invented_corpus, invented_questions
from callwright.benchmarks.search_run import report, run_missing
from callwright.protocols import ChatRequest
from callwright.testing import ScriptedModel


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
    assert "| rules | 1 | 1.00 | 1.00 | 2.00 | 1.00 |" in report(read_rows(out))
    assert report([]) == "No rows yet."
