"""Reflections made by rule: error, feedback, analysis, correction."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import ToolCall
from callwright.repair.gate import Gate, Refusal
from callwright_lab.reflection.reflection import reflect_by_rule
from callwright_lab.reflection.sourced import explain_unsourced
from callwright_lab.training.toolmvr.reflections import CALLING, classify_error, iter_reflections
from tests.training.toolmvr_case import bought

FOUND = list(iter_reflections(bought()))


def test_every_row_ends_in_the_verified_call_and_everything_before_is_context() -> None:
    assert {r.error for r in FOUND} >= {"required_missing", "name_typo", "wrong_tool", "repeated"}
    assert {r.error for r in FOUND} <= {*CALLING, "repeated"}
    for r in FOUND:
        verified = bought().steps[len(r.before.steps)].calls
        assert [(c.tool, c.arguments) for c in r.right] == [(c.tool, c.arguments) for c in verified]
        assert r.before.steps == bought().steps[: len(r.before.steps)]
        assert r.trajectory.steps[-1].results == ()
        assert r.before.answer is None
        assert r.wrong.results, "the wrong action came back with something"


def test_calling_errors_come_back_with_what_the_gate_says_and_planning_errors_with_what_was_recorded() -> (
    None
):
    gate = Gate(bought().tools)
    for r in FOUND:
        (call,), (result,) = r.wrong.calls, r.wrong.results
        verdict = gate.check(call)
        assert (
            r.kind
            == classify_error(r.error)
            == ("planning" if r.error == "repeated" else "calling")
        )
        if r.error == "repeated":
            assert not isinstance(verdict, Refusal)
            assert result.content == bought().results[0].content
        else:
            assert isinstance(verdict, Refusal)
            assert result.content == {"error": verdict.violations[0].message, "response": ""}


def test_a_reflection_names_only_what_feedback_documentation_and_task_hold() -> None:
    for r in FOUND:
        assert r.reflection == reflect_by_rule(r), "written as for what exploration finds"
        assert explain_unsourced(r) == "", r.error
    by_error = {r.error: r.reflection for r in FOUND}
    assert "The call of price_of failed: Missing required key" in by_error["required_missing"]
    assert "The tool for this is" in by_error["name_typo"]
    assert "was called so before" in by_error["repeated"]


def test_a_verified_call_that_the_gate_refuses_corrects_nothing() -> None:
    t = bought()
    unsound = replace(t.steps[0].calls[0], arguments={"open_on": "Monday"})
    assert isinstance(Gate(t.tools).check(unsound), Refusal)
    assert list(iter_reflections(replace(t, steps=(replace(t.steps[0], calls=(unsound,)),)))) == []


def test_the_same_trajectory_and_seed_give_the_same_rows() -> None:
    assert list(iter_reflections(bought())) == FOUND
    assert list(iter_reflections(bought(), 1)) != FOUND


def test_rounds_of_several_calls_or_of_none_that_can_be_read_are_left_alone() -> None:
    t = bought()
    two = replace(
        t.steps[0], calls=(*t.steps[0].calls, ToolCall("x", "find_shop", {"city": "Rome"}))
    )
    torn = replace(t.steps[0], calls=(ToolCall("x", "find_shop", "{"),))
    for step in (two, torn):
        assert list(iter_reflections(replace(t, steps=(step,)))) == []
