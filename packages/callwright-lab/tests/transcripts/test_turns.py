"""How messages become rounds."""

from __future__ import annotations

from callwright.nouns.types import ToolCall, ToolResult
from callwright_lab.transcripts.turns import Turn, assign_unique_ids, build_rounds


def _call(id: str = "", tool: str = "f") -> ToolCall:
    return ToolCall(id, tool, {})


def _result(id: str, content: object) -> ToolResult:
    return ToolResult(id, "", {}, content)


def test_results_go_to_the_calls_they_name_in_whatever_order_they_come() -> None:
    turns = [
        (Turn("assistant", calls=(_call("a"), _call("b", "g"))), ()),
        (Turn("tool", results=(_result("b", 2),)), ()),
        (Turn("tool", results=(_result("a", 1),)), ()),
    ]
    (one,) = build_rounds(turns)
    assert one.step is not None
    assert [(r.tool, r.content) for r in one.step.results] == [("f", 1), ("g", 2)]


def test_results_without_a_name_go_to_the_calls_that_wait_in_order() -> None:
    turns = [
        (Turn("assistant", calls=(_call(), _call())), ()),
        (Turn("tool", results=(_result("", 1), _result("", 2))), ()),
    ]
    (one,) = assign_unique_ids(build_rounds(turns))
    assert one.step is not None
    assert [(c.id, r.content if r else None) for c, r in one.step.pairs] == [
        ("call_1", 1),
        ("call_2", 2),
    ]


def test_a_result_that_no_call_waits_for_is_dropped() -> None:
    turns = [
        (Turn("assistant", calls=(_call("a"),)), ()),
        (Turn("tool", results=(_result("a", 1), _result("z", 9))), ()),
    ]
    (one,) = build_rounds(turns)
    assert one.step is not None
    assert [r.content for r in one.step.results] == [1]


def test_what_is_said_before_a_call_is_its_thought_and_what_is_said_last_is_the_answer() -> None:
    turns = [
        (Turn("assistant", "hm"), ({"n": 1},)),
        (Turn("assistant", "so", calls=(_call("a"),)), ({"n": 2},)),
        (Turn("assistant", "done"), ({"n": 3},)),
    ]
    first, last = build_rounds(turns)
    assert first.step is not None
    assert (first.step.thought, first.messages) == ("hm\n\nso", ({"n": 1}, {"n": 2}))
    assert (last.step, last.answer) == (None, "done")


def test_a_question_to_the_user_is_thought_where_the_user_answers_it() -> None:
    turns = [
        (Turn("assistant", "Which city?"), ()),
        (Turn("user", "Rome"), ()),
        (Turn("assistant", "Sunny."), ()),
    ]
    first, last = build_rounds(turns)
    assert first.step is not None
    assert (first.step.thought, last.answer) == ("Which city?", "Sunny.")


def test_an_empty_last_message_is_no_answer() -> None:
    (one,) = build_rounds([(Turn("assistant", ""), ())])
    assert (one.step, one.answer) == (None, None)
