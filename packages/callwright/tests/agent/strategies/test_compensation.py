"""What a tool undoes is declared by it, and told where something was lost."""

from __future__ import annotations

from typing import Any

from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import StepContext
from callwright.agent.strategies.compensation import offer_compensations
from callwright.nouns.errors import Failure
from callwright.nouns.types import READ, WRITE, Tool, ToolResult
from callwright.testing import FixedPlan

BOOK = Tool("book_room", effects=WRITE)
UNDO = Tool("cancel_room", effects=WRITE, compensates="book_room")
LOOK = Tool("weather", effects=READ)
BOOKED = ToolResult("r1", "book_room", {"guest": "Ann"}, {"booking": "B7"})
LOST = ToolResult("r2", "weather", {}, None, Failure("auth", "401"))
UNDONE = ToolResult("r3", "cancel_room", {"booking": "B7"}, {"cancelled": True})


def told(*results: ToolResult, tools: Any = (BOOK, UNDO, LOOK)) -> tuple[str, ...]:
    facts = RunFacts(RunState(Asked("Book."), tools))
    facts.take_results(results)
    context = StepContext("Book.", tools, FixedPlan(), facts, "schema")
    return offer_compensations(context, tools)


def test_a_write_that_can_be_undone_is_told_where_something_was_lost() -> None:
    (note,) = told(BOOKED, LOST)
    assert note == (
        'book_room was done and returned {"booking":"B7"}; cancel_room can undo it, and was not called'
    )


def test_nothing_is_told_where_nothing_was_lost_or_done_or_declared() -> None:
    assert told(BOOKED) == ()
    assert told(LOST) == ()
    assert told(BOOKED, LOST, UNDONE) == ()
    assert told(BOOKED, LOST, tools=(BOOK, LOOK, Tool("cancel_room", effects=WRITE))) == ()
