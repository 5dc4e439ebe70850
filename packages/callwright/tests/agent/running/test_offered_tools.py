"""The tools that a run shows its model, and the notes of those that it does not show."""

from __future__ import annotations

import asyncio
from types import FunctionType, ModuleType

import pytest

from callwright import Orchestrator
from callwright.agent.options import Safety
from callwright.agent.safety.consent import Proposal
from callwright.nouns.types import DESTRUCTIVE
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source
from tests.agent.running.flow import (
    ASKED,
    CAPITAL,
    QUERY,
    TEXT,
    airport,
    call,
    calls,
    find_capital,
    run,
    said,
)


@pytest.mark.parametrize(
    "query",
    [
        QUERY,
        "Delete the backup of Oslo, please",
        "Lösche bitte die Sicherung von Oslo und sag mir den Flughafen",
        "请删除奥斯陆的备份",
    ],
)
async def test_a_destructive_tool_that_nobody_can_approve_is_not_even_shown(query: str) -> None:
    wipe = FakeTool(
        "delete_backup",
        {"name": TEXT},
        description="Deletes a backup.",
        effects=DESTRUCTIVE,
        output="gone",
    )
    script = {
        "bind": calls(call("delete_backup", name="Oslo"), call("find_airport", city="Oslo")),
        "*": said("OSL.", "r2"),
    }
    model = ScriptedModel(script)
    done = await Orchestrator([fake_source(airport(), wipe)], model=model).run(query)
    assert wipe.calls == []
    assert "delete_backup" not in model.requests[0].messages[-1].content
    assert any(s.tool == "delete_backup" and "not shown" in s.reason for s in done.skips)
    (note,) = [e.data["text"] for e in done.events if e.kind == "note" and "shown" in str(e.data)]
    assert note.endswith("--allow fake:delete_backup")


@pytest.mark.parametrize(
    "query",
    [QUERY, "Delete the backup of Oslo", "Lösche die Sicherung von Oslo", "删除奥斯陆的备份"],
)
async def test_a_destructive_tool_is_shown_where_somebody_can_be_asked(query: str) -> None:
    """Being shown permits nothing: the call waits for the answer, in whatever words it was asked."""
    wipe = FakeTool("delete_backup", {"name": TEXT}, effects=DESTRUCTIVE, output="gone")
    asked: list[str] = []

    def refuse(proposal: Proposal) -> bool:
        asked.append(proposal.call.tool.name)
        return False

    script = {"bind": calls(call("delete_backup", name="Oslo")), "*": said("Nothing.")}
    model = ScriptedModel(script)
    planner = FixedPlan(["delete_backup"])
    made = Orchestrator(
        [fake_source(airport(), wipe)], model=model, planner=planner, safety=Safety(refuse)
    )
    done = await made.run(query)
    assert any("delete_backup" in request.messages[-1].content for request in model.requests)
    assert not any("not shown" in s.reason for s in done.skips)
    assert asked == ["delete_backup"]
    assert wipe.calls == []


async def test_a_destructive_tool_that_was_allowed_by_its_name_or_a_pattern_is_shown() -> None:
    wipe = FakeTool("delete_backup", {"name": TEXT}, effects=DESTRUCTIVE, output="gone")
    for allow, shown in ((("delete_backup",), True), (("delete_*",), True), (("send_*",), False)):
        model = ScriptedModel({"*": said("Nothing.")})
        done = await run([airport(), wipe], model, safety=Safety(allow=allow))
        assert (
            any(s.tool == "delete_backup" and "not shown" in s.reason for s in done.skips) != shown
        )


async def test_a_pattern_that_allows_no_tool_is_noted() -> None:
    allowed = Safety(allow=["wpie"])
    done = await Orchestrator([find_capital], model=ScriptedModel(ASKED), safety=allowed).run(
        CAPITAL
    )
    notes = [e.data["text"] for e in done.events if e.kind == "note"]
    assert "warning: allow: 'wpie' names no tool that is here" in notes


def unusable(handle: asyncio.Event) -> str:
    """Takes what JSON has no form for."""
    return ""


async def test_a_function_that_cannot_be_a_tool_is_noted() -> None:
    module = ModuleType("mine")
    module.__dict__.update(TOOLS=[find_capital, unusable])
    done = await Orchestrator([module], model=ScriptedModel(ASKED)).run("The capital of Norway?")
    (note,) = [e.data["text"] for e in done.events if e.kind == "note"]
    assert note.startswith("warning: mine: function 'unusable'")


async def test_of_many_problems_of_tools_the_first_are_noted_and_the_others_counted() -> None:
    module, made = ModuleType("mine"), []
    for number in range(14):
        made.append(FunctionType(unusable.__code__, globals(), f"unusable_{number}"))
        made[-1].__annotations__ = unusable.__annotations__
    module.__dict__.update(TOOLS=[find_capital, *made])
    done = await Orchestrator([module], model=ScriptedModel(ASKED)).run("The capital of Norway?")
    notes = [e.data["text"] for e in done.events if e.kind == "note"]
    assert len(notes) == 11
    assert notes[-1] == "warning: 4 more problems of tools: callwright tools lists them"
