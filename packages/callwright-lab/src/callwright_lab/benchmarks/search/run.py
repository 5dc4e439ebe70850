"""The search protocol with a real model: every question with and without the refiner, resumable
rows, one table.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from callwright import __version__
from callwright.models import dialogue, open_model
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import JsonObject, Reply, compute_digest
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.search.corpus import (
    Corpus,
    Question,
    invented_corpus,
    invented_questions,
    read_corpus,
    read_questions,
)
from callwright_lab.benchmarks.search.protocol import (
    Conversation,
    QueryRefiner,
    Searched,
    model_query,
    rules_query,
    run_protocol,
    score_answer,
)

REFINERS: Mapping[str, QueryRefiner | None] = {"raw": None, "rules": rules_query}
COLUMNS = ("em", "contains", "turns", "searches", "mended", "tokens", "seconds")


async def run_conversation(
    conversation: Conversation, model: ChatModel, refiner: ChatModel | None = None
) -> Searched:
    """Answer a conversation's questions with ``model``, the refiner's with ``refiner``, until it
    ends. Raises ModelError.
    """

    async def ask(request: ChatRequest) -> Reply:
        asked = refiner if refiner is not None and request.purpose == "refine" else model
        return await asked.complete(request)

    return await dialogue.run_dialogue(conversation, ask)


async def run_missing(
    questions: Sequence[Question],
    corpus: Corpus,
    model: ChatModel,
    results: Path,
    *,
    refiners: Mapping[str, QueryRefiner | None] = REFINERS,
    refiner_model: ChatModel | None = None,
    limit_seconds: float = 0.0,
    say: Callable[[str], object] = str,
) -> int:
    """One row for every question and refiner that has none yet. Returns how many are still missing.

    With ``refiner_model``, the paper's refiner is one of them, asked of this model.
    """
    if refiner_model is not None:
        refiners = {**refiners, f"model {refiner_model.name}": model_query}
    started = time.monotonic()
    config = compute_digest([[p.text for p in corpus.passages], __version__])
    have = {(r["question"], r["refiner"], r["model"], r["config"]) for r in read_rows(results)}
    left = [
        (q, name)
        for q in questions
        for name in refiners
        if (_make_question_id(q), name, model.name, config) not in have
    ]
    while left and not (limit_seconds and time.monotonic() - started >= limit_seconds):
        question, name = left.pop(0)
        found = await run_conversation(
            run_protocol(question.text, corpus, refiners[name]), model, refiner_model
        )
        row = {
            "question": _make_question_id(question),
            "refiner": name,
            "model": model.name,
            "config": config,
        }
        row |= _build_outcome(question, found)
        append_row(results, row)
        say(
            f"{question.id} {name}: {row['answer']!r} {'right' if row['contains'] else 'wrong'}"
            f" ({len(left)} left)"
        )
    return len(left)


def _make_question_id(question: Question) -> str:
    return f"{question.id} {compute_digest([question.text, question.answers])[:6]}"


def _build_outcome(question: Question, found: Searched) -> JsonObject:
    return {
        **score_answer(question, found),
        "answer": found.answer,
        "queries": list(found.queries),
        "turns": found.turns,
        "searches": len(found.queries),
        "mended": found.repaired,
        "tokens": found.usage.total + found.refiner_usage.total,
        "seconds": round(found.seconds, 2),
    }


def render_report(rows: Sequence[JsonObject]) -> str:
    """Means a question over the questions that every refiner has been asked."""
    by_refiner: dict[str, dict[str, JsonObject]] = {}
    for row in rows:
        by_refiner.setdefault(row["refiner"], {})[row["question"]] = row
    if not by_refiner:
        return "No rows yet."
    shared = set.intersection(*(set(found) for found in by_refiner.values()))
    lines = [["refiner", "questions", *COLUMNS]]
    for name, found in by_refiner.items():
        chosen = [found[q] for q in sorted(shared)]
        lines.append(
            [
                name,
                str(len(chosen)),
                *(f"{fmean(r[c] for r in chosen):.2f}" for c in COLUMNS if chosen),
            ]
        )
    return render_table(lines)


async def run_and_print(options: argparse.Namespace) -> int:
    """``callwright bench refine --search``."""
    if options.questions is not None and options.corpus is None:
        raise ConfigError(
            "these questions need a corpus", hint="--corpus FILE (JSON lines of title and text)"
        )
    corpus = read_corpus(options.corpus) if options.corpus else invented_corpus()
    questions = read_questions(options.questions) if options.questions else invented_questions()
    results = options.out.with_name("search.jsonl")
    model = open_model(options.model)
    refiner = open_model(options.refiner) if options.refiner else None
    try:
        left = await run_missing(
            questions[: options.limit or None], corpus, model, results, refiner_model=refiner,
            limit_seconds=options.limit_seconds, say=lambda line: sys.stderr.write(line + "\n"),
        )  # fmt: skip
    finally:
        await model.aclose()
        if refiner is not None:
            await refiner.aclose()
    sys.stdout.write(
        render_report([r for r in read_rows(results) if r["model"] == model.name]) + "\n"
    )
    sys.stderr.write(f"{left} are missing; the same command goes on\n" if left else "")
    return 0
