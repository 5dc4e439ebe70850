"""Reflections made by rule: error, feedback, analysis, correction."""

from __future__ import annotations

from dataclasses import replace

from tests.training.toolmvr_case import bought

from callwright.gate import Gate, Refusal
from callwright.training.toolmvr_reflections import CALLING, reflections
from callwright.types import ToolCall

FOUND = list(reflections(bought()))


def test_every_row_ends_in_the_verified_call_and_everything_before_is_context() -> None:
    assert {r.error for r in FOUND} >= {"required_missing", "name_typo", "wrong_tool", "repeated"}
    assert {r.error for r in FOUND} <= {*CALLING, "repeated"}
    for r in FOUND:
        t = r.transcript.trajectory
        assert r.transcript.context == frozenset(range(len(t.steps) - 1))
        last = t.steps[-1]
        assert [(c.tool, c.arguments) for c in last.calls] == [(r.right.tool, r.right.arguments)]
        assert (last.results, t.answer) == ((), None)
        assert last.thought
        assert t.steps[-2].results, "the wrong action came back with something"


def test_calling_errors_come_back_with_what_the_gate_says_and_planning_errors_with_what_was_recorded() -> None:
    gate = Gate(bought().tools)
    for r in FOUND:
        wrong = r.transcript.trajectory.steps[-2]
        (call,), (result,) = wrong.calls, wrong.results
        verdict = gate.check(call)
        if r.error == "repeated":
            assert not isinstance(verdict, Refusal)
            assert result.content == bought().results[0].content
        else:
            assert isinstance(verdict, Refusal)
            assert result.content == {"error": verdict.violations[0].message, "response": ""}


def test_a_reflection_names_only_what_feedback_documentation_and_task_hold() -> None:
    by_kind = {r.error: r.transcript.trajectory for r in FOUND}
    missing = by_kind["required_missing"].steps[-1].thought
    assert "which I left out" in missing
    assert "The call failed: Missing required key" in missing
    typo = by_kind["name_typo"].steps[-1].thought
    assert "The documentation lists no" in typo
    assert "wrong API" in by_kind["wrong_tool"].steps[-1].thought
    assert "was made already" in by_kind["repeated"].steps[-1].thought


def test_the_same_trajectory_and_seed_give_the_same_rows() -> None:
    assert list(reflections(bought())) == FOUND
    assert list(reflections(bought(), 1)) != FOUND


def test_rounds_of_several_calls_or_of_none_that_can_be_read_are_left_alone() -> None:
    t = bought()
    two = replace(t.steps[0], calls=(*t.steps[0].calls, ToolCall("x", "find_shop", {"city": "Rome"})))
    torn = replace(t.steps[0], calls=(ToolCall("x", "find_shop", "{"),))
    for step in (two, torn):
        assert list(reflections(replace(t, steps=(step,)))) == []
