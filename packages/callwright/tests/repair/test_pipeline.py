"""Rules run by cost, with what they need, and what a change touched is checked again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply, ToolCall
from callwright.repair.draft import Change, Draft, Drafts
from callwright.repair.location import in_arguments
from callwright.repair.pipeline import order_rules, run_rules, run_without_questions
from callwright.repair.rule import Need, Rule, Steps, call_rule


class Counting:
    """A context whose check accepts n >= 2 and counts how often it is asked."""

    has: frozenset[Need] = frozenset({"schema"})

    def __init__(self) -> None:
        self.asked = 0

    def is_right(self, draft: Draft) -> bool:
        self.asked += 1
        return bool(draft.arguments["n"] >= 2)

    def is_open(self, draft: Draft) -> bool:
        return True


def adding(amount: int) -> Callable[[Draft, Counting], Change]:
    def find(draft: Draft, _: Counting) -> Change:
        before = draft.arguments["n"]
        change = Change(calls={draft.id: ToolCall("", "t", {"n": before + amount})})
        change.list_edit(in_arguments(draft.id, "n"), before, before + amount, "added")
        return change

    return find


def test_rules_run_by_cost_and_stop_at_what_is_right() -> None:
    rules: tuple[Rule[Counting], ...] = order_rules(
        (
            call_rule("late", 9, adding(100), "wrong"),
            call_rule("first", 1, adding(1), "wrong"),
            call_rule("second", 2, adding(1), "wrong"),
        )
    )
    assert [rule.id for rule in rules] == ["first", "second", "late"]
    drafts, context = Drafts([ToolCall("", "t", {"n": 0}), ToolCall("", "t", {"n": 5})]), Counting()
    run_without_questions(run_rules(rules, drafts, context))
    assert [call.arguments for call in drafts.calls] == [{"n": 2}, {"n": 5}]
    assert [edit.path for edit in drafts.render_edits()] == ["/0/arguments/n"] * 2
    assert context.asked == 4, "what did not change is not checked again"


def test_a_rule_without_what_it_needs_is_left_out() -> None:
    rule: Rule[Counting] = call_rule("r", 1, adding(1), needs=frozenset({"schema", "results"}))
    drafts = Drafts([ToolCall("", "t", {"n": 0})])
    run_without_questions(run_rules((rule,), drafts, Counting()))
    assert drafts.render_edits() == ()


def test_a_rule_may_ask_a_model() -> None:
    request = ChatRequest((), purpose="refine")

    def ask(drafts: Drafts, _: Counting) -> Steps:
        reply = yield request
        return Change(calls={0: ToolCall("", "t", {"n": len(reply.text)})})

    drafts = Drafts([ToolCall("", "t", {"n": 0})])
    steps = run_rules((Rule("asks", 1, ask),), drafts, Counting())
    assert next(steps) is request
    with pytest.raises(StopIteration):
        steps.send(Reply("four"))
    assert drafts.calls[0].arguments == {"n": 4}
    with pytest.raises(RuntimeError, match="asked"):
        run_without_questions(run_rules((Rule("asks", 1, ask),), drafts, Counting()))
