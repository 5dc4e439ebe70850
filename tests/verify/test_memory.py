"""What a row was told is handed out once each, in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.types import JsonObject
from callwright.verify.memory import Memory, question


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers()), max_size=8))
def test_answers_come_again_as_they_came_and_each_once(told: list[tuple[str, int]]) -> None:
    notes: list[JsonObject] = []
    first = Memory((), notes.append)
    for asked, answer in told:
        first.tell(asked, answer)
    again = Memory(notes)
    assert [again.recall(asked) for asked, _ in told] == [answer for _, answer in told]
    assert not again.knows("a")
    with pytest.raises(IndexError):
        again.recall("a")


def test_questions_are_told_apart_by_all_that_they_say() -> None:
    assert question("call", "t", {"a": 1}) != question("model", "t", {"a": 1}) != question("call", "t", {"a": 2})
    assert question("call", "t", {"a": 1, "b": 2}) == question("call", "t", {"b": 2, "a": 1})
