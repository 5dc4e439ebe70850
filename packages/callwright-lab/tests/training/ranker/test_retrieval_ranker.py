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
from callwright_lab.training.ranker.retrieval_data import Query, Task
from callwright_lab.training.ranker.retrieval_ranker import (
    RankerTraining,
    Settings,
    check_apart,
    find_candidates,
    fit_forest,
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


def _training(settings: Settings = SMALL, folds: Sequence[int] | None = None) -> RankerTraining:
    task = _task()
    return RankerTraining(task, ToolIndex.build(task.tools, Letters()), settings, folds)


def test_what_a_query_needs_is_marked() -> None:
    task = _task()
    found = find_candidates(ToolIndex.build(task.tools, Letters()), task.queries[:1])[0]
    names = found.candidates.names
    assert [n for n, needed in zip(names, found.needed, strict=True) if needed] == ["find_parcel"]


def test_no_fold_teaches_about_an_api_that_it_is_measured_on() -> None:
    training = _training()
    source = {tool.name: tool.source for tool in _task().tools}
    for fold in set(training.folds):
        measured = {
            source[name]
            for found, k in zip(training.found, training.folds, strict=True)
            if k == fold
            for name in found.query.relevant
        }
        rows = training.build_rows(fold)
        assert measured == training.find_apart([fold])
        assert not measured & {parent for row in rows for parent in row.parents}
        assert not measured & {source[name] for row in rows for name in row.query.relevant}


def test_folds_that_share_an_api_are_refused() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    mixed = [i % 2 for i in range(len(_task().queries))]  # the two queries of a thing fall apart
    with pytest.raises(ValueError, match="kept apart"):
        _training(folds=mixed).learn_ranker(0)
    training = _training()
    row = training.build_rows()[0]
    with pytest.raises(ValueError, match=r"would teach about .* kept apart"):
        check_apart([row], {row.parents[0]}, {tool.name: tool.source for tool in _task().tools})


def test_a_query_is_ranked_by_the_ranker_of_its_fold() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    training = _training()
    rankers = training.learn_fold_rankers()
    for fold in set(training.folds):
        alone = _training().learn_ranker(fold)
        assert not np.array_equal(alone.projection.matrix, np.eye(Letters.width))
        for found, ranker, k in zip(training.found, rankers, training.folds, strict=True):
            if k == fold:
                candidates = found.candidates
                assert np.array_equal(ranker(candidates), alone(candidates))
                assert sorted(rank_candidates(ranker, candidates)) == sorted(candidates.names)


def test_training_twice_gives_the_same_trees() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    rows = _training().build_rows()
    first, second = fit_forest(rows, SMALL).arrays(), fit_forest(rows, SMALL).arrays()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert len(first["root"]) == SMALL.rounds


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
    ranker = retrieval_ranker.train_ranker(
        ["seal_tools"], replace(SMALL, rounds=3), Letters(), tmp_path
    )
    card = ranker.card
    assert len(ranker.forest.root) == 3
    assert card["data"]["seal_tools"]["queries"] == 2 * len(task.queries)
    assert card["data"]["seal_tools"]["licence"] == "Apache-2.0"
    assert card["settings"]["rounds"] == 3
    (measured,) = card["scores"].values()
    assert set(measured["seal_tools"]) == {"hybrid", "ranked"}


def test_a_source_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="no source 'api_bank'"):
        retrieval_ranker.main(["--sources", "api_bank"])
