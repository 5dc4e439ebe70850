"""What the model is not shown: destructive tools that nothing speaks of, and only those."""

from __future__ import annotations

from callwright.agent.safety.policy import select_withheld
from callwright.nouns.types import DESTRUCTIVE, READ, WRITE, Tool

READ_NOTE = Tool("read_note", "Read a note.", effects=READ)
DELETE_NOTE = Tool("delete_note", "Delete a note for good.", effects=DESTRUCTIVE)
CANCEL_TRIP = Tool("cancelTrip", "Cancels a trip.", effects=DESTRUCTIVE)
ADD_EXPENSE = Tool("add_expense", "Adds an expense.", effects=WRITE)
GIT_LOG = Tool(
    "git_log", "Shows the commit logs", effects=DESTRUCTIVE
)  # a server that says nothing of its effects
ALL = (READ_NOTE, DELETE_NOTE, CANCEL_TRIP, ADD_EXPENSE, GIT_LOG)


def names(query: str, *earlier: str) -> set[str]:
    return {tool.name for tool in select_withheld(query, earlier, ALL)}


def test_a_destructive_tool_is_shown_when_the_request_speaks_of_its_subject() -> None:
    assert names("Remove the notes on Lisbon") == {"cancelTrip"}
    assert names("Who made the last commit?") == {"delete_note", "cancelTrip"}


def test_what_was_said_before_counts() -> None:
    assert "cancelTrip" not in names("Then cancel it, and the expense", "I have a trip to Oslo")


def test_the_verb_alone_is_not_enough() -> None:
    """ "Expense X514 was entered twice, delete it" must not put every tool that deletes before the
    model.
    """
    assert names("Expense X514 was entered twice, delete it please") == {
        "delete_note",
        "cancelTrip",
    }


def test_the_subject_alone_is_not_enough() -> None:
    assert "cancelTrip" in names("When does her trip start, and when is she back?")


def test_a_tool_that_overwrites_is_shown_where_something_is_to_be_written() -> None:
    write = Tool(
        "write_note", "Write a note; an old one of that name is replaced.", effects=DESTRUCTIVE
    )
    assert select_withheld("What does the note on the gate say?", (), [write, READ_NOTE]) == (
        write,
    )
    assert select_withheld("Save the sunrise in a note", (), [write, READ_NOTE]) == ()


def test_reading_and_harmless_writing_tools_are_always_shown() -> None:
    assert not names("What are the expenses?") & {"read_note", "add_expense"}


def test_a_tool_whose_effects_nobody_declared_is_shown_unless_it_says_that_it_destroys() -> None:
    assert "git_log" not in names("Is there a note?")
    assert "delete_note" in names("Is there a note?")


def test_a_request_about_something_else_shows_nothing_that_destroys() -> None:
    assert names("When does Henrik leave for Iceland?") == {"delete_note", "cancelTrip"}


def test_a_tool_that_was_allowed_by_its_name_is_shown_whatever_is_said() -> None:
    kept = select_withheld("Who made the last commit?", (), ALL, lambda tool: tool is DELETE_NOTE)
    assert kept == (CANCEL_TRIP,)


def test_a_request_in_another_language_hides_nothing() -> None:
    assert names("Was kostet die Reise nach Rom?") == set()
    assert names("¿Cuánto cuesta el viaje a Roma?") == set()
    assert names("ما تكلفة الرحلة إلى روما؟") == set()
    assert names("Lösche bitte die Reise nach Rom") == set()
    assert names("旅行をキャンセルして") == set()
