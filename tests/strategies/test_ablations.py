"""The layered strategy with one thing taken away: what is then shown, mended and repeated."""

from __future__ import annotations

from typing import Any

import pytest

from callwright import Limits, Orchestrator, Run
from callwright.errors import Failure
from callwright.plan import Plan
from callwright.protocols import Capabilities
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order
from callwright.types import READ_LOCAL

TEXT = {"type": "string"}
QUERY = "How many people live at the airport of Oslo?"
SAID = {"statements": [{"text": "It is done.", "results": []}], "missing": []}
NONE = {"useful": ["none"], "reason": "nothing is missing"}


class Layers:
    """A planner with one answer."""

    name = "fixed"

    def plan(self, query: str, tools: Any) -> Plan:
        return Plan.from_layers([["find_airport"], ["population"]])


def airport(**more: Any) -> FakeTool:
    return FakeTool("find_airport", {"city": TEXT}, **{"output": {"iata": "OSL"}, "effects": READ_LOCAL, **more})


def population(**more: Any) -> FakeTool:
    return FakeTool("population", {"iata": TEXT}, **{"output": {"people": 7}, "effects": READ_LOCAL, **more})


def calls(*entries: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [{"tool": name, "arguments": arguments} for name, arguments in entries]}


async def run(strategy: str, script: Any, *tools: FakeTool, **options: Any) -> Run:
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    setup = Orchestrator([fake_source(*tools)], model=model, planner=Layers(), strategy=strategy, **options)
    return await setup.run(QUERY)


FIND = ("find_airport", {"city": "Oslo"})
COUNT = ("population", {"iata": "OSL"})


async def test_without_sketch_every_tool_is_in_view_at_every_step_and_results_lead_on() -> None:
    model = ScriptedModel({"bind": [calls(FIND), calls(COUNT), NONE], "*": SAID})
    others = [FakeTool(f"other_{i}", {"x": TEXT}, effects=READ_LOCAL) for i in range(4)]
    done = await run("layered-no-sketch", model, airport(), population(), *others)
    assert [r.tool for r in done.results] == ["find_airport", "population"]
    assert {r.purpose for r in model.requests} <= {"bind", "answer"}, "nothing is chosen first"
    steps = [r.messages[-1].content for r in model.requests if r.purpose == "bind"]
    assert all(f"- {name}(" in step for step in steps[:3] for name in ("find_airport", "population", "other_3"))
    assert '"iata":"OSL"' in steps[1]
    assert len(done.plan.layers) == 1


async def test_without_sketch_it_is_asked_again_only_while_results_come_and_five_times_at_most() -> None:
    idle = ScriptedModel({"bind": [NONE], "*": SAID})
    await run("layered-no-sketch", idle, airport(), population())
    assert [r.purpose for r in idle.requests] == ["bind"], "no result, no second step, nothing to answer from"

    cities = [
        calls(("find_airport", {"city": word})) for word in ("Oslo", "people", "airport", "many", "live", "the")
    ]
    busy = ScriptedModel({"bind": cities, "*": SAID})
    tool = airport(output=in_order(*({"iata": f"A{i}"} for i in range(9))))
    await run("layered-no-sketch", busy, tool, limits=Limits(repairs=0))
    assert len(tool.calls) == 5


@pytest.mark.parametrize(
    "arguments",
    [{"city": "Oslo", "limit": "3"}, {"City": "Oslo", "limit": 3}, '{"city": "Oslo", "limit": 3,}', {"limit": 3}],
)
async def test_without_repair_what_the_schema_refuses_is_left_out(arguments: Any) -> None:
    def tool() -> FakeTool:
        return airport(
            input_schema={
                "type": "object",
                "properties": {"city": TEXT, "limit": {"type": "integer"}},
                "required": ["city"],
                "additionalProperties": False,
            }
        )

    def script() -> dict[str, Any]:
        return {"bind": calls(("find_airport", arguments)), "repair": {"city": "Oslo"}, "*": SAID}

    query_says = {"limits": Limits()}
    whole, part = tool(), tool()
    await run("layered", script(), whole, population(), **query_says)
    model = ScriptedModel(script())
    done = await run("layered-no-repair", model, part, population(), **query_says)
    assert whole.calls, "with repair it is called"
    assert part.calls == []
    assert "repair" not in {r.purpose for r in model.requests}
    assert done.cost.repairs == {"tier1": 0, "tier2": 0, "repeat": 0, "recovery": 0}
    assert "find_airport" in {s.tool for s in done.skips if s.refused}


async def test_without_repair_a_right_call_goes_as_it_is_and_unknown_keys_are_dropped() -> None:
    tool = airport()
    await run("layered-no-repair", {"bind": [calls(FIND), NONE], "*": SAID}, tool, population())
    odd = airport()
    extra = ("find_airport", {"city": "Oslo", "mood": "good"})
    await run("layered-no-repair", {"bind": [calls(extra), NONE], "*": SAID}, odd, population())
    assert tool.calls == odd.calls == [{"city": "Oslo"}]


async def test_without_repair_an_optional_value_that_says_nothing_stays_as_the_model_wrote_it() -> None:
    def tool() -> FakeTool:
        properties = {"city": TEXT, "colour": TEXT}
        return airport(input_schema={"type": "object", "properties": properties, "required": ["city"]})

    call = calls(("find_airport", {"city": "Oslo", "colour": "N/A"}))
    whole, part = tool(), tool()
    await run("layered", {"bind": [call, NONE], "*": SAID}, whole, population())
    await run("layered-no-repair", {"bind": [call, NONE], "*": SAID}, part, population())
    assert whole.calls == [{"city": "Oslo"}]
    assert part.calls == [{"city": "Oslo", "colour": "N/A"}]


@pytest.mark.parametrize(
    "failure",
    [
        Failure("unavailable", "503: try again", retryable=True),
        Failure("tool_error", "Invalid value for 'city': 'Oslo' is unknown"),
    ],
)
async def test_without_repair_what_failed_has_failed(failure: Failure) -> None:
    tool = airport(output=in_order(failure, {"iata": "OSL"}))
    model = ScriptedModel({"bind": [calls(FIND), NONE, NONE], "*": SAID})
    done = await run("layered-no-repair", model, tool, population())
    assert len(tool.calls) == 1
    assert not done.results[0].ok
    assert "repair" not in {r.purpose for r in model.requests}


@pytest.mark.parametrize("strategy", ["layered-no-sketch", "layered-no-repair", "layered-no-recovery"])
async def test_ablations_run_with_plain_text_too(strategy: str) -> None:
    lines = [
        'Action: find_airport\nAction Input: {"city": "Oslo"}',
        'Action: population\nAction Input: {"iata": "OSL"}',
        "No call: all is there",
    ]
    model = ScriptedModel({"bind": lines, "*": "7 people live there."}, capabilities=Capabilities(json_schema=True))
    done = await run(strategy, model, airport(), population(), mode="text")
    assert [r.tool for r in done.results] == ["find_airport", "population"]
    assert all(r.schema is None for r in model.requests)
