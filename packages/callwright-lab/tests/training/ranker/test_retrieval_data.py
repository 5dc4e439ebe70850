"""Requests with the tools they need: how they are read, and how they are held apart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.training.ranker.retrieval_data import (
    FOLDS,
    Query,
    Task,
    assign_folds,
    join_tasks,
    read_all_groups,
    read_stabletoolbench,
    seal_tools,
)
from tests.training.stabletoolbench_case import write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path)


def test_the_catalogue_is_the_candidates_of_all_queries_and_what_cannot_be_found_is_left_out(
    data: Path,
) -> None:
    task = read_stabletoolbench(data)
    assert sorted(t.name for t in task.tools) == [
        "price_for_post",
        "songs_for_music",
        "track_for_post",
    ]
    assert [q.group for q in task.queries] == ["G1", "G2"]
    assert task.queries[1].relevant == {"songs_for_music", "price_for_post"}


def test_seal_tools_are_grouped_by_how_many_tools_a_query_needs(tmp_path: Path) -> None:
    specs = [
        {"api_name": n, "api_description": n, "field": f"Field {n}", "parameters": {}}
        for n in "abc"
    ]
    first = {"api": "a", "parameters": {}, "responses": ["API_call_0"]}
    rows = [
        {"id": "1", "query": "one", "calling": [first]},
        {"id": "2", "query": "two", "calling": [first, {"api": "b", "parameters": {}}]},
        {
            "id": "3",
            "query": "nested",
            "calling": [first, {"api": "b", "parameters": {"x": "API_call_0"}}],
        },
        {"id": "4", "query": "unknown tool", "calling": [{"api": "z", "parameters": {}}]},
    ]
    (tmp_path / "tool.jsonl").write_text("\n".join(map(json.dumps, specs)))
    for part in ("dev", "test_in_domain"):
        (tmp_path / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = seal_tools(tmp_path)
    assert [q.group for q in task.queries[:3]] == ["dev, one", "dev, several", "dev, nested"]
    assert len(task.queries) == 6
    assert {t.source for t in task.tools} == {
        "seal_tools Field a",
        "seal_tools Field b",
        "seal_tools Field c",
    }


def test_no_data_says_where_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no StableToolBench queries") as caught:
        read_stabletoolbench(tmp_path)
    assert "github.com/THUNLP-MT/StableToolBench" in caught.value.hint


@given(st.lists(st.sets(st.integers(0, 30), min_size=1, max_size=3), min_size=1, max_size=40))
def test_no_two_folds_share_a_parent(needed: list[set[int]]) -> None:
    tools = tuple(Tool(f"t{i}", source=f"parent {i // 2}") for i in range(31))
    task = Task(
        tools, tuple(Query("", "", frozenset(f"t{i}" for i in wanted)) for wanted in needed)
    )
    of = assign_folds(task)
    seen: dict[int, int] = {}
    for fold, wanted in zip(of, needed, strict=True):
        assert 0 <= fold < FOLDS
        for parent in {i // 2 for i in wanted}:
            assert seen.setdefault(parent, fold) == fold


def test_folds_of_unrelated_queries_are_of_one_size() -> None:
    tools = tuple(Tool(f"t{i}", source=f"parent {i}") for i in range(50))
    task = Task(tools, tuple(Query("", "", frozenset({f"t{i}"})) for i in range(50)))
    assert Counter(assign_folds(task)) == dict.fromkeys(range(FOLDS), 10)


def test_tasks_are_joined_and_what_would_be_confused_is_left_out() -> None:
    first = Task((Tool("a"), Tool("b")), (Query("", "one", frozenset("a")),))
    second = Task(
        (Tool("b", "another"), Tool("c")),
        (Query("", "two", frozenset("b")), Query("", "three", frozenset("c"))),
    )
    joined = join_tasks([first, second])
    assert [tool.name for tool in joined.tools] == ["a", "b", "c"]
    assert [query.text for query in joined.queries] == ["one", "three"]


def test_groups_that_are_kept_beside_the_others_are_read_with_them(data: Path) -> None:
    main, rest = (data / name / "queries" for name in ("stabletoolbench", "stabletoolbench_rest"))
    main.mkdir(parents=True)
    (data / "G1.json").rename(main / "G1.json")
    assert {query.group for query in read_all_groups(data).queries} == {"G1"}
    rest.mkdir(parents=True)
    (data / "G2.json").rename(rest / "G2.json")
    assert [query.group for query in read_all_groups(data).queries] == ["G1", "G2"]
