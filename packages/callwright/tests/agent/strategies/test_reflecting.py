"""Strategies whose calls are repaired by reflection: when it is asked, what it costs, and that it
survives a crash.
"""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Persistence
from callwright.agent.strategies import (
    Layered,
    Reflecting,
    open_strategy,
    require_freezable,
    wrap_with_repair,
)
from callwright.cli.terminal.live import Live
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, in_order
from callwright.viewer import page

TEXT = {"type": "string"}
QUERY = "Weather at the airport of Oslo (OSL, also ENGM)?"
NO = Failure("tool_error", "this code is not understood here: give the longer one", status=400)
SAID = {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}
MENDED = {"station": "ENGM"}


def reflected(station: str, analysis: str = "the code is too short") -> dict[str, Any]:
    call = {"name": "weather", "arguments": {"station": station}}
    return {"analysis": analysis, "strategy": f"I give {station}.", "tool_calls": [call]}


FINISHED = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
REACT = {
    "bind": [
        {"thought": "", "action": {"tool": "weather", "arguments": {"station": "OSL"}}},
        FINISHED,
    ]
}


def weather(*outputs: Any) -> FakeTool:
    return FakeTool("weather", {"station": TEXT}, output=in_order(*outputs), effects=READ_LOCAL)


BOUND = {"calls": [{"tool": "weather", "arguments": {"station": "OSL"}}]}


async def run(
    strategy: str, tool: FakeTool, script: dict[str, Any], **options: Any
) -> tuple[Run, ScriptedModel]:
    model = ScriptedModel(
        {"bind": [BOUND, {"useful": ["none"], "reason": "done"}], "answer": SAID, **script}
    )
    setup = Orchestrator(
        [fake_source(tool)],
        model=model,
        planner=FixedPlan(["weather"]),
        strategy=strategy,
        **options,
    )
    return await setup.run(QUERY), model


def purposes(model: ScriptedModel) -> list[str]:
    return [r.purpose for r in model.requests if not r.purpose.startswith("answer")]


async def test_a_failed_call_is_reflected_on_instead_of_plainly_repaired() -> None:
    tool = weather(NO, {"sky": "rain"})
    done, model = await run("layered+reflect", tool, {"reflect": reflected("ENGM")})
    assert [r.arguments for r in done.results] == [MENDED]
    assert done.results[0].ok
    assert purposes(model)[:2] == ["bind", "reflect"]
    (said,) = [e.data for e in done.events if e.kind == "reflection"]
    assert (said["id"], said["tool"], said["arguments"]) == ("r1", "weather", MENDED)
    assert said["analysis"] == "the code is too short"
    assert done.cost.repairs["tier2"] == 1, "it costs what a plain repair costs"


async def test_the_second_reflection_knows_what_the_first_one_tried() -> None:
    tool = weather(NO, Failure("tool_error", "there is no such place", status=400), {"sky": "rain"})
    script = {"reflect": [reflected("Oslo airport"), reflected("ENGM")]}
    done, model = await run("layered+reflect", tool, script)
    assert len(tool.calls) == 3
    assert done.results[0].ok
    first, second = (r.messages[-1].content for r in model.requests if r.purpose == "reflect")
    assert "(nothing)" in first
    assert '"OSL"' in second.partition("TRIED BEFORE")[2].partition("=====")[0]


async def test_a_correction_that_has_failed_already_is_not_made_again() -> None:
    tool = weather(NO, NO, {"sky": "rain"})
    script = {"reflect": [reflected("ENGM"), reflected("OSL")]}
    done, _ = await run("layered+reflect", tool, script)
    assert tool.calls == [{"station": "OSL"}, MENDED], "the first call is not tried a third time"
    assert not done.results[0].ok
    assert done.cost.repairs == {
        **done.cost.repairs,
        "tier2": 2,
        "repeat": 1,
    }, "two questions, one call more"


async def test_reflect_after_asks_plainly_first_and_reflects_where_that_did_not_help() -> None:
    tool = weather(NO, NO, {"sky": "rain"})
    plain = {"station": "the airport"}
    script = {"repair": [plain], "reflect": [reflected("ENGM")]}
    done, model = await run("layered+reflect-after", tool, script)
    assert purposes(model)[:3] == ["bind", "repair", "reflect"]
    assert done.results[0].ok

    unread = weather(NO, {"sky": "rain"})
    script = {"repair": ["I do not know"], "reflect": [reflected("ENGM")]}
    done, model = await run("layered+reflect-after", unread, script)
    assert purposes(model)[:3] == [
        "bind",
        "repair",
        "reflect",
    ], "also where the plain way gave no call at all"
    assert done.cost.repairs["tier2"] == 2


async def test_what_a_reflection_costs_comes_from_the_repair_budget() -> None:
    for repairs, asked in ((0, 0), (1, 1)):
        tool = weather(NO, {"sky": "rain"})
        done, model = await run(
            "layered+reflect",
            tool,
            {"reflect": [reflected("ENGM")]},
            limits=Limits(repairs=repairs),
        )
        assert purposes(model).count("reflect") == asked
        assert not done.results[0].ok, "one question, and nothing left to call again"


async def test_where_no_call_fails_nothing_is_different() -> None:
    plain, _ = await run("react", weather({"sky": "rain"}), REACT)
    other, _ = await run("react+reflect", weather({"sky": "rain"}), REACT)
    assert [e.kind for e in plain.events] == [e.kind for e in other.events]
    assert plain.cost.model_calls == other.cost.model_calls


async def test_a_reflection_is_shown_while_it_runs_and_on_the_run_page() -> None:
    seen = io.StringIO()
    live = Live(Console(file=seen, width=200))
    done, _ = await run(
        "layered+reflect",
        weather(NO, {"sky": "rain"}),
        {"reflect": reflected("ENGM")},
        persistence=Persistence(sinks=[live]),
    )
    assert "the code is too short" in seen.getvalue()
    assert "I give ENGM." in page(done.events)


def test_any_strategy_can_reflect_and_says_so_by_its_name() -> None:
    made = open_strategy("react+reflect-after")
    assert made.name == "react+reflect-after"
    assert wrap_with_repair(made, "plain") is made
    other = wrap_with_repair(made, "reflect")
    assert other.name == "react+reflect"
    assert require_freezable(Reflecting(Layered()), "plan") == "plan"
    for wrong in ("react+", "react+plain", "nothing+reflect"):
        with pytest.raises(ConfigError, match="there is no strategy"):
            open_strategy(wrong)


def cut(path: Path, folder: Path, kept: int) -> Path:
    """The journal of the same run as it stood after so many events."""
    _, events = read_journal(path, every=True)
    with Journal.create(folder) as copy:
        for event in events[:kept]:
            copy(event)
    return copy.path.rename(folder / path.name)


def answers(request: ChatRequest) -> Any:
    """A model that answers by what it is asked."""
    text = request.messages[-1].content
    if request.purpose == "bind":
        return BOUND
    if request.purpose == "reflect":
        return reflected(
            "ENGM" if "Oslo airport" in text.partition("call that failed:")[2] else "Oslo airport"
        )
    return {"station": "the airport"} if request.purpose == "repair" else SAID


def world() -> tuple[FakeTool, list[str]]:
    """A tool that takes one code only, and those it was asked for."""
    asked: list[str] = []

    def forecast(station: str) -> Any:
        asked.append(station)
        if station == "ENGM":
            return {"sky": "rain"}
        raise ValueError("this code is not understood here: give the longer one")

    return FakeTool("weather", {"station": TEXT}, output=forecast, effects=READ_LOCAL), asked


@pytest.mark.parametrize("strategy", ["layered+reflect", "layered+reflect-after", "react+reflect"])
def test_wherever_a_reflecting_run_is_cut_it_goes_on_to_the_same_end(
    strategy: str, tmp_path: Path
) -> None:
    def setup(folder: Path, tool: FakeTool) -> Orchestrator:
        model = ScriptedModel(react if strategy.startswith("react") else answers)
        return Orchestrator(
            [fake_source(tool)],
            model=model,
            planner=FixedPlan(["weather"]),
            strategy=strategy,
            persistence=Persistence(journal=folder),
        )

    tool, asked = world()
    whole = asyncio.run(setup(tmp_path, tool).run(QUERY))
    path = find_journal(whole.id, tmp_path)
    events = read_journal(path)[1]
    assert sum(e.kind == "reflection" for e in events) >= 1
    for kept in range(1, len(events) + 1):
        folder = tmp_path / str(kept)
        part = cut(path, folder, kept)
        again, anew = world()
        done = asyncio.run(setup(folder, again).resume(part))
        assert (done.answer, done.skips) == (whole.answer, whole.skips)
        assert [replace(r, seconds=0) for r in done.results] == [
            replace(r, seconds=0) for r in whole.results
        ]
        assert done.cost.repairs == whole.cost.repairs
        told = [e.data for e in done.events if e.kind == "reflection"]
        assert told == [e.data for e in whole.events if e.kind == "reflection"]
        on_record = sum(e.kind == "result" for e in events[:kept])
        assert len(anew) == len(asked) - on_record, "what is on record is not called again"


def react(request: ChatRequest) -> Any:
    if request.purpose != "bind":
        return answers(request)
    if "r1: weather" in request.messages[-1].content:
        return FINISHED
    return REACT["bind"][0]
