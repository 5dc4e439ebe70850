"""References between calls, and dependencies recovered from what the replies hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright_lab.datasets import nested as data_nested
from callwright_lab.datasets.sources import data_root, load_examples


def test_variables_of_nestful_name_the_call_that_made_them() -> None:
    calls = [
        {"name": "find", "arguments": {"q": "x"}, "label": "var1"},
        {
            "name": "price",
            "arguments": {"from": "$var1.id$", "list": ["costs $5", "$var1.name$"]},
            "label": "var2",
        },
        {
            "name": "buy",
            "arguments": {"nested": {"a": "$var2.total$"}, "old": "$var9.x$"},
            "label": "var3",
        },
    ]
    assert data_nested.variable_needs(calls) == {0: set(), 1: {0}, 2: {1}}


def test_responses_of_nestools_name_the_call_that_made_them() -> None:
    calls = [
        {"parameters": {"a": "x"}, "responses": ["API_call_0", "API_call_1"]},
        {"parameters": {"b": "API_call_1"}, "responses": ["API_call_2"]},
        {"parameters": {"c": ["API_call_2", "API_call_0"]}, "responses": []},
    ]
    assert data_nested.response_needs(calls) == {0: set(), 1: {0}, 2: {0, 1}}


def test_a_value_that_only_an_earlier_reply_holds_is_a_dependency() -> None:
    calls = [
        {
            "arguments": {"query": "Dublin"},
            "response": [{"id": "eyJ1ZmkiOi0xNTAyNTU0fQ==", "city": "Dublin"}],
        },
        {"arguments": {"id": "eyJ1ZmkiOi0xNTAyNTU0fQ==", "sort": "trending"}, "response": {}},
    ]
    assert data_nested.value_needs("trending spots in Dublin", calls) == {0: set(), 1: {0}}


def test_a_value_that_the_query_gives_is_none() -> None:
    calls = [
        {
            "arguments": {"query": "New York"},
            "response": [{"city_name": "New York", "id": "20088325"}],
            "label": "var1",
        },
        {"arguments": {"query": "$var1.city_name$"}, "response": []},
        {"arguments": {"dest": 20088325, "day": "2024-11-05", "n": 2}, "response": []},
    ]
    assert data_nested.value_needs("a hotel in New York", calls) == {0: set(), 1: set(), 2: {0}}


def test_nestools_rows_are_read(tmp_path: Path) -> None:
    row = {
        "test_id": 7,
        "task": "open a case and close it",
        "api": [
            {"api_name": "open_case", "api_description": "Opens", "parameters": {"who": {"type": "str"}},
             "required": ["who"], "responses": {"case_id": {"type": "str", "description": "the case"}}},
            {"api_name": "close_case", "parameters": {"case_id": {"type": "str"}}, "required": ["case_id", "gone"]},
        ],
        "call": [
            {"api_name": "open_case", "parameters": {"who": "Ann"}, "responses": ["API_call_0"]},
            {"api_name": "close_case", "parameters": {"case_id": "API_call_0"}, "responses": []},
        ],
    }  # fmt: skip
    (tmp_path / "nestools").mkdir()
    (tmp_path / "nestools" / "test_data.jsonl").write_text(json.dumps(row) + "\n")
    (made,) = data_nested.read_nestools(tmp_path)
    assert made.layers == {"open_case": 0, "close_case": 1}
    tools = {t.name: t for t in made.tools}
    assert tools["close_case"].required == ("case_id",)
    assert tools["open_case"].output_schema == {
        "type": "object",
        "properties": {"case_id": {"type": "string", "description": "the case"}},
    }


def test_nestful_is_read_from_its_package() -> None:
    pytest.importorskip("nestful", reason="extra 'bench' is not installed")
    made = load_examples("nestful")
    assert len(made) == 300
    assert all(set(e.gold) == set(e.layers) <= {t.name for t in e.tools} for e in made)
    assert sum(bool(e.edges) for e in made) > 290


needs_data = pytest.mark.skipif(
    not (data_root() / "nestools").exists(), reason="data: NesTools is not there"
)


@needs_data
def test_nestools_and_seal_tools_are_read_whole() -> None:
    assert len(load_examples("nestools")) == 790
    assert len(load_examples("seal_tools")) == 1400


def test_real_replies_are_those_that_rest_on_the_request_alone() -> None:
    row = {
        "input": " Hotels in Oslo ",
        "output": [
            {"name": "find_city", "arguments": {"q": "Oslo"}, "response": [{"id": 7}]},
            {
                "name": "hotels",
                "arguments": {"city": "$var1.id$"},
                "response": [{"name": "Bristol"}],
            },
            {"name": "weather", "arguments": {"q": "Oslo"}, "response": []},
            {"name": "var_result", "arguments": {}, "response": "all"},
        ],
    }
    found = list(data_nested.iter_real_replies(3, row))
    expected = data_nested.RealReply(3, "Hotels in Oslo", "find_city", {"q": "Oslo"}, [{"id": 7}])
    assert found == [expected]
