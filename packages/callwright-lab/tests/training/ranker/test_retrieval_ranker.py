"""Training the ranker: what it learns from, what it is measured on, what is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright.retrieval import ToolIndex
from callwright_lab.training.ranker import retrieval_ranker
from callwright_lab.training.ranker.retrieval_data import Query, Task, assign_folds
from callwright_lab.training.ranker.retrieval_ranker import (
    Settings,
    build_rows,
    fit_forest,
    fold_rankers,
    rank_candidates,
    score_rankings,
)

SMALL = Settings(rounds=5, leaves=4, least=3)
THINGS = "parcel song hotel flight recipe novel garden stock planet museum".split()


class Letters:
    """Texts -> unit vectors by a hash of each word."""

    name = "letters"
    width = 32

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        found = np.zeros((len(texts), self.width), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                found[row, hashlib.sha256(word.encode()).digest()[0] % self.width] += 1
        return np.asarray(
            found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32
        )


def _task() -> Task:
    tools = [
        Tool(f"{verb}_{thing}", f"{verb} a {thing} for people", source=f"about {thing}")
        for thing in THINGS
        for verb in ("find", "list", "rate")
    ]
    queries = [
        Query("g", f"Please {verb} a {thing}.", frozenset({f"{verb}_{thing}"}))
        for thing in THINGS
        for verb in ("find", "rate")
    ]
    return Task(tuple(tools), tuple(queries))


def test_rows_mark_what_a_query_needs() -> None:
    task = _task()
    row = build_rows(ToolIndex.build(task.tools, Letters()), task.queries[:1])[0]
    assert row.features.shape[0] == len(row.names)
    assert [n for n, needed in zip(row.names, row.needed, strict=True) if needed] == ["find_parcel"]


def test_no_query_is_ranked_by_trees_that_saw_its_sources() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    task = _task()
    rows = build_rows(ToolIndex.build(task.tools, Letters()), task.queries)
    of = assign_folds(task)
    rankers = fold_rankers(task, rows, SMALL)
    for fold in set(of):
        alone = fit_forest([r for r, k in zip(rows, of, strict=True) if k != fold], SMALL)
        for row, ranker, k in zip(rows, rankers, of, strict=True):
            if k == fold:
                assert np.array_equal(ranker.forest(row.features), alone(row.features))
                assert sorted(rank_candidates(ranker, row)) == sorted(row.names)


def test_training_twice_gives_the_same_trees() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    task = _task()
    rows = build_rows(ToolIndex.build(task.tools, Letters()), task.queries)
    first, second = fit_forest(rows, SMALL).arrays(), fit_forest(rows, SMALL).arrays()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_nothing_to_learn_is_said() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    with pytest.raises(ConfigError, match="nothing to learn"):
        fit_forest([], SMALL)


def test_scores_are_percent() -> None:
    query = Query("g", "", frozenset({"a", "b"}))
    assert score_rankings([(query, ["a", "c"]), (query, ["a", "b"])]) == {
        "R@5": 75.0,
        "NDCG@5": 80.7,
        "all@10": 50.0,
    }


def test_the_card_says_data_settings_scores_and_command(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    folder = tmp_path / "seal_tools"
    folder.mkdir()
    task = _task()
    specs = [
        {"api_name": t.name, "api_description": t.description, "field": t.source, "parameters": {}}
        for t in task.tools
    ]
    rows = [
        {
            "id": q.text,
            "query": q.text,
            "calling": [{"api": n, "parameters": {}} for n in q.relevant],
        }
        for q in task.queries
    ]
    (folder / "tool.jsonl").write_text("\n".join(map(json.dumps, specs)))
    for part in ("dev", "test_in_domain"):
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    forest, card = retrieval_ranker.train_ranker(
        ["seal_tools"], replace(SMALL, rounds=3), Letters(), tmp_path
    )
    assert len(forest.root) == 3
    assert card["data"]["seal_tools"]["queries"] == 2 * len(task.queries)
    assert card["data"]["seal_tools"]["licence"] == "Apache-2.0"
    assert card["settings"]["rounds"] == 3
    (measured,) = card["scores"].values()
    assert set(measured["seal_tools"]) == {"hybrid", "ranked"}


def test_a_source_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="no source 'api_bank'"):
        retrieval_ranker.main(["--sources", "api_bank"])
