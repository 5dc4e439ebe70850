"""Which drafts a rule looks at, and the two short ways to write one."""

from __future__ import annotations

from callwright.nouns.types import ToolCall
from callwright.repair.draft import Change, Draft, Drafts
from callwright.repair.location import Location
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.rule import Need, call_rule, is_valid_draft, reply_rule, select_drafts


class Context:
    """A context in which the tools say what a draft is."""

    has: frozenset[Need] = frozenset({"schema"})

    def is_right(self, draft: Draft) -> bool:
        return draft.call.tool != "wrong"

    def is_open(self, draft: Draft) -> bool:
        return draft.call.tool != "fine"


def drafts() -> Drafts:
    return Drafts([ToolCall("", tool, {}) for tool in ("fine", "odd", "wrong")])


def test_a_rule_looks_at_every_draft_the_open_ones_or_the_wrong_ones() -> None:
    made = drafts()
    assert [d.id for d in select_drafts(made, Context(), "always")] == [0, 1, 2]
    assert [d.id for d in select_drafts(made, Context(), "open")] == [1, 2]
    assert [d.id for d in select_drafts(made, Context(), "wrong")] == [2]
    made.apply(Change(closed={2}))
    assert [d.id for d in select_drafts(made, Context(), "wrong")] == []
    assert is_valid_draft(made[1], Context())


def test_a_rule_of_calls_and_one_of_replies() -> None:
    def name(draft: Draft, _: Context) -> Change:
        change = Change()
        change.hint(Location(draft.id), "seen")
        return change

    def drop(made: Drafts, _: Context) -> Change | None:
        return Change(order=[draft.id for draft in made][1:])

    made = drafts()
    rules = (call_rule("name", 1, name, "open"), reply_rule("drop", 2, drop))
    run_without_questions(run_rules(rules, made, Context()))
    assert [found.path for found in made.render_abstentions()] == ["/1", "/2"]
    assert made.order == (1, 2)


def test_a_rule_of_calls_that_finds_nothing_has_no_change() -> None:
    rule = call_rule("nothing", 1, lambda draft, _: None)
    assert rule.find is not None
    assert rule.find(drafts(), Context()) is None
    assert rule.find(Drafts([]), Context()) is None
