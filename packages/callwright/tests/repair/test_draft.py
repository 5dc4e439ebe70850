"""Drafts: ids are given once, and positions are looked up where results are rendered."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import Edit, ToolCall
from callwright.repair.draft import AFTER_CALLS, BEFORE_CALLS, Change, Draft, Drafts
from callwright.repair.location import NAME, REPLY, Location, in_arguments
from callwright.schema.value_edits import ValueEdit

ONE, TWO, THREE = (ToolCall(str(n), "t", {"n": n}) for n in (1, 2, 3))


def test_the_calls_of_untouched_drafts_are_the_same_objects() -> None:
    drafts = Drafts([ONE, TWO])
    assert all(a is b for a, b in zip(drafts.calls, (ONE, TWO), strict=True))
    assert (drafts.render_edits(), drafts.render_violations(), drafts.confidence) == ((), (), 1.0)


def test_an_id_is_never_given_again() -> None:
    drafts = Drafts([ONE, TWO])
    drafts.apply(Change(order=[1]))
    id = drafts.new_id()
    assert id == 2
    drafts.apply(Change(calls={id: THREE}, order=[id, 1]))
    assert drafts.calls == (THREE, TWO)
    assert drafts.new_id() == 3
    assert drafts[0].call is ONE, "a dropped draft is still known"


def test_edits_point_to_where_calls_were_read_and_additions_to_where_they_stand() -> None:
    drafts, change = Drafts([ONE, TWO], turn=AFTER_CALLS), Change(order=[2, 1])
    change.list_edit(Location(0), "gone", None, "dropped")
    change.list_edit(in_arguments(1, "a/b"), 1, 2, "changed", 0.9)
    change.calls[2] = THREE
    change.list_edit(Location(2), None, "new", "added")
    drafts.apply(change)
    assert drafts.render_edits() == (
        Edit("/0", "gone", None, "dropped"),
        Edit("/1/arguments/a~1b", 1, 2, "changed"),
        Edit("/0", None, "new", "added"),
    )
    assert drafts.confidence == 0.9


def test_what_is_done_call_by_call_is_listed_by_call_and_what_follows_as_it_was_done() -> None:
    drafts = Drafts([ONE, TWO], turn=BEFORE_CALLS)
    change = Change()
    change.hint(Location(1), "first")
    drafts.apply(change)
    drafts.take_turn(0)
    for id in (1, 0):
        change = Change()
        change.list_edit(Location(id, NAME), "a", "b", f"call {id}")
        drafts.apply(change)
    drafts.take_turn(AFTER_CALLS)
    for id in (1, REPLY, 0):
        change = Change()
        change.list_edit(Location(id, NAME), "a", "b", f"reply {id}")
        change.hint(Location(id), f"later {id}")
        drafts.apply(change)
    rules = [edit.rule for edit in drafts.render_edits()]
    assert rules == ["call 0", "call 1", "reply 1", "reply -1", "reply 0"]
    said = [found.reason for found in drafts.render_abstentions()]
    assert said == ["first", "later 1", "later -1", "later 0"]


def test_errors_can_be_withdrawn_and_a_draft_be_closed() -> None:
    drafts, change = Drafts([ONE]), Change(closed={0})
    change.report("schema", in_arguments(0, "n"), "Wrong.", "type")
    change.note_missing(0, "m")
    drafts.apply(change)
    assert drafts[0].is_closed
    assert drafts[0].missing == ["m"]
    assert [v.path for v in drafts.render_violations()] == ["/0/arguments/n"]
    drafts.apply(Change(withdrawn={0}))
    assert drafts.render_violations() == ()
    assert drafts[0].missing == ["m"]


def test_a_new_call_has_to_be_checked_again() -> None:
    drafts = Drafts.of(Draft(7, ONE, is_right=True))
    drafts.apply(Change(calls={7: ONE}))
    assert drafts[7].is_right
    drafts.apply(Change(calls={7: TWO}))
    assert drafts[7].is_right is None
    assert drafts.new_id() == 8


def test_calls_are_right_once_the_check_let_all_through_that_are_open() -> None:
    drafts = Drafts([ONE, TWO])
    assert not drafts.are_right
    drafts.apply(Change(right={0}))
    assert not drafts.are_right
    drafts.apply(Change(closed={1}))
    assert drafts.are_right
    drafts.apply(Change(calls={0: THREE}))
    assert not drafts.are_right
    drafts.apply(Change(order=[1]))
    assert drafts.are_right


def test_changes_of_several_calls_are_one_change() -> None:
    one, other = Change(calls={0: TWO}), Change(calls={1: ONE}, closed={1})
    one.list_values(0, [ValueEdit(("n",), 1, 2, "r")])
    other.list_values(1, [ValueEdit(("n",), 2, 1, "r")])
    joined = one.join(other)
    assert (joined.calls, joined.closed) == ({0: TWO, 1: ONE}, {1})
    assert [edit.location.draft for edit in joined.edits] == [0, 1]
    assert not Change()


def test_the_same_done_to_the_same_calls_is_equal() -> None:
    assert Drafts([ONE]) == Drafts([ONE])
    assert Drafts([ONE]) != Drafts([TWO])


def test_arguments_that_a_schema_made_a_list_are_refused_by_the_name_of_their_tool() -> None:
    with pytest.raises(CatalogError, match="tool 't': its input schema takes no object"):
        _ = Draft(0, ToolCall("1", "t", [1])).arguments  # type: ignore[arg-type]
