"""Every rule is in the registry, every example does what it says, and the page holds the table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from callwright.nouns.errors import Failure
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    Message,
    Reply,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.nouns.wire_names import WIRE_NAMES
from callwright.repair.by_model.question import (
    QUESTION_RULES,
    RUN_RULES,
    FailedCall,
    QuestionContext,
)
from callwright.repair.by_model.refiner import ask
from callwright.repair.diagnose import diagnose
from callwright.repair.draft import Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.refinement import refine
from callwright.repair.registry import (
    EditKind,
    Example,
    edit_kinds,
    every_rule,
    other_edits,
    render_table,
    replace_table,
)
from callwright.repair.result import Settings
from tests.places import ROOT

KINDS = edit_kinds()
SILENT = {
    "bare_reference",
    "references_aside",
    "unsaid_value",
    "references_back",
    "value_left",
    "repeated_call",
    "tool_passed_over",
    "executable",
}
"""Rules that list no edit of their own: they say something, set something aside for the others, or
run the gate's.
"""


def by_gate(example: Example) -> tuple[list[ToolCall], list[Edit]]:
    sources = None
    if example.mode == "results":
        sources = ProvenanceIndex(example.query)
        sources.add_result(ToolResult("r1", "list_orders", {}, example.results))
    calls: list[ToolCall] = []
    edits: list[Edit] = []
    for call in example.before:
        verdict = Gate(example.tools).check(call, sources)
        assert isinstance(verdict, CheckedCall | Refusal)
        edits += verdict.edits
        if isinstance(verdict, CheckedCall):
            calls.append(ToolCall(verdict.id, verdict.tool.name, verdict.arguments))
    return calls, edits


def by_model(example: Example) -> tuple[Sequence[ToolCall], Sequence[Edit]]:
    asking = ask("", example.before, example.tools, example.query)
    next(asking)
    with pytest.raises(StopIteration) as done:
        asking.send(Reply(example.reply))
    return done.value.value.calls, done.value.value.edits


def by_question(example: Example) -> tuple[Sequence[ToolCall], Sequence[Edit]]:
    drafts = Drafts(example.before)
    sources = ProvenanceIndex(example.query)
    context = QuestionContext(Gate(example.tools), sources, lambda: True)
    steps = run_rules(QUESTION_RULES, drafts, context)
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(Reply(example.reply))
    return drafts.calls, drafts.render_edits()


def by_error(example: Example) -> tuple[Sequence[ToolCall], Sequence[Edit]]:
    (call,), gate = example.before, Gate(example.tools)
    checked = gate.check(call)
    assert isinstance(checked, CheckedCall)
    failure = Failure("tool_error", example.reply)
    result = ToolResult(call.id, call.tool, checked.arguments, None, failure)
    failed = FailedCall(checked, result, diagnose(result, checked.tool))
    context = QuestionContext(gate, None, lambda: False, failed=failed)
    drafts = Drafts([call])
    run_without_questions(run_rules(RUN_RULES, drafts, context))
    return drafts.calls, drafts.render_edits()


def run_example(example: Example) -> tuple[Sequence[ToolCall], Sequence[Edit]]:
    if example.mode in ("gate", "results"):
        return by_gate(example)
    if example.mode == "model":
        return by_model(example)
    if example.mode == "error":
        return by_error(example)
    if example.mode == "question":
        return by_question(example)
    earlier = [Message("assistant", "", tool_calls=example.earlier)] if example.earlier else []
    asked = [Message("user", example.query)] if example.query else []
    found = refine(
        list(example.before),
        example.tools,
        messages=[*asked, *earlier],
        settings=Settings(leave_out=example.mode == "leave_out"),
    )
    return found.calls, found.edits


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if k.example.mode != "none"], ids=lambda k: f"{k.rule}-{k.wire}"
)
def test_an_example_does_what_it_says(kind: EditKind) -> None:
    calls, edits = run_example(kind.example)
    assert kind.wire in [edit.rule for edit in edits]
    wanted = [(call.tool, to_canonical_json(call.arguments)) for call in kind.example.after]
    assert [(call.tool, to_canonical_json(call.arguments)) for call in calls] == wanted


def test_every_rule_has_its_edits_and_every_edit_its_rule() -> None:
    rules = {rule.id for rule in every_rule()}
    assert {kind.rule for kind in KINDS} == rules - SILENT
    assert rules >= SILENT
    by_wire = [(kind.wire, kind.rule) for kind in KINDS]
    assert len(set(by_wire)) == len(by_wire)


def test_the_table_of_the_page_covers_the_table_of_wire_names() -> None:
    """An edit is listed once: with its rule, or with the other part that makes it."""
    of_rules, others = {kind.wire for kind in KINDS}, [edit.wire for edit in other_edits()]
    assert sorted({*of_rules, *others}) == sorted(WIRE_NAMES["edit rules"].values())
    assert len(set(others)) == len(others)
    assert not of_rules & set(others)
    assert all(f"| `{wire}` |" in render_table() for wire in others)


def test_the_page_holds_the_table() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    said = "run python -m callwright.repair.registry docs/rules.md"
    assert replace_table(page) == page, said
    assert all(f"`{kind.wire}`" in render_table() for kind in KINDS)
    with pytest.raises(ValueError, match="no <!-- rules"):
        replace_table("a page without markers")
