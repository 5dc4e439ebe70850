"""The whole flow with a scripted model and fake tools: what reaches a tool, what it costs, what the
answer says.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callwright import Limits, Orchestrator
from callwright.agent.options import Persistence, Safety
from callwright.agent.strategies import Given, Layered
from callwright.nouns.errors import CatalogError, ConfigError, Failure, ModelError
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ_LOCAL,
    UNKNOWN,
    WRITE,
    Effects,
    Message,
    Tool,
    ToolOutput,
    to_canonical_json,
)
from callwright.testing import (
    FakeTool,
    FixedPlan,
    ScriptedModel,
    fake_source,
    in_order,
    offered_tools,
)
from callwright.viewer import page
from tests.agent.running.flow import (
    ASKED,
    CAPITAL,
    FIND,
    LAYERS,
    MONEY,
    QUERY,
    TEXT,
    airport,
    call,
    calls,
    converting,
    find_capital,
    order_step,
    run,
    said,
    weather,
)


async def test_layers_run_in_order_and_the_model_sees_only_its_layer() -> None:
    tools = [airport(), weather()]
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("population", iata="OSL"))],
        "answer": [said("7 people live at OSL.", "r2")],
    }
    model = ScriptedModel(script)
    done = await run(tools, model, *LAYERS)
    assert [r.tool for r in done.results] == ["find_airport", "population"]
    _, second, _ = model.requests
    assert offered_tools(second) == ("population",)
    assert '"iata":"OSL"' in second.messages[-1].content
    assert "7" in done.answer.text
    assert done.status == "answered"


async def test_a_tool_out_of_its_layer_never_runs_whatever_the_model_says() -> None:
    tools = [airport(), weather(effects=WRITE)]
    script = {
        "bind": [calls(call("population", iata="OSL"), call("find_airport", city="Oslo")), calls()],
        "answer": [said("The airport is OSL.", "r2")],
    }
    done = await run(tools, script, *LAYERS)
    assert tools[1].calls == []
    assert [s.tool for s in done.skips if "population" in s.tool]


async def test_a_layer_of_irrelevant_tools_ends_in_no_call_at_all() -> None:
    tools = [airport(effects=DESTRUCTIVE), weather()]
    none = {"useful": ["none"], "reason": "not asked for"}
    allowed = Safety(allow=["find_airport"])
    done = await run(tools, {"bind": none}, ["find_airport", "population"], safety=allowed)
    assert tools[0].calls == tools[1].calls == []
    assert ("find_airport", "not asked for") in {(s.tool, s.reason) for s in done.skips}
    assert done.status == "abstained"


async def test_same_layer_calls_run_at_the_same_time() -> None:
    gate = asyncio.Event()
    tool = FakeTool("find_airport", FIND, output={"iata": "OSL"}, effects=READ_LOCAL, hold=gate)

    async def release() -> None:
        await tool.begun(3)
        gate.set()

    script = {
        "bind": calls(*(call("find_airport", city=c) for c in ("Oslo", "people", "airport"))),
        "answer": [said("OSL.", "r1")],
    }
    async with asyncio.TaskGroup() as group:
        group.create_task(release())
        done = await run([tool], script, ["find_airport"])
    assert tool.most_running == 3
    assert [r.arguments["city"] for r in done.results] == ["Oslo", "people", "airport"]


async def test_lossless_edits_are_free_and_listed() -> None:
    tool = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=READ_LOCAL)
    script = {"bind": calls(call("tally", count="5")), "answer": [said("It is 5.", "r1")]}
    model = ScriptedModel(script)
    done = await Orchestrator([fake_source(tool)], model=model).run("Tally 5")
    assert tool.calls == [{"count": 5}]
    assert done.cost.repairs == {"tier1": 1, "tier2": 0, "repeat": 0, "recovery": 0}
    checked = next(e for e in done.events if e.kind == "call.checked")
    assert checked.data["edits"][0]["path"] == "/count"


async def test_a_refused_call_is_repaired_by_one_question_off_the_main_dialogue() -> None:
    tool = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=READ_LOCAL)
    script = {
        "bind": calls(call("tally", count={"no": "number"})),
        "repair": [{"tool_calls": [{"name": "tally", "arguments": {"count": 5}}]}],
        "answer": [said("It is 5.", "r1")],
    }
    model = ScriptedModel(script)
    done = await Orchestrator([fake_source(tool)], model=model).run("Tally 5")
    assert tool.calls == [{"count": 5}]
    assert done.cost.repairs["tier2"] == 1
    assert "no" not in model.requests[-1].messages[-1].content.split("tally")[1][:40]


@pytest.mark.parametrize(
    ("options", "room"),
    [({}, 512), ({"model_profile": "large"}, 2_048), ({"limits": Limits(reply_tokens=900)}, 900)],
)
async def test_a_repair_may_be_as_long_as_the_call_that_it_repairs(
    options: dict[str, Any], room: int
) -> None:
    tool = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=READ_LOCAL)
    script = {
        "bind": calls(call("tally", count={"no": "number"})),
        "repair": [{"tool_calls": [{"name": "tally", "arguments": {"count": 5}}]}],
        "answer": [said("It is 5.", "r1")],
    }
    model = ScriptedModel(script)
    await Orchestrator([fake_source(tool)], model=model, **options).run("Tally 5")
    rooms = {request.purpose: request.max_tokens for request in model.requests}
    assert rooms["repair"] == rooms["bind"] == room


async def test_the_repair_budget_holds_over_the_whole_run() -> None:
    tool = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=READ_LOCAL)
    broken = [call("tally", count={"bad": n}) for n in range(6)]
    script = {"bind": calls(*broken), "repair": {"tool_calls": []}, "*": said("Nothing.")}
    model = ScriptedModel(script)
    done = await Orchestrator([fake_source(tool)], model=model, limits=Limits(repairs=2)).run(
        "Tally 5"
    )
    assert sum(r.purpose == "repair" for r in model.requests) == 2
    assert tool.calls == []
    assert len(done.skips) >= 6


async def test_an_outage_is_waited_out_without_asking_the_model() -> None:
    tool = airport()
    failing = FakeTool(
        "find_airport",
        FIND,
        effects=READ_LOCAL,
        output=in_order(Failure("unavailable", "503", retryable=True), {"iata": "OSL"}),
    )
    script = {
        "bind": calls(call("find_airport", city="Oslo")),
        "answer": [said("It is OSL.", "r1")],
    }
    model = ScriptedModel(script)
    done = await run([failing], model, ["find_airport"])
    assert tool.calls == []
    assert [r.purpose for r in model.requests] == ["bind", "answer"]
    assert done.results[0].ok
    assert done.results[0].attempt == 2
    assert done.cost.repairs["repeat"] == 1


async def test_a_write_whose_outcome_is_unknown_is_not_repeated() -> None:
    lost = Failure("timeout", "no reply", retryable=True, outcome_unknown=True)
    tool = FakeTool("find_airport", FIND, output=lost, effects=DESTRUCTIVE)
    script = {"bind": calls(call("find_airport", city="Oslo")), "*": said("Nothing.")}
    allowed = Safety(allow=["find_airport"])
    done = await run([tool], script, ["find_airport"], query="Find Oslo.", safety=allowed)
    assert len(tool.calls) == 1
    assert done.results[0].failure is not None
    assert done.status == "abstained"


async def test_an_error_inside_a_successful_reply_is_an_error() -> None:
    tool = FakeTool("find_airport", FIND, output={"error": "no such city"}, effects=READ_LOCAL)
    script = {
        "bind": calls(call("find_airport", city="Oslo")),
        "repair": {"tool_calls": []},
        "*": said("Nothing."),
    }
    done = await run([tool], script, ["find_airport"])
    assert done.results[0].failure is not None
    assert done.results[0].failure.kind == "error_payload"


async def test_the_same_call_twice_is_executed_once() -> None:
    tool = airport()
    script = {
        "bind": calls(call("find_airport", city="Oslo"), call("find_airport", city="Oslo")),
        "answer": [said("OSL.", "r1")],
    }
    done = await run([tool], script, ["find_airport"])
    assert len(tool.calls) == 1
    assert any("already made" in s.reason for s in done.skips)


async def test_a_false_number_in_the_answer_does_not_survive() -> None:
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("population", iata="OSL"))],
        "*": said("9000 people live at OSL.", "r2"),
    }
    done = await run([airport(), weather()], script, *LAYERS)
    assert "9000 people live at OSL." not in done.answer.text
    assert done.answer.statements[0].support in ("mended", "unsupported")


async def test_a_call_with_a_number_from_nowhere_waits_for_later_results() -> None:
    """The order was wrong: the converter came first. It is offered again once the number is
    known.
    """
    convert = FakeTool(
        "convert", {"value": {"type": "number"}}, output={"feet": 22.97}, effects=READ_LOCAL
    )
    script = {
        "bind": [
            calls(call("convert", value=4711)),
            calls(call("population", iata="Oslo")),
            calls(call("convert", value=7)),
        ],
        "answer": [said("It makes 22.97 feet.", "r3")],
    }
    model = ScriptedModel(script)
    done = await run([convert, weather()], model, ["convert"], ["population"])
    assert convert.calls == [{"value": 7}]
    assert [r.tool for r in done.results] == ["population", "convert"]


@pytest.mark.parametrize(("effects", "made"), [(READ_LOCAL, True), (UNKNOWN, True), (WRITE, False)])
async def test_a_number_that_nothing_ever_says_is_looked_up_with_and_never_written(
    effects: Effects, made: bool
) -> None:
    """In the end the call goes as the model wrote it, and so it would after another question; where
    it writes the user is asked.
    """
    bill = FakeTool("bill", {"amount": {"type": "number"}}, output={"total": 4711}, effects=effects)
    invented = calls(call("bill", amount=4711))
    script = {
        "bind": [invented, calls(call("population", iata="Oslo")), invented, invented],
        "answer": [said("7 people live there.", "r2")],
        "question": {"question": "Which amount?"},
    }
    done = await run(
        [bill, weather()], script, ["bill"], ["population"], safety=Safety(allow=["bill"])
    )
    assert bill.calls == [{"amount": 4711}] * made
    assert ("Which amount?" in done.answer.text) is not made
    assert any(s.tool == "bill" and "4711" in s.reason for s in done.skips)


async def test_a_value_that_the_error_offers_itself_is_taken_from_there() -> None:
    """Elsewhere an unknown value is looked up with another tool; here the repair can only choose
    what was offered.
    """

    def people(iata: str) -> Any:
        said = f"there is no airport '{iata}'. Did you mean 'OSL'?"
        return {"people": 7} if iata == "OSL" else ToolOutput(failure=Failure("tool_error", said))

    script = {
        "bind": [calls(call("population", iata="Oslo"))],
        "repair": [{"tool_calls": [{"name": "population", "arguments": {"iata": "OSL"}}]}],
        "answer": [said("7 people live there.", "r1")],
    }
    model = ScriptedModel(script)
    done = await run([weather(output=people)], model, ["population"])
    assert [(r.arguments["iata"], r.ok) for r in done.results] == [("OSL", True)]
    asked = next(r for r in model.requests if r.purpose == "repair")
    assert '"enum":["OSL"]' in to_canonical_json(asked.schema)


async def test_a_tool_that_the_model_wants_and_cannot_call_yet_is_carried_into_the_next_layer() -> (
    None
):
    script = {
        "bind": [
            {
                "useful": ["population", "find_airport"],
                "calls": [call("find_airport", city="Oslo")],
            },
            {"useful": ["population"], "calls": [call("population", iata="OSL")]},
        ],
        "answer": [said("7 people live at OSL.", "r2")],
    }
    done = await run([airport(), weather()], script, ["find_airport", "population"])
    assert [r.tool for r in done.results] == ["find_airport", "population"]


async def test_a_refusal_that_the_model_could_not_repair_is_not_put_to_it_twice() -> None:
    script = {
        "bind": [
            calls(call("population", iata="your_iata_code")),
            calls(call("find_airport", city="Oslo"), call("population", iata="your_iata_code")),
            {"useful": ["none"], "reason": "enough"},
        ],
        "repair": [
            {"tool_calls": [{"name": "population", "arguments": {"iata": "your_iata_code"}}]}
        ],
        "answer": [said("The airport is OSL.", "r2")],
    }
    done = await run([airport(), weather()], script, ["population"], ["find_airport"])
    assert done.cost.repairs["tier2"] == 1


async def test_a_value_that_the_next_tool_does_not_know_is_looked_up_once_its_error_has_said_where() -> (
    None
):
    """The model gave a name where a code belongs; the error says which tool knows it. No repair
    question is spent.
    """

    def people(iata: str) -> Any:
        return (
            {"people": 7}
            if iata == "OSL"
            else ToolOutput(failure=Failure("tool_error", f"no airport {iata!r}: ask find_airport"))
        )

    script = {
        "bind": [
            {"needed": ["none"], "reason": "the request names the airport"},
            {"useful": ["none"], "reason": "the request names the airport"},
            calls(call("population", iata="Oslo")),
            calls(call("find_airport", city="Oslo")),
            calls(call("population", iata="OSL")),
        ],
        "answer": [said("7 people live there.", "r3")],
    }
    model = ScriptedModel(script)
    done = await run([airport(), weather(output=people)], model, *LAYERS)
    assert [(r.tool, r.ok) for r in done.results] == [
        ("population", False),
        ("find_airport", True),
        ("population", True),
    ]
    assert done.cost.repairs["tier2"] == 0
    assert "Still open" in model.requests[3].messages[-1].content
    assert done.answer.missing == ()


MENTIONED = {
    "en": "What is the weather in Bergen? Not in Oslo, I know that already.",
    "de": "Wie ist das Wetter in Bergen? Nicht in Oslo, das weiß ich schon.",
    "es": "¿Qué tiempo hace en Bergen? No en Oslo, eso ya lo sé.",
    "zh": "卑尔根 Bergen 的天气怎么样？不要 Oslo 的。",
    "ar": "ما الطقس في Bergen؟ ليس في Oslo.",
}


@pytest.mark.parametrize("language", MENTIONED)
@pytest.mark.parametrize(
    "strategy",
    [
        "layered",
        "layered-no-sketch",
        "layered-no-repair",
        "layered-no-recovery",
        "layered-second-pass",
    ],
)
async def test_a_name_that_the_request_only_mentions_is_looked_up_by_nobody(
    strategy: str, language: str
) -> None:
    """A name is not a wish: only the model's own calls are made."""
    tool = FakeTool("weather", FIND, output={"sky": "clear"}, effects=READ_LOCAL)
    script = {
        "bind": [calls(call("weather", city="Bergen")), {"useful": ["none"], "reason": "done"}],
        "answer": [said("The sky is clear.", "r1")],
    }
    model = ScriptedModel(script)
    setup = Orchestrator(
        [fake_source(tool)], model=model, planner=FixedPlan(["weather"]), strategy=strategy
    )
    done = await setup.run(MENTIONED[language])
    assert done.strategy == (strategy if strategy != "layered-second-pass" else "layered")
    assert [c["city"] for c in tool.calls] == ["Bergen"]
    asked = 2 if strategy == "layered-no-sketch" else 1
    assert [r.purpose for r in model.requests] == ["bind"] * asked + ["answer"]


CODES = {"Oslo": "OSL1", "Lisbon": "LIS1", "Nairobi": "NBO1"}


THREE = "How many people live at the airports of Oslo, Lisbon and Nairobi?"


def three_cities(*later: Any, **options: Any) -> tuple[Orchestrator, ScriptedModel, list[FakeTool]]:
    """A model that looks up three airports and forgets two of them in the next layer."""
    first = [call("find_airport", city=city) for city in CODES]
    model = ScriptedModel(
        {
            "bind": [calls(*first), calls(call("population", iata="OSL1")), *later],
            "answer": [said("7 people live there.", "r4")],
        }
    )
    people, find = weather(), airport(output=lambda city: {"iata": CODES[city]})
    planner = FixedPlan(*LAYERS)
    setup = Orchestrator([fake_source(find, people)], model=model, planner=planner, **options)
    return setup, model, [find, people]


async def test_what_no_call_took_up_is_told_to_the_model_in_one_question_and_the_model_decides() -> (
    None
):
    more = calls(call("population", iata="LIS1"), call("population", iata="NBO1"))
    setup, model, (find, people) = three_cities(more)
    done = await setup.run(THREE)
    assert [r.purpose for r in model.requests] == ["bind", "bind", "bind", "answer"]
    told = model.requests[2].messages[-1].content
    assert "Still open:\n- population was not called for Lisbon, Nairobi yet" in told
    assert offered_tools(model.requests[2]) == ("population",), "only what can close it is offered"
    assert [c["iata"] for c in people.calls] == ["OSL1", "LIS1", "NBO1"]
    assert len(find.calls) == 3
    assert done.cost.steps == 4, "it is counted"
    shown = page(done.events)
    assert (shown.count("The model wrote"), shown.count("By analogy")) == (6, 0)


async def test_the_model_may_say_that_nothing_is_open() -> None:
    setup, model, (_, people) = three_cities({"useful": ["none"], "reason": "one is enough"})
    done = await setup.run(THREE)
    assert [c["iata"] for c in people.calls] == ["OSL1"]
    assert [r.purpose for r in model.requests] == ["bind", "bind", "bind", "answer"], "asked once"
    assert done.status == "answered"


async def test_where_it_is_not_wanted_or_nothing_is_open_nothing_is_asked() -> None:
    setup, model, _ = three_cities(strategy=Layered(ask_what_is_open=False))
    await setup.run(THREE)
    assert [r.purpose for r in model.requests] == ["bind", "bind", "answer"]


async def test_a_frozen_plan_is_asked_of_again_but_no_tool_beyond_it() -> None:
    more = calls(call("population", iata="LIS1"), call("population", iata="NBO1"))
    setup, model, (_, people) = three_cities(more, safety=Safety(freeze="plan"))
    await setup.run(THREE)
    assert [c["iata"] for c in people.calls] == ["OSL1", "LIS1", "NBO1"]
    count = FakeTool("count_days", {"start": TEXT}, output={"days": 14}, effects=READ_LOCAL)
    today = FakeTool("desk_date", {}, output={"date": "2025-06-20"}, effects=READ_LOCAL)
    model = ScriptedModel(
        {
            "bind": [calls(call("count_days", start="2025-07-01"))],
            "answer": [said("14 days.", "r1")],
        }
    )
    frozen = Orchestrator(
        [fake_source(count, today)],
        model=model,
        planner=FixedPlan(["count_days"]),
        safety=Safety(freeze="plan"),
    )
    await frozen.run("How many days are left until 4 July 2025?")
    assert today.calls == []
    assert [r.purpose for r in model.requests] == ["bind", "answer"]


async def test_a_call_with_a_day_from_nowhere_waits_until_a_tool_has_told_the_day() -> None:
    count = FakeTool(
        "count_days", {"start": TEXT, "end": TEXT}, output={"days": 14}, effects=READ_LOCAL
    )
    today = FakeTool(
        "desk_date",
        {},
        output={"date": "2025-06-20"},
        effects=READ_LOCAL,
        description="Today's date.",
    )
    script = {
        "bind": [
            calls(call("count_days", start="2025-07-01", end="2025-07-04")),
            {"useful": ["none"], "reason": "not needed"},
            calls(call("desk_date")),
            calls(call("count_days", start="2025-06-20", end="2025-07-04")),
        ],
        "answer": [said("14 days are left.", "r3")],
    }
    model = ScriptedModel(script)
    setup = Orchestrator(
        [fake_source(count, today)],
        model=model,
        planner=FixedPlan(["count_days"], ["desk_date"]),
    )
    done = await setup.run("How many days are left from today to 4 July 2025?")
    assert "Still open:\n- count_days waits" in model.requests[2].messages[-1].content
    assert "2025-06-20" in str(model.requests[3].schema), "only a day that was seen can be given"
    assert "2025-07-01" not in str(model.requests[3].schema)
    assert count.calls == [{"start": "2025-06-20", "end": "2025-07-04"}]
    assert [r.tool for r in done.results] == ["desk_date", "count_days"]


async def test_what_was_written_is_not_offered_again_for_what_is_open() -> None:
    book = FakeTool("book", {"airport": TEXT}, output={"booked": "B1"}, effects=WRITE)
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("book", airport="OSL"))],
        "answer": [said("B1 is booked.", "r2")],
    }
    done = await Orchestrator(
        [fake_source(airport(), book)],
        model=ScriptedModel(script),
        planner=FixedPlan(["find_airport"], ["book"]),
    ).run("Book Oslo, then Bergen, please.")
    assert len(book.calls) == 1
    assert [r.tool for r in done.results] == ["find_airport", "book"]


async def test_a_held_call_is_made_after_all_when_nothing_gives_its_number() -> None:
    convert = FakeTool(
        "convert", {"value": {"type": "number"}}, output={"feet": 3.28}, effects=READ_LOCAL
    )
    script = {
        "bind": calls(call("convert", value=4711)),
        "answer": [said("It makes 3.28 feet.", "r1")],
    }
    done = await run([convert], script, ["convert"])
    assert convert.calls == [{"value": 4711}]
    assert done.results[0].ok


async def test_the_values_of_a_plan_that_somebody_wrote_are_theirs() -> None:
    money, model = converting()
    plan = '[{"tool": "convert", "arguments": {"amount": 250, "date": "2024-01-01"}}]'
    done = await Orchestrator([fake_source(money)], model=model, strategy=Given(plan)).run(MONEY)
    assert [r.ok for r in done.results] == [True]
    assert done.assumed == ()


async def test_react_sees_all_tools_and_ends_when_the_model_says_so() -> None:
    script = {
        "bind": [
            {"thought": "code", "action": call("find_airport", city="Oslo")},
            {"thought": "count", "action": call("population", iata="OSL")},
            {"thought": "done", "action": {"tool": "finish", "reason": "done"}},
        ],
        "answer": [said("7 people live at OSL.", "r2")],
    }
    model = ScriptedModel(script)
    done = await run([airport(), weather()], model, strategy="react")
    assert [r.tool for r in done.results] == ["find_airport", "population"]
    assert all("population(" in r.messages[-1].content for r in model.requests[:3])
    assert done.plan.edges == (("find_airport@1", "population@2"),)
    assert done.cost.steps == 4
    last = model.requests[2].messages[-1].content
    assert "thought: code\nr1: find_airport(" in last
    assert "thought: count\nr2: population(" in last


async def test_react_that_goes_round_in_circles_is_stopped() -> None:
    script = {
        "bind": {"thought": "", "action": call("find_airport", city="Oslo")},
        "*": said("OSL.", "r1"),
    }
    model = ScriptedModel(script)
    await run([airport()], model, strategy="react")
    assert sum(r.purpose == "bind" for r in model.requests) == 4


@pytest.mark.parametrize("strategy", ["layered", "react"])
async def test_turns_that_the_model_plays_itself_are_cut_off_in_every_strategy(
    strategy: str,
) -> None:
    """RETO A.11.1: the reply goes on with invented turns; nothing of them may be executed or
    believed.
    """
    action = 'Action: find_airport\nAction Input: {"city": "Oslo"}'
    invented = (
        'Observation: {"iata": "XXX"}\nHuman: and the next?\nAction: population\nAction Input:'
        ' {"iata": "XXX"}'
    )
    played = f"{action}\n{invented}"
    plain = Capabilities(json_schema=False, native_tools=False)
    finish = (
        'Action: Finish\nAction Input: {"return_type": "give_answer", "final_answer": "The airport'
        ' is OSL."}'
    )
    stop = 'Action: Finish\nAction Input: {"reason": "done"}'
    binds = [played, stop if strategy == "react" else "Useful: none\nNobody asked."]
    model = ScriptedModel({"bind": binds, "answer": [finish]}, capabilities=plain)
    tools = [airport(), weather()]
    done = await run(tools, model, ["find_airport", "population"], strategy=strategy)
    assert tools[0].calls == [{"city": "Oslo"}]
    assert tools[1].calls == []
    event = next(e for e in done.events if e.kind == "model")
    assert "Human" in event.data["discarded"] or event.data["finish_reason"] == "cut"
    assert "OSL" in done.answer.text


async def test_native_tool_calls_are_used_where_the_endpoint_gives_them() -> None:
    from callwright.nouns.types import ToolCall

    native = Capabilities(native_tools=True)
    model = ScriptedModel(
        {"bind": [ToolCall("x", "find_airport", {"city": "Oslo"})], "answer": "It is OSL."},
        capabilities=native,
    )
    done = await run([airport()], model, ["find_airport"])
    assert model.requests[0].tools[0].name == "find_airport"
    assert done.results[0].arguments == {"city": "Oslo"}


async def test_a_reply_cut_off_in_the_middle_loses_only_its_last_call() -> None:
    whole = '{"tool": "find_airport", "arguments": {"city": "Oslo"}}'
    text = f'{{"calls": [{whole}, {{"tool": "find_airport", "arguments": {{"city": "peo'
    tool = airport()
    done = await run([tool], {"bind": [text], "answer": [said("OSL.", "r1")]}, ["find_airport"])
    assert tool.calls == [{"city": "Oslo"}]
    assert done.results[0].ok


async def test_a_dead_model_is_one_clear_error_even_from_parallel_repairs() -> None:
    tool = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=READ_LOCAL)
    script = {
        "bind": calls(*(call("tally", count={"bad": n}) for n in range(3))),
        "repair": ModelError("gone"),
    }
    with pytest.raises(ModelError, match="gone"):
        await Orchestrator([fake_source(tool)], model=ScriptedModel(script)).run("Tally 5")


async def test_an_error_of_another_kind_inside_a_call_is_raised_as_itself() -> None:
    tool = FakeTool("tally", {"count": {"type": "integer"}}, output=5, effects=READ_LOCAL)
    script = {
        "bind": calls(*(call("tally", count={"bad": n}) for n in range(3))),
        "repair": ZeroDivisionError("a bug of this model"),
    }
    with pytest.raises(ZeroDivisionError, match="a bug"):
        await Orchestrator([fake_source(tool)], model=ScriptedModel(script)).run("Tally 5")


async def test_an_open_orchestrator_keeps_its_tools_and_model_between_runs() -> None:
    source = fake_source(airport())
    model = ScriptedModel(
        {"bind": calls(call("find_airport", city="Oslo")), "answer": said("OSL.", "r1")}
    )
    async with Orchestrator([source], model=model, planner=FixedPlan(["find_airport"])) as opened:
        first, second = await opened.run(QUERY), await opened.run(QUERY)
    assert first.results[0].content == second.results[0].content
    assert not model.closed, "a model that was given is not ours to close"


async def test_run_sync_inside_a_loop_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="await"):
        Orchestrator([fake_source(airport())], model=ScriptedModel([])).run_sync("x")


async def test_invoke_takes_nothing_but_a_checked_call() -> None:
    from callwright.agent.execution.invoke import invoke

    async def caller(name: str, arguments: dict[str, Any]) -> ToolOutput:
        raise AssertionError("an unchecked call reached a tool")

    unchecked: Any = Tool("find_airport")
    with pytest.raises(TypeError, match="CheckedCall"):
        await invoke(unchecked, caller, timeout=1, max_bytes=10)


async def test_a_write_that_cancels_itself_is_in_doubt() -> None:
    """A task of the tool that was cancelled raises this in the tool. The call had vanished from the
    run: no result, nothing missing, nothing in doubt.
    """

    async def cancels(city: str) -> None:
        raise asyncio.CancelledError

    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": said("Done.", "r1")}
    done = await run([airport(output=cancels, effects=WRITE)], script, ["find_airport"])
    (result,) = done.results
    assert result.failure is not None
    assert result.failure.kind == "crashed"
    assert done.in_doubt == ("r1",)
    assert "find_airport" in done.answer.missing[0]


async def test_half_a_character_in_a_call_does_not_end_the_run(tmp_path: Path) -> None:
    """JSON of a model may escape one half of a character; UTF-8 has no bytes for it."""
    tool = airport(effects=WRITE)
    script = {
        "bind": r'{"calls": [{"tool": "find_airport", "arguments": {"city": "Oslo \ud83d"}}]}',
        "answer": said("OSL is the airport.", "r1"),
    }
    kept = Persistence(journal=tmp_path)
    done = await run([tool], script, ["find_airport"], persistence=kept)
    assert tool.calls == [{"city": "Oslo \ud83d"}]
    assert done.status == "answered"
    setup = Orchestrator([fake_source(tool)], model=ScriptedModel({}), persistence=kept)
    assert (await setup.resume(done.id, changed=True)).answer == done.answer


async def test_tools_are_added_between_runs_and_not_during_one() -> None:
    hold = asyncio.Event()
    first, second = airport(hold=hold), weather()
    bound = calls(call("population", iata="OSL"))
    model = ScriptedModel(
        {
            "bind": [calls(call("find_airport", city="Oslo")), bound, bound],
            "answer": [said("It is OSL.", "r1"), said("7 people live at OSL.", "r1")],
        }
    )
    orchestrator = Orchestrator([fake_source(first)], model=model)
    async with orchestrator, asyncio.TaskGroup() as group:
        running = group.create_task(orchestrator.run("Which airport has Oslo?"))
        await first.begun()
        with pytest.raises(ConfigError, match="while a run is under way"):
            orchestrator.add_tools(fake_source(second))
        hold.set()
        await running
        orchestrator.add_tools(fake_source(second))
        done = await orchestrator.run("How many people live at OSL?")
    assert [result.tool for result in done.results] == ["population"]


async def test_tools_that_are_added_before_the_first_run_are_there_in_it() -> None:
    script = {"bind": calls(call("population", iata="OSL")), "answer": said("7 people.", "r1")}
    orchestrator = Orchestrator([fake_source(airport())], model=ScriptedModel(script))
    orchestrator.add_tools(fake_source(weather()))
    assert [r.tool for r in (await orchestrator.run("Who lives at OSL?")).results] == ["population"]


@pytest.mark.parametrize("tools", [find_capital, [find_capital], (f for f in [find_capital])])
async def test_tools_may_be_one_source_or_several(tools: Any) -> None:
    orchestrator = Orchestrator(tools, model=ScriptedModel(ASKED))
    done = await orchestrator.run(CAPITAL)
    assert done.results[0].content == "Oslo"


async def test_a_file_may_be_the_one_source_and_its_absence_is_named_by_its_name() -> None:
    with pytest.raises(CatalogError, match=r"there is no 'my_tools\.py'"):
        await Orchestrator("my_tools.py", model=ScriptedModel(ASKED)).run(QUERY)


async def test_what_is_no_model_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="is not a model"):
        await Orchestrator([find_capital], model=object()).run(QUERY)  # type: ignore[arg-type]


@pytest.mark.parametrize(("effects", "why"), [(WRITE, False), (UNKNOWN, True)])
async def test_an_equal_call_that_is_not_made_again_says_why(effects: Effects, why: bool) -> None:
    tool = airport(effects=effects)
    again = calls(call("find_airport", city="Oslo"))
    script = {"bind": [again, again], "*": said("It is OSL.", "r1")}
    options: dict[str, Any] = {"strategy": "layered-no-sketch", "safety": Safety(allow=["*"])}
    done = await run([tool], script, query="Find Oslo.", **options)
    assert len(tool.calls) == 1
    [skip] = [skip for skip in done.skips if "already made" in skip.reason]
    assert skip.reason.startswith("the same call was already made as r1")
    assert ("its effects are not declared" in skip.reason) is why


@pytest.mark.parametrize("strategy", ["react", "layered"])
@pytest.mark.parametrize(
    ("query", "before", "made"),
    [
        ("Which reminders are there?", (), False),
        ("¿Qué recordatorios hay?", (), False),
        ("Clear all reminders that are there.", (), True),
        ("Which ones are there?", (Message("assistant", "Shall I delete one?"),), True),
    ],
)
async def test_a_question_alone_has_nothing_written_for_it(
    strategy: str, query: str, before: tuple[Message, ...], made: bool
) -> None:
    read = FakeTool("list_reminders", {}, output=[{"reminder_id": "R-1"}], effects=READ_LOCAL)
    delete = FakeTool("delete_reminder", {"reminder_id": TEXT}, output={}, effects=WRITE)
    left = [[call("list_reminders")], [call("delete_reminder", reminder_id="R-1")]]

    def reply(request: ChatRequest) -> Any:
        if request.purpose == "bind":
            return order_step(strategy, left.pop(0) if left else [])
        return said("It is R-1.", "r1")

    setup = Orchestrator(
        [fake_source(read, delete)],
        model=ScriptedModel(reply),
        strategy=strategy,
        planner=FixedPlan(["list_reminders"], ["delete_reminder"]),
        safety=Safety(allow=["*"]),
    )
    done = await setup.run(query, before)
    assert delete.calls == [{"reminder_id": "R-1"}] * made
    assert ("only asks to be told something" in done.answer.text) is not made
