"""Calls that are made again and calls that are not, over a whole run of our own agent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callwright import Orchestrator, Run
from callwright.agent.options import Safety
from callwright.nouns.types import READ, UNKNOWN, WRITE, Effects
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order

FINISH = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
NOTHING: dict[str, Any] = {"statements": [], "missing": []}


async def run(query: str, calls: list[tuple[str, dict[str, Any]]], *tools: FakeTool) -> Run:
    """A run whose model makes one call a reply."""
    steps = [{"thought": "", "action": {"tool": t, "arguments": a}} for t, a in calls]
    model = ScriptedModel({"bind": [*steps, *[FINISH] * 4], "*": NOTHING})
    safety = Safety(allow=["*"])
    setup = Orchestrator([fake_source(*tools)], model=model, strategy="react", safety=safety)
    return await setup.run(query)


DEPOSIT = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "currency": {"type": "string", "default": "EUR"}},
    "required": ["amount"],
}


def deposit() -> FakeTool:
    return FakeTool("deposit", input_schema=DEPOSIT, output={"ok": True}, effects=WRITE)


@pytest.mark.parametrize(
    "again", [{"amount": 5}, {"amount": 5.0}, {"amount": 5, "currency": "EUR"}]
)
@pytest.mark.parametrize(
    "query",
    ["Deposit 5 EUR.", "Zahle 5 EUR ein.", "Ingresa 5 EUR.", "存入5 EUR。", "أودع 5 EUR."],
)
async def test_a_write_is_made_once_however_it_is_spelled(query: str, again: Any) -> None:
    tool = deposit()
    await run(query, [("deposit", {"amount": 5}), ("deposit", again)], tool)
    assert tool.calls == [{"amount": 5}]


@pytest.mark.parametrize(
    ("query", "times"),
    [
        ("Deposit 5 EUR twice.", 2),
        ("Deposit 5 EUR for me and deposit 5 EUR for Ann.", 2),
        ("Deposit 5 EUR.", 1),
    ],
)
async def test_a_write_is_made_as_often_as_the_user_surely_asks(query: str, times: int) -> None:
    tool = deposit()
    await run(query, [("deposit", {"amount": 5, "currency": "EUR"})] * 3, tool)
    assert len(tool.calls) == times


@pytest.mark.parametrize("effects", [READ, UNKNOWN])
async def test_what_says_that_it_is_pending_is_asked_again(effects: Effects) -> None:
    states = in_order({"status": "pending"}, {"status": "pending"}, {"status": "done"})
    tool = FakeTool("job_state", {"job": {"type": "string"}}, output=states, effects=effects)
    await run("How far is job J-1?", [("job_state", {"job": "J-1"})] * 4, tool)
    assert len(tool.calls) == 3


@pytest.mark.parametrize(
    ("query", "times"),
    [
        ("Place an order for 5 bolts.", 2),
        ("Bestelle 5 Schrauben.", 2),
        ("订购5个螺栓。", 2),
        ("Place an order for 5 bolts. Do it three times.", 3),
    ],
)
async def test_an_order_that_stays_pending_is_not_placed_once_for_each_look(
    query: str, times: int
) -> None:
    """Before its second result it may be a look; that names another order, so it never was one."""
    orders = in_order(*({"order_id": number, "status": "Pending"} for number in range(7, 14)))
    place = FakeTool("place", {"pieces": {"type": "integer"}}, output=orders, effects=UNKNOWN)
    look = FakeTool("details", {"order_id": {"type": "integer"}}, output={}, effects=UNKNOWN)
    await run(query, [("place", {"pieces": 5})] * 6, place, look)
    assert len(place.calls) == times


async def test_tests_are_run_again_after_an_edit() -> None:
    found = in_order({"failed": 3}, {"failed": 0})
    tests = FakeTool("run_tests", {}, output=found, effects=UNKNOWN)
    edit = FakeTool("edit_file", {"path": {"type": "string"}}, output={"ok": True}, effects=UNKNOWN)
    steps: list[tuple[str, Any]] = [("run_tests", {}), ("edit_file", {"path": "a.py"})]
    await run("Fix a.py until the tests pass.", [*steps, steps[0], steps[0]], tests, edit)
    assert len(tests.calls) == 2, "the second result is final until something is edited"


@pytest.mark.parametrize("query", ["Book a room for Ann.", "为Ann订一个房间。"])
async def test_what_was_just_made_is_not_undone_unasked(query: str) -> None:
    guest, booking = {"guest": {"type": "string"}}, {"booking": {"type": "string"}}
    book = FakeTool("book_room", guest, output={"booking": "B-7"}, effects=WRITE)
    undo = FakeTool("cancel_room", booking, output={"ok": True}, effects=WRITE)
    undo.tool = replace(undo.tool, compensates="book_room")
    steps: list[tuple[str, Any]] = [
        ("book_room", {"guest": "Ann"}),
        ("cancel_room", {"booking": "B-7"}),
    ]
    done = await run(query, steps, book, undo)
    assert (len(book.calls), len(undo.calls)) == (1, 0)
    assert "was made just now" in done.skips[0].reason
    await run("Cancel booking B-7.", [steps[1]], book, undo)
    assert len(undo.calls) == 1
