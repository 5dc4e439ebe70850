"""Gold replies and spoiled ones."""

from __future__ import annotations

from pathlib import Path

from callwright_lab.benchmarks.acebench.scoring import judge_text
from callwright_lab.benchmarks.acebench.spoiling import (
    SPECIAL_SPOILS,
    SPOILS,
    TEXT_SPOILS,
    iter_spoiled,
    list_gold_calls,
    write_gold,
)
from tests.benchmarks.invented_ace import row, write_data


def test_gold_replies_are_right(tmp_path: Path) -> None:
    for one in write_data(tmp_path).values():
        assert not judge_text(one, write_gold(one)), one.id


def test_a_tool_that_is_called_twice_loses_its_number() -> None:
    gold = {"order_1": {"item": "a"}, "order_2": {"item": "b"}}
    assert list_gold_calls(gold) == [{"order": {"item": "a"}}, {"order": {"item": "b"}}]
    assert list_gold_calls({"version_2": {}}) == [{"version_2": {}}]
    candidates = row(gold=[{"a": {"x": 1}}, {"b": {}}])
    assert [write_gold(candidates, place) for place in (0, 1)] == ["[a(x=1)]", "[b()]"]


def test_spoiled_replies_are_the_same_every_time_and_of_every_kind(tmp_path: Path) -> None:
    rows = [*write_data(tmp_path).values()]
    spoiled = [*iter_spoiled(rows, 200)]
    assert spoiled == [*iter_spoiled(rows, 200)]
    assert {kind for _, kind, _ in spoiled} == {*SPOILS, *TEXT_SPOILS, *SPECIAL_SPOILS}
    wrong = [text for one, _, text in spoiled if judge_text(one, text)]
    assert 50 < len(wrong) < 200, "some changes leave a reply right"
    assert all(not judge_text(one, write_gold(one)) for one in rows), "gold is not changed"
