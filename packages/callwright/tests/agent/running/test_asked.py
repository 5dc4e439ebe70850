"""The day of a run, and the days that may be taken for known."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from callwright import Orchestrator
from callwright.agent.options import Interaction
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import READ_LOCAL, WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source
from tests.agent.running.flow import (
    ASKED,
    CAPITAL,
    DAY,
    MONEY,
    QUERY,
    airport,
    call,
    calls,
    converting,
    find_capital,
    said,
)


@pytest.mark.parametrize(
    ("day", "asked"),
    [
        ("2026-11-23", MONEY),
        ("2026-11-24", f"{MONEY} Tomorrow, I mean."),
        ("2025-06-20", "What is 250 USD in Norwegian kroner on 20 June 2025?"),
        ("2025-06-20", "What is 250 USD in Norwegian kroner on 2025-06-20?"),
    ],
)
async def test_a_date_that_was_said_or_follows_from_today_is_no_assumption(
    day: str, asked: str
) -> None:
    money, model = converting(day)
    setup = Orchestrator(
        [fake_source(money)], model=model, interaction=Interaction(today=lambda: date(2026, 11, 23))
    )
    done = await setup.run(asked)
    assert (done.status, done.assumed, done.answer.assumed) == ("answered", (), ())
    assert "Today is Monday, 2026-11-23." in model.requests[0].messages[-1].content


async def test_where_a_tool_tells_the_day_or_none_takes_one_the_model_is_not_told() -> None:
    money, model = converting()
    teller = FakeTool(
        "desk_date",
        {},
        output={"date": "2025-06-20"},
        effects=READ_LOCAL,
        description="Today's date.",
    )
    await Orchestrator([fake_source(money, teller)], model=model).run(MONEY)
    other = ScriptedModel(
        {"bind": calls(call("find_airport", city="Oslo")), "answer": [said("OSL.", "r1")]}
    )
    await Orchestrator([fake_source(airport())], model=other).run(QUERY)
    nobody, asked = converting()
    await Orchestrator([fake_source(nobody)], model=asked, interaction=Interaction(today=None)).run(
        MONEY
    )
    for one in (model, other, asked):
        assert not any("Today is" in m.content for r in one.requests for m in r.messages)


async def test_a_write_on_a_day_that_follows_from_today_does_not_wait_for_a_tool_to_say_it() -> (
    None
):
    book = FakeTool("book_room", {"date": DAY}, output={"booked": "B1"}, effects=WRITE)
    script = {
        "bind": calls(call("book_room", date="2026-11-24")),
        "answer": [said("B1 is booked.", "r1")],
    }
    setup = Orchestrator(
        [fake_source(book)],
        model=ScriptedModel(script),
        interaction=Interaction(today=lambda: date(2026, 11, 23)),
    )
    done = await setup.run("Book a room for tomorrow.")
    assert book.calls == [{"date": "2026-11-24"}]
    assert done.status == "answered"


async def test_today_is_a_date() -> None:
    asked: Any = {"tools": [find_capital], "model": ScriptedModel(ASKED)}
    wrong: Any = Interaction(today=lambda: "2026-01-02")  # type: ignore[arg-type, return-value]
    with pytest.raises(ConfigError, match="today returned '2026-01-02', and must return a date"):
        await Orchestrator(**asked, interaction=wrong).run(CAPITAL)
    moment = Interaction(today=lambda: datetime(2026, 1, 2, 3, 4))
    done = await Orchestrator(**asked, interaction=moment).run(CAPITAL)
    assert done.events[0].data["today"] == "2026-01-02"
