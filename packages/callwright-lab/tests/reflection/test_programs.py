"""Programs of a learner, run: what they called, what they found of earlier rounds, and how they
went wrong.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.probing import TrialPolicy
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import ToolResult
from callwright.repair.gate import Gate
from callwright.testing import fake_source
from callwright.tools.catalog import open_catalog
from callwright_lab.reflection.attempts import Trying
from callwright_lab.reflection.programs import Done, NotCarriedOut, Programs
from callwright_lab.verify.budget import Meter

DAY = "2024-12-25"


@asynccontextmanager
async def programs(world: Any) -> AsyncIterator[Programs]:
    async with open_catalog([fake_source(*world.tools)]) as catalog:
        yield Programs(Gate(catalog.tools), Trying(catalog.call, TrialPolicy()))


async def done(world: Any, code: str, before: Trajectory | None = None) -> Done:
    async with programs(world) as runs:
        return await runs.run(before or world.trajectory.before(0), code, "t", Meter())


async def test_a_program_that_computes_its_arguments_shows_what_it_called(world: Any) -> None:
    code = f"x = find_airport(city='Oslo')\nprint(forecast(iata=x['iata'], day='{DAY}'))"
    made = await done(world, code)
    assert [(c.id, c.tool, c.arguments) for c in made.step.calls] == [
        ("w1", "find_airport", {"city": "Oslo"}), ("w2", "forecast", {"iata": "OSL", "day": DAY}),
    ]  # fmt: skip
    assert [r.content for r in made.step.results] == [{"iata": "OSL"}, {"sky": "snow", "high": -14}]
    assert (made.step.code, made.step.shown) == (code, "{'sky': 'snow', 'high': -14}")
    assert (made.fault, made.wrong, made.foreign) == (None, None, False)


async def test_it_finds_the_variables_of_earlier_rounds_without_calling_their_tools_again(
    world: Any,
) -> None:
    first = replace(world.trajectory.steps[0], code="x = find_airport(city='Oslo')\nprint(x)")
    before = replace(world.trajectory, steps=(first,), answer=None)
    made = await done(world, f"print(forecast(iata=x['iata'], day='{DAY}'))", before)
    assert [c.arguments for c in made.step.calls] == [{"iata": "OSL", "day": DAY}]
    assert world.airport.calls == [], "what it returned is on record"


async def test_what_an_earlier_round_returned_and_nobody_wrote_down_is_asked_for_once(
    world: Any,
) -> None:
    first = replace(
        world.trajectory.steps[0], code="x = find_airport(city='Oslo')\nprint('ok')", results=()
    )
    before = replace(world.trajectory, steps=(first,), answer=None)
    async with programs(world) as runs:
        for _ in range(3):
            made = await runs.run(before, "print(news(city=x['iata']))", "", Meter())
            assert made.step.calls[0].arguments == {"city": "OSL"}
    assert len(world.airport.calls) == 1


async def test_what_an_earlier_program_printed_is_not_taken_for_what_its_call_returned(
    world: Any,
) -> None:
    """Of records that keep print-outs only: the text is read as the call's result, and is none."""
    call = world.trajectory.steps[0].calls[0]
    read = ToolResult(call.id, call.tool, call.arguments, "OSL")
    first = Step("", (call,), (read,), "x = find_airport(city='Oslo')\nprint(x['iata'])")
    before = replace(world.trajectory, steps=(first,), answer=None)
    made = await done(world, f"print(forecast(iata=x['iata'], day='{DAY}'))", before)
    assert [c.arguments for c in made.step.calls] == [{"iata": "OSL", "day": DAY}], made.step.shown
    assert len(world.airport.calls) == 1
    carried = replace(first, results=(replace(read, content={"iata": "OSL"}),), shown="OSL")
    made = await done(
        world, f"print(forecast(iata=x['iata'], day='{DAY}'))", replace(before, steps=(carried,))
    )
    assert made.fault is None
    assert len(world.airport.calls) == 1, "a record of ours says what the call returned"


async def test_where_an_earlier_program_does_not_end_well_any_more_nothing_is_held_against_a_later_one(
    world: Any,
) -> None:
    """Its variables are missing, which is not the learner's doing; where it failed then, they were
    missing then.
    """
    first = replace(
        world.trajectory.steps[0],
        code="import numpy\nx = find_airport(city='Oslo')\nprint(x)",
        shown="{}",
    )
    before = replace(world.trajectory, steps=(first,), answer=None)
    with pytest.raises(NotCarriedOut, match="round 1 ended well then"):
        await done(world, "print(news(city=x['iata']))", before)
    failed = replace(first, shown="Traceback (most recent call last):\nModuleNotFoundError: numpy")
    made = await done(world, "print(news(city=x['iata']))", replace(before, steps=(failed,)))
    assert made.fault is not None
    assert made.fault.error == "program: NameError"


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        (
            "x = find_airport(city='Oslo')\nprint(news(city=x['code']))",
            "program: KeyError",
            "KeyError: code",
        ),
        ("print(news(city=town))", "program: NameError", "name 'town' is not defined"),
        (
            "print(weather_report(city=str(1)))",
            "unknown tool",
            "name 'weather_report' is not defined",
        ),
        ("print(news(city='Oslo'", "program: SyntaxError", "unexpected EOF"),
        ("print(open('/etc/passwd').read())", "program: PermissionError", "no files"),
        ("for c in ['a', 'b', 'c']:\n    print(news(city=c))", "too many calls", "2 calls at most"),
        ("print(news('Oslo', 'now', 'please'))", "program: TypeError", "its parameters are: city"),
    ],
)
async def test_an_error_of_the_program_itself_is_told_as_the_sandbox_tells_it(
    world: Any, code: str, error: str, said: str
) -> None:
    made = await done(world, code)
    assert made.fault is not None
    assert (made.fault.kind, made.fault.error, made.foreign) == ("calling", error, False)
    assert said in made.step.shown
    assert len(made.step.calls) <= 2


@pytest.mark.parametrize(
    "code", ["while True:\n    pass", "x = 1\ndel x\nprint(news(city='a' + 'b'))"]
)
async def test_what_only_the_sandbox_cannot_do_says_nothing_of_the_learner(
    world: Any, code: str
) -> None:
    assert (await done(world, code)).foreign


async def test_what_the_gate_refuses_comes_back_as_an_error_and_the_program_goes_on(
    world: Any,
) -> None:
    made = await done(world, "x = forecast(iata='O' + 'SL')\nprint(x['error'])")
    assert made.wrong is not None
    assert (made.wrong.error, made.fault) == ("missing argument", None)
    assert "day" in made.step.shown
    assert world.forecast.calls == []


async def test_a_program_that_wants_to_write_is_ended_before_the_call_leaves(world: Any) -> None:
    with pytest.raises(NotCarriedOut, match="write"):
        await done(world, "print(book(city='Os' + 'lo'))")
    assert world.book.calls == []
