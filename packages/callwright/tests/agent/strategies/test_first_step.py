"""The first question of a layered run over few tools: what is needed, and the first calls."""

from __future__ import annotations

from typing import Any

import pytest

from callwright import Orchestrator, Run
from callwright.agent.options import Safety
from callwright.agent.strategies import Layered
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import READ, WRITE, Effects, JsonObject
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, offered_tools

TEXT = {"type": "string"}
SAID = {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}


def returned(*names: str) -> JsonObject:
    return {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": [*names]}


def tool(name: str, *inputs: str, gives: str = "", effects: Effects = READ) -> FakeTool:
    output: Any = {gives: f"{gives} 7"} if gives else {"sky": "rain"}
    more: Any = {"output_schema": returned(gives)} if gives else {}
    return FakeTool(name, dict.fromkeys(inputs, TEXT), output=output, effects=effects, **more)


def office() -> list[FakeTool]:
    """Six tools of which one serves the request, in three layers."""
    return [
        tool("weather", "city"),
        tool("find_station", "place", gives="station_id"),
        tool("station_report", "station_id"),
        tool("send_mail", "to", effects=WRITE),
        tool("list_rooms", "floor", gives="room_id"),
        tool("book_room", "room_id", effects=WRITE),
    ]


LAYERS = (["weather", "find_station", "list_rooms"], ["station_report", "book_room"], ["send_mail"])


def call(name: str, **arguments: str) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


async def run(
    tools: list[FakeTool],
    binds: list[Any],
    layers: tuple[list[str], ...] = LAYERS,
    query: str = "Is it raining in Oslo?",
    **options: Any,
) -> tuple[Run, ScriptedModel]:
    model = ScriptedModel({"bind": binds, "*": SAID}, capabilities=options.pop("can", None))
    setup = Orchestrator(
        [fake_source(*tools)],
        model=model,
        planner=FixedPlan(*layers),
        safety=Safety(allow=["*"]),
        **options,
    )
    return await setup.run(query), model


def purposes(model: ScriptedModel) -> list[str]:
    return [request.purpose for request in model.requests]


async def test_a_request_that_one_call_serves_takes_two_questions() -> None:
    """With the default strategy: the call with the choice of tools, then the answer."""
    tools = office()
    done, model = await run(tools, [{"calls": [call("weather", city="Oslo")], "later": []}])
    assert purposes(model) == ["bind", "answer"]
    assert (done.cost.steps, done.status) == (2, "answered")
    assert tools[0].calls == [{"city": "Oslo"}]
    left_out = {s.tool for s in done.skips if s.reason == "not chosen for this request"}
    assert left_out == {t.tool.name for t in tools[1:]}
    assert [s.tool for s in done.plan.slots] == ["weather"]


async def test_what_is_needed_later_has_its_turn_in_its_layer() -> None:
    tools = office()
    first = {"calls": [call("find_station", place="Oslo")], "later": ["station_report"]}
    then = {
        "useful": ["station_report"],
        "calls": [call("station_report", station_id="station_id 7")],
    }
    done, model = await run(tools, [first, then])
    assert purposes(model) == ["bind", "bind", "answer"]
    assert offered_tools(model.requests[1]) == ("station_report",)
    assert [r.tool for r in done.results] == ["find_station", "station_report"]


async def test_only_what_waits_for_no_other_tool_may_be_called_first() -> None:
    """What requires an identifier that another tool gives, and that the request does not hold."""
    _, model = await run(office(), [{"later": ["none"], "reason": "-"}, *[{"calls": []}] * 9])
    assert {"weather", "find_station", "list_rooms", "send_mail"} == {
        *offered_tools(model.requests[0])
    }
    known = "Report of station_id ST-4471, please."
    _, model = await run(
        office(), [{"later": ["none"], "reason": "-"}, *[{"calls": []}] * 9], query=known
    )
    assert "station_report" in offered_tools(model.requests[0])


async def test_a_write_that_comes_after_what_was_named_too_is_not_made_first() -> None:
    tools = office()
    early = [call("weather", city="Oslo"), call("send_mail", to="Oslo")]
    done, model = await run(
        tools,
        [{"calls": early, "later": []}, {"calls": [call("send_mail", to="Oslo")]}],
        (["weather"], ["send_mail"]),
    )
    assert purposes(model) == ["bind", "bind", "answer"]
    assert [r.tool for r in done.results] == ["weather", "send_mail"]
    assert tools[3].calls == [{"to": "Oslo"}]


async def test_a_producer_that_nobody_named_is_dropped_where_its_value_was_known() -> None:
    """The plan holds it for the identifier alone, and the call had that."""
    tools = [tool("find_order", "customer", gives="order_id"), tool("order_status", "order_id")]
    made = {"calls": [call("order_status", order_id="4711-A")], "later": []}
    query = "What is the status of order_id 4711-A?"
    done, model = await run(tools, [made], (["find_order"], ["order_status"]), query)
    assert purposes(model) == ["bind", "answer"]
    assert tools[0].calls == []
    assert [r.tool for r in done.results] == ["order_status"]


async def test_where_the_model_names_none_all_are_planned_and_asked_layer_by_layer() -> None:
    none = {"later": ["none"], "reason": "I do not know"}
    made = {"useful": ["weather"], "calls": [call("weather", city="Oslo")]}
    done, model = await run(office(), [none, made, *[{"calls": []}] * 9])
    assert offered_tools(model.requests[1]) == ("weather", "find_station", "list_rooms")
    assert "weather" in [r.tool for r in done.results]


@pytest.mark.parametrize(
    ("count", "can", "strategy", "first"),
    [
        (13, None, "layered", "select"),  # too many to stand in every question
        (6, Capabilities(json_schema=False, native_tools=True), "layered", "select"),
        (6, None, Layered(choose_above=9), "bind"),  # no choice is wanted: the first layer
        (1, None, "layered", "bind"),
    ],
)
async def test_many_tools_or_an_upstream_that_renders_them_are_asked_for_names_first(
    count: int, can: Any, strategy: Any, first: str
) -> None:
    tools = [tool(f"tool_{n}", "x") for n in range(count)]
    model = ScriptedModel({"select": {"needed": ["tool_0"]}, "*": SAID}, capabilities=can)
    setup = Orchestrator(
        [fake_source(*tools)], model=model, planner=FixedPlan(["tool_0"]), strategy=strategy
    )
    await setup.run("Do it.")
    assert model.requests[0].purpose == first
    assert "[Step 1] Make the calls" not in model.requests[0].messages[-1].content


async def test_every_question_of_a_run_begins_alike() -> None:
    """Layers, repair, and the answer: they part where the results end that both know."""
    note = FakeTool(
        "note", {"desk": {"enum": ["north", "south"]}, "sky": TEXT}, output={"ok": 1}, effects=WRITE
    )
    first = {"calls": [call("weather", city="Oslo")], "later": ["note"]}
    then = {"useful": ["note"], "calls": [call("note", desk="roof", sky="rain")]}
    model = ScriptedModel(
        {
            "bind": [first, then],
            "repair": {
                "tool_calls": [{"name": "note", "arguments": {"desk": "north", "sky": "rain"}}]
            },
            "*": SAID,
        }
    )
    tools = [tool("weather", "city"), note]
    setup = Orchestrator(
        [fake_source(*tools)],
        model=model,
        planner=FixedPlan(["weather"], ["note"]),
        safety=Safety(allow=["*"]),
    )
    await setup.run("Note the weather of Oslo at the north desk.")
    assert purposes(model)[:4] == ["bind", "bind", "repair", "answer"]
    systems = {request.messages[0].content for request in model.requests}
    assert len(systems) == 1
    heads = [r.messages[-1].content.partition("Results so far:\n")[0] for r in model.requests]
    assert len({*heads}) == 1, "request and tools"
    second, repair, answer = (
        r.messages[-1].content.partition("Results so far:\n")[2] for r in model.requests[1:4]
    )
    came = second.partition("\n\n")[0]
    assert came.startswith("r1: weather(")
    assert repair.startswith(came)
    assert answer.startswith(came)


async def test_a_write_that_is_only_named_for_later_and_that_nobody_asked_for_is_left_out() -> None:
    """A small model calls the one tool that it is shown next. Where the request cannot be read, it
    is offered.
    """
    note = FakeTool(
        "write_note", {"text": TEXT}, output={"ok": 1}, effects=WRITE, description="Write a note."
    )
    first = {"calls": [call("weather", city="Oslo")], "later": ["write_note"]}
    for query, count in (("What is the weather in Oslo today?", 2), ("今天 Oslo 下雨吗？", 3)):
        tools = [tool("weather", "city"), note]
        binds = [first, {"useful": ["none"], "reason": "-"}]
        _, model = await run(tools, binds, (["weather"], ["write_note"]), query)
        assert len(model.requests) == count
