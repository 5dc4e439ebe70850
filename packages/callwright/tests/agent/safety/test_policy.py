"""What the model is shown: effects and consent decide, and words only rank."""

from __future__ import annotations

import pytest

from callwright.agent.safety.consent import Consent
from callwright.agent.safety.policy import (
    explain_withheld,
    is_described_destructive,
    rank_by_request,
    select_withheld,
)
from callwright.nouns.types import DESTRUCTIVE, READ, UNKNOWN, WRITE, Effects, Tool

READ_NOTE = Tool("read_note", "Read a note.", effects=READ)
DELETE_NOTE = Tool("delete_note", "Delete a note for good.", effects=DESTRUCTIVE)
CANCEL_TRIP = Tool("cancelTrip", "Cancels a trip.", effects=DESTRUCTIVE)
ADD_EXPENSE = Tool("add_expense", "Adds an expense.", effects=WRITE)
GIT_LOG = Tool(
    "git_log", "Shows the commit logs", effects=DESTRUCTIVE
)  # a server that says nothing of its effects
ALL = (READ_NOTE, DELETE_NOTE, CANCEL_TRIP, ADD_EXPENSE, GIT_LOG)

REQUESTS = (
    "Remove the notes on Lisbon",
    "Who made the last commit?",
    "Lösche bitte die Notiz zu Lissabon und storniere die Reise",
    "Was kostet die Reise nach Rom?",
    "请删除关于里斯本的笔记，并取消行程",
    "去罗马的旅行多少钱？",
    "¿Cuánto cuesta el viaje a Roma?",
    "ما تكلفة الرحلة إلى روما؟",
    "旅行をキャンセルして",
)


def hidden(consent: Consent) -> set[str]:
    return {tool.name for tool in select_withheld(ALL, consent.may_be_called)}


def moved(query: str, *earlier: str) -> set[str]:
    """The tools that a request puts last."""
    end = Tool("x", effects=READ)
    ranked = rank_by_request(query, earlier, [*ALL, end])
    return {tool.name for tool in ranked[ranked.index(end) + 1 :]}


def test_what_destroys_is_hidden_where_nobody_can_approve_it() -> None:
    assert hidden(Consent()) == {"delete_note", "cancelTrip", "git_log"}
    assert hidden(Consent(lambda proposal: False)) == set(), "somebody can be asked"
    assert hidden(Consent(dry_run=True)) == set(), "nothing is sent"


@pytest.mark.parametrize(
    ("allow", "left"),
    [
        ("delete_note", {"cancelTrip", "git_log"}),
        ("*_note", {"cancelTrip", "git_log"}),
        ("*", set()),
        ("read_note", {"delete_note", "cancelTrip", "git_log"}),
    ],
)
def test_a_tool_that_was_allowed_is_shown_by_its_name_or_by_a_pattern(
    allow: str, left: set[str]
) -> None:
    assert hidden(Consent(allow=[allow])) == left


def test_reading_and_harmless_writing_tools_are_always_shown() -> None:
    assert not hidden(Consent()) & {"read_note", "add_expense"}
    reads = Tool("delete_nothing", "Deletes nothing.", effects=Effects(read_only=True))
    assert select_withheld([reads], lambda tool: False) == ()


def test_effects_that_nobody_declared_follow_the_approvals() -> None:
    """A function of one's own needs none unless it says that it destroys; a stranger's does."""
    own = Tool("my_function", effects=UNKNOWN)
    destroys = Tool("delete_my_things", effects=UNKNOWN)
    strange = Tool("my_function", effects=UNKNOWN, trusted=False)
    shown = [own, destroys, strange]
    assert select_withheld(shown, Consent().may_be_called) == (destroys, strange)
    assert select_withheld(shown, Consent(lambda proposal: True).may_be_called) == ()


def test_what_is_hidden_says_which_option_shows_it() -> None:
    assert explain_withheld("notes:delete_note").endswith("allowing notes:delete_note shows it")
    assert "not shown" in explain_withheld("delete_note")


@pytest.mark.parametrize("query", REQUESTS)
def test_no_wording_in_any_language_adds_or_takes_a_tool(query: str) -> None:
    ranked = rank_by_request(query, (), ALL)
    assert sorted(ranked, key=ALL.index) == [*ALL]


def test_a_destructive_tool_comes_last_unless_the_request_speaks_of_its_subject() -> None:
    assert moved("Remove the notes on Lisbon") == {"cancelTrip"}
    assert moved("Who made the last commit?") == {"delete_note", "cancelTrip"}


def test_what_was_said_before_counts() -> None:
    assert "cancelTrip" not in moved("Then cancel it, and the expense", "I have a trip to Oslo")


def test_the_verb_alone_is_not_enough() -> None:
    """ "Expense X514 was entered twice, delete it" must not put every tool that deletes before the
    others.
    """
    assert moved("Expense X514 was entered twice, delete it please") == {
        "delete_note",
        "cancelTrip",
    }


def test_the_subject_alone_is_not_enough() -> None:
    assert "cancelTrip" in moved("When does her trip start, and when is she back?")


def test_a_tool_that_overwrites_is_first_where_something_is_to_be_written() -> None:
    write = Tool(
        "write_note", "Write a note; an old one of that name is replaced.", effects=DESTRUCTIVE
    )
    both = (write, READ_NOTE)
    assert rank_by_request("What does the note on the gate say?", (), both) == (READ_NOTE, write)
    assert rank_by_request("Save the sunrise in a note", (), both) == both


def test_reading_and_harmless_writing_tools_keep_their_place() -> None:
    assert not moved("What are the expenses?") & {"read_note", "add_expense"}


def test_a_tool_whose_effects_nobody_declared_comes_last_only_if_it_says_that_it_destroys() -> None:
    assert "git_log" not in moved("Is there a note?")
    assert "delete_note" in moved("Is there a note?")


def test_a_request_about_something_else_puts_all_last_that_destroys() -> None:
    assert moved("When does Henrik leave for Iceland?") == {"delete_note", "cancelTrip"}


@pytest.mark.parametrize("query", REQUESTS[2:])
def test_a_request_in_another_language_leaves_the_order(query: str) -> None:
    assert rank_by_request(query, (), ALL) == ALL


@pytest.mark.parametrize(
    ("name", "destroys"),
    [("lösche_notiz", True), ("notizLöschen", True), ("wiped_disk", True), ("lies_notiz", False)],
)
def test_a_tool_says_that_it_destroys_in_every_language_with_a_pack(
    name: str, destroys: bool
) -> None:
    assert is_described_destructive(Tool(name, effects=UNKNOWN)) is destroys
