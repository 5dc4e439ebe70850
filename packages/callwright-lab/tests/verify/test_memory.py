"""What a row was told is handed out once each, in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import JsonObject
from callwright_lab.verify.memory import InDoubt, Memory, make_question_key


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


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=8))
def test_what_was_begun_and_not_answered_is_in_doubt_for_good_and_answers_before_it_stand(
    told: list[tuple[str, bool]],
) -> None:
    """Of each question what came before the first without an answer is handed out; then it is in
    doubt.
    """
    notes: list[JsonObject] = []
    memory = Memory((), notes.append)
    doubted: dict[str, int] = {}
    for number, (asked, answered) in enumerate(told):
        if asked in doubted:
            continue  # who is in doubt does not ask
        memory.begin(asked)
        if answered:
            memory.tell(asked, number)
        else:
            doubted[asked] = number
    again = Memory(notes)
    for asked in "ab":
        for number in [
            n for n, (a, answered) in enumerate(told[: doubted.get(asked, len(told))]) if a == asked
        ]:
            assert again.knows(asked)
            assert again.recall(asked) == number
        for _ in range(2):
            if asked in doubted:
                with pytest.raises(InDoubt):
                    again.knows(asked)
            else:
                assert not again.knows(asked)


def test_of_two_that_were_under_way_at_once_the_one_that_came_back_is_known() -> None:
    notes: list[JsonObject] = []
    memory = Memory((), notes.append)
    memory.begin("a")
    memory.begin("a")
    memory.tell("a", 1)
    again = Memory(notes)
    assert again.knows("a")
    assert again.recall("a") == 1
    with pytest.raises(InDoubt):
        again.knows("a")


def test_questions_are_told_apart_by_all_that_they_say() -> None:
    assert (
        make_question_key("call", "t", {"a": 1})
        != make_question_key("model", "t", {"a": 1})
        != make_question_key("call", "t", {"a": 2})
    )
    assert make_question_key("call", "t", {"a": 1, "b": 2}) == make_question_key(
        "call", "t", {"b": 2, "a": 1}
    )
