"""The whole flow with a scripted model and fake tools: what reaches a tool, what it costs, what the
answer says.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from aiohttp import web

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.store import list_journals, read_journal
from callwright.agent.options import Interaction, Persistence, Safety
from callwright.agent.safety.consent import Proposal
from callwright.agent.strategies import Given, Layered
from callwright.models import OpenAIModel
from callwright.nouns.errors import CatalogError, ConfigError, Failure, ModelError
from callwright.nouns.model_profile import find_profile
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.trace import Event, JsonlSink, MemorySink, collect_blobs
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
from callwright.tools.openapi.source import OpenAPISource
from callwright.viewer import page
from tests.served_models import LLAMA, OLLAMA, VLLM, Pages, serving

TEXT = {"type": "string"}
FIND = {"city": TEXT}
QUERY = "How many people live at the airport of Oslo?"


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def calls(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"calls": list(entries)}


def said(text: str, *results: str) -> dict[str, Any]:
    return {"statements": [{"text": text, "results": list(results)}], "missing": []}


def airport(**more: Any) -> FakeTool:
    given = {"output": {"iata": "OSL"}, "effects": READ_LOCAL, **more}
    return FakeTool("find_airport", FIND, **given)


def weather(**more: Any) -> FakeTool:
    given = {"output": {"people": 7}, "effects": READ_LOCAL, **more}
    return FakeTool("population", {"iata": TEXT}, **given)


async def run(
    tools: list[FakeTool], script: Any, *layers: list[str], query: str = QUERY, **options: Any
) -> Run:
    planner = FixedPlan(*layers) if layers else None
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    return await Orchestrator([fake_source(*tools)], model=model, planner=planner, **options).run(
        query
    )


LAYERS = (["find_airport"], ["population"])


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


@pytest.mark.parametrize("mode", ["text", "schema"])
async def test_what_is_streamed_to_the_caller_is_the_checked_answer_and_nothing_else(
    mode: Any,
) -> None:
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("population", iata="OSL"))],
        "answer": [said("8 people live at OSL.", "r2"), said("8 people live at OSL.", "r2")],
    }
    told: list[str] = []
    written: list[str] = []
    tools = [airport(), weather()]
    done = await run(
        tools,
        script,
        *LAYERS,
        interaction=Interaction(mode=mode, on_text=told.append, on_reply=written.append),
    )
    assert "".join(told) == done.answer.text
    assert "7 people" in done.answer.text, "the model said 8"
    assert "find_airport" in "".join(written)


@pytest.mark.parametrize("broken", ["on_text", "on_reply"])
async def test_a_callback_that_raises_loses_no_run(
    broken: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []

    def fail(piece: str) -> None:
        told.append(piece)
        raise OSError("the terminal is gone")

    tool = airport(effects=WRITE)
    script = {
        "bind": calls(call("find_airport", city="Oslo")),
        "answer": [said("The airport is OSL.", "r1")],
    }
    done = await run(
        [tool],
        script,
        ["find_airport"],
        interaction=Interaction(**{broken: fail}),
        persistence=Persistence(journal=tmp_path),
    )
    assert (len(tool.calls), len(told)) == (1, 1)
    assert done.status == "answered"
    assert done.events[-1].kind == "run.end"
    assert f"{broken} gets no more text of this run: OSError('the terminal is gone')" in caplog.text


async def test_a_death_while_the_answer_is_shown_leaves_a_run_that_has_ended(
    tmp_path: Path,
) -> None:
    class Killed(BaseException):
        pass

    def die(_: str) -> None:
        raise Killed

    tool = airport(effects=WRITE)
    script = {
        "bind": calls(call("find_airport", city="Oslo")),
        "answer": [said("The airport is OSL.", "r1")],
    }
    kept = Persistence(journal=tmp_path)
    setup = partial(Orchestrator, [fake_source(tool)], planner=FixedPlan(["find_airport"]))
    begun = setup(
        model=ScriptedModel(script), persistence=kept, interaction=Interaction(on_text=die)
    )
    with pytest.raises(Killed):
        await begun.run(QUERY)
    (journal,) = list_journals(tmp_path)
    done = await setup(model=ScriptedModel([]), persistence=kept).resume(journal)
    assert (done.answer.text, len(tool.calls)) == ("The airport is OSL.", 1)


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


DAY: dict[str, Any] = {"type": "string", "format": "date"}


def converting(
    date: str = "2024-01-01", day: Any = DAY, strategy: str = ""
) -> tuple[FakeTool, ScriptedModel]:
    taken = {"amount": {"type": "number"}, "date": day}
    money = FakeTool("convert", taken, output={"nok": 2523.45}, effects=READ_LOCAL)
    made = call("convert", amount=250, date=date)
    turns = [
        {"thought": "convert", "action": made},
        {"thought": "done", "action": {"tool": "finish", "reason": "-"}},
    ]
    script = {
        "bind": turns if strategy == "react" else calls(made),
        "answer": [said("It makes 2,523.45 NOK.", "r1")],
    }
    return money, ScriptedModel(script)


MONEY = "What is 250 USD in Norwegian kroner?"


@pytest.mark.parametrize(
    "asked",
    [
        "Wie viel sind 250 USD in norwegischen Kronen?",
        "¿Cuánto son 250 USD en coronas noruegas para el despacho?",
        "250美元是多少挪威克朗？",
        "كم تساوي 250 دولارا بالكرونة النرويجية؟",
    ],
)
async def test_a_made_up_date_is_never_answered_in_any_language(asked: str) -> None:
    money, model = converting()
    interaction = Interaction(today=lambda: date(2026, 11, 23))
    done = await Orchestrator([fake_source(money)], model=model, interaction=interaction).run(asked)
    assert done.status == "partial"
    assert [one.value for one in done.assumed] == ["2024-01-01"]


@pytest.mark.parametrize("strategy", ["layered", "react", "layered-no-repair"])
async def test_an_answer_that_rests_on_a_made_up_date_says_so(strategy: str) -> None:
    money, model = converting(strategy=strategy)
    setup = Orchestrator(
        [fake_source(money)],
        model=model,
        strategy=strategy,
        interaction=Interaction(today=lambda: date(2026, 11, 23)),
    )
    done = await setup.run(MONEY)
    (one,) = done.assumed
    assert (one.tool, one.parameter, one.value, one.result) == (
        "convert",
        "date",
        "2024-01-01",
        "r1",
    )
    assert done.status == "partial"
    assert done.answer.assumed == (
        "convert: assumed date 2024-01-01: not in the request or in a result",
    )
    assert "assumed date 2024-01-01: not in the request or in a result" in done.answer.text
    assert done.to_dict()["assumed"][0]["value"] == "2024-01-01"
    assert "assumed date 2024-01-01" in page(done.events)


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


async def test_a_default_is_no_assumption_and_a_number_from_nowhere_is_one() -> None:
    money, model = converting(day={**DAY, "default": "2024-01-01"})
    assert (await Orchestrator([fake_source(money)], model=model).run(MONEY)).status == "answered"
    money, model = converting("2025-06-20")
    done = await Orchestrator([fake_source(money)], model=model).run(
        "What is it in kroner on 2025-06-20?"
    )
    assert [(one.parameter, one.value) for one in done.assumed] == [("amount", 250)]


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


async def test_one_model_call_is_kept_for_the_answer() -> None:
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("population", iata="OSL"))],
        "answer": [said("The airport is OSL.", "r1")],
    }
    done = await run([airport(), weather()], script, *LAYERS, limits=Limits(model_calls=2))
    assert done.limit == "model_calls"
    assert done.cost.model_calls == 2
    assert done.status == "partial"
    assert "OSL" in done.answer.text


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


@pytest.mark.parametrize("kind", ["run.start", "intent", "result", "run.end"])
async def test_a_sink_that_fails_costs_no_write_its_record_and_no_other_sink_an_event(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def fail(event: Event) -> None:
        seen.append(event.kind)
        if event.kind == kind:
            raise OSError("the disk is full")

    held = asyncio.Event()
    book = FakeTool("book", FIND, output="B7", effects=WRITE, hold=held)
    quick = airport(output=lambda city: held.set() or "OSL")
    script = {
        "bind": calls(call("book", city="Oslo"), call("find_airport", city="Oslo")),
        "answer": said("B7 is booked.", "r1"),
    }
    memory = MemorySink()
    done = await Orchestrator(
        [fake_source(book, quick)],
        model=ScriptedModel(script),
        planner=FixedPlan(["book", "find_airport"]),
        persistence=Persistence(tmp_path, sinks=[fail, memory]),
    ).run("Book the airport of Oslo")
    assert done.results[0].content == "B7"
    assert tuple(memory.events) == done.events
    assert seen.count(kind) == 1
    assert seen[-1] == kind
    (journal,) = list_journals(tmp_path)
    assert [e.kind for e in read_journal(journal)[1]] == [e.kind for e in done.events]
    told = "a sink gets no more events of this run: OSError('the disk is full')"
    assert [record.getMessage() for record in caplog.records] == [f"warning: {told}"]
    noted = [e for e in done.events if e.kind == "note" and told in e.data["text"]]
    assert len(noted) == (kind != "run.end")


async def test_a_trace_file_that_cannot_be_written_ends_no_run(tmp_path: Path) -> None:
    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": said("OSL.", "r1")}
    trace = JsonlSink(tmp_path / "run.jsonl")
    trace._file.close()
    trace._file = (tmp_path / "run.jsonl").open("r")  # as good as a full disk
    done = await run([airport()], script, ["find_airport"], persistence=Persistence(sinks=[trace]))
    trace.close()
    assert done.results[0].ok


async def test_the_trace_holds_every_prompt_and_raw_reply_whole() -> None:
    memory = MemorySink()
    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": [said("OSL.", "r1")]}
    model = ScriptedModel(script)
    await run([airport()], model, ["find_airport"], persistence=Persistence(sinks=[memory]))
    texts = collect_blobs(memory.events)
    questions = [e for e in memory.events if e.kind == "model"]
    assert [q.data["purpose"] for q in questions] == ["bind", "answer"]
    for request, event in zip(model.requests, questions, strict=True):
        assert all(m.content in texts[event.data["prompt"]] for m in request.messages)
        assert texts[event.data["reply"]]
    assert memory.events[-1].kind == "run.end"


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


def test_an_unknown_strategy_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="layered"):
        Orchestrator([], strategy="best")
    with pytest.raises(ConfigError, match="there is no strategy 'layred'") as caught:
        Orchestrator([], strategy="layred")
    assert caught.value.hint.startswith("did you mean 'layered'?")


def test_the_name_of_a_planner_is_no_planner() -> None:
    with pytest.raises(ConfigError, match="planner is 'model', and must be a Planner") as caught:
        Orchestrator([], planner="model")  # type: ignore[arg-type]
    assert "open_planner" in caught.value.hint


async def test_today_is_a_date() -> None:
    asked: Any = {"tools": [find_capital], "model": ScriptedModel(ASKED)}
    wrong: Any = Interaction(today=lambda: "2026-01-02")  # type: ignore[arg-type, return-value]
    with pytest.raises(ConfigError, match="today returned '2026-01-02', and must return a date"):
        await Orchestrator(**asked, interaction=wrong).run(CAPITAL)
    moment = Interaction(today=lambda: datetime(2026, 1, 2, 3, 4))
    done = await Orchestrator(**asked, interaction=moment).run(CAPITAL)
    assert done.events[0].data["today"] == "2026-01-02"


async def test_a_pattern_that_allows_no_tool_is_noted() -> None:
    allowed = Safety(allow=["wpie"])
    done = await Orchestrator([find_capital], model=ScriptedModel(ASKED), safety=allowed).run(
        CAPITAL
    )
    notes = [e.data["text"] for e in done.events if e.kind == "note"]
    assert "warning: allow: 'wpie' names no tool that is here" in notes


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


ECHO: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Echo", "version": "1"},
    "paths": {
        "/echo": {
            "get": {
                "operationId": "echo",
                "parameters": [{"name": "text", "in": "query", "schema": {"type": "string"}}],
                "responses": {},
                "security": [{"token": []}],
            }
        }
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}


class KeyedModel(ScriptedModel):
    """A scripted model with a key, as endpoints have one."""

    secrets = ("sk-canary-of-the-model",)


async def test_no_credential_reaches_a_sink_a_page_or_a_file(tmp_path: Path) -> None:
    """The server echoes the Authorization header, the request names the token, the model says its
    own key.
    """
    token, key = 'canary/"of"&the-api', KeyedModel.secrets[0]
    seen: list[str] = []

    async def echo(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        return web.json_response({"echo": seen[-1], "text": request.query["text"]})

    app = web.Application()
    app.router.add_get("/echo", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        source = OpenAPISource(
            ECHO,
            base_url=f"http://127.0.0.1:{runner.addresses[0][1]}",
            environment={"ECHO_TOKEN": token},
        )
        told = f"The key is {key}, the token {token}."
        script = {
            "bind": calls(call("echo", text=token)),
            "answer": said(told, "r1"),
            "answer.restate": told,
        }
        memory = MemorySink()
        with JsonlSink(tmp_path / "run.jsonl") as jsonl:
            orchestrator = Orchestrator(
                [source],
                model=KeyedModel(script),
                planner=FixedPlan(["echo"]),
                persistence=Persistence(sinks=[memory, jsonl]),
            )
            done = await orchestrator.run(f"Echo {token} to me")
    finally:
        await runner.cleanup()
    assert seen == [f"Bearer {token}"], (
        "the token must have been on its way, or nothing is shown here"
    )
    assert done.results[0].ok
    shown = [
        str(memory.events),
        str(done.events),
        page(done.events),
        (tmp_path / "run.jsonl").read_text(),
    ]
    shown += [str(done.results[0].content), done.answer.text]
    for text in shown:
        assert "[secret]" in text
        for part in ("canary/", "canary%2F", key):
            assert part not in text


RULES = "Speak as the desk of depot W-77."


@pytest.mark.parametrize(
    "strategy",
    ["layered", "guided", "dag", "edges", "compiler", "react", "dfsdt", "code", "toolmvr"],
)
@pytest.mark.parametrize("mode", ["schema", "text"])
async def test_instructions_stand_in_every_question_of_every_strategy(
    strategy: str, mode: Any
) -> None:
    asked = []
    for instructions in ("", RULES):
        model = ScriptedModel({"*": "Nothing of use."})
        await Orchestrator(
            [fake_source(airport(), weather())],
            model=model,
            strategy=strategy,
            instructions=instructions,
            interaction=Interaction(mode),
        ).run(QUERY)
        asked.append([request.messages for request in model.requests])
    without, with_ = asked
    assert with_
    for messages in with_:
        assert messages[0].role == "system"
        assert messages[0].content.endswith(f"\n\n{RULES}")
    bare = [m[0].content.removesuffix(f"\n\n{RULES}") for m in with_]
    assert bare == [messages[0].content for messages in without]
    assert [m[1:] for m in with_] == [m[1:] for m in without]


async def test_all_questions_of_a_run_with_instructions_begin_alike() -> None:
    model = ScriptedModel(
        {"bind": calls(call("find_airport", city="Oslo")), "answer": said("It is OSL.", "r1")}
    )
    tools = [fake_source(airport())]
    done = await Orchestrator(tools, model=model, instructions=RULES).run(QUERY)
    assert done.status == "answered"
    first, last = model.requests[0].messages, model.requests[-1].messages
    assert first[0] == last[0]


async def test_a_value_of_the_instructions_may_be_used_in_a_call() -> None:
    staff = FakeTool("staff", {"opened": {**TEXT, "format": "date"}}, output=7, effects=READ_LOCAL)
    script = {
        "bind": calls(call("staff", opened="2019-05-04")),
        "answer": said("7 people work there.", "r1"),
    }
    for instructions, assumed in (("The depot opened on 2019-05-04.", []), ("", ["opened"])):
        done = await Orchestrator(
            [fake_source(staff)], model=ScriptedModel(script), instructions=instructions
        ).run("How many people work in the depot?")
        assert [one.parameter for one in done.assumed] == assumed


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


LONG = "word " * 1_000
FOUND = calls(call("find_airport", city="Oslo"))
GONE: Pages = {}


@pytest.mark.parametrize(
    ("pages", "named", "name"),
    [
        (LLAMA, "", "medium"),
        (OLLAMA, "", "medium"),
        (VLLM, "", "large"),
        (GONE, "", "small"),
        (GONE, "large", "large"),
        (VLLM, "small", "small"),
    ],
)
async def test_a_run_has_the_profile_of_what_its_endpoint_states(
    pages: Pages, named: str, name: str
) -> None:
    replies = [json.dumps(FOUND), json.dumps(said("The airport is OSL.", "r1"))]
    asked: list[str] = []
    with serving(pages, replies, asked) as url:
        model = OpenAIModel(url, mode="schema")
        done = await Orchestrator(
            [fake_source(airport(description=LONG))],
            model=model,
            planner=FixedPlan(["find_airport"]),
            model_profile=named,
        ).run(QUERY)
        await model.aclose()
    profile, started = find_profile(name), done.events[0].data
    assert started["model_profile"] == name
    assert started["limits"]["result_chars"] == profile.result_chars
    bind, answer = (json.loads(body) for body in asked)
    assert (bind["max_tokens"], answer["max_tokens"]) == (
        profile.reply_tokens,
        profile.answer_tokens,
    )
    assert (bind["temperature"], answer["temperature"]) == (0.0, 0.0)
    shown = json.dumps(bind["messages"]).count("word")
    assert shown == profile.description_chars // len("word ") - 1  # and an ellipsis
    schema = json.dumps(bind["response_format"])
    assert f'"maxItems": {profile.layer_calls}' in schema


async def test_a_model_that_states_no_size_has_the_smallest_profile() -> None:
    done = await run([airport()], {"bind": FOUND, "answer": said("OSL.", "r1")}, ["find_airport"])
    assert done.events[0].data["model_profile"] == "small"


async def test_a_resumed_run_keeps_the_profile_that_it_began_with(tmp_path: Path) -> None:
    tools = [airport(description=LONG)]
    script = {"bind": FOUND, "answer": [ModelError("gone"), said("The airport is OSL.", "r1")]}
    model = ScriptedModel(script)

    def build(profile: str) -> Orchestrator:
        planner, kept = FixedPlan(["find_airport"]), Persistence(tmp_path)
        source = [fake_source(*tools)]
        return Orchestrator(
            source, model=model, planner=planner, persistence=kept, model_profile=profile
        )

    with pytest.raises(ModelError, match="gone"):
        await build("large").run(QUERY)
    (journal,) = list_journals(tmp_path)
    done = await build("small").resume(journal)
    assert done.events[0].data["model_profile"] == "large"
    assert [request.max_tokens for request in model.requests] == [2_048, 1_600, 1_600]


def test_an_unknown_profile_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(ConfigError, match="no model profile 'huge'") as caught:
        Orchestrator(["no/such/place"], model_profile="huge")
    assert caught.value.hint == "there are: small, medium, large"


def find_capital(country: str) -> str:
    """The capital of a country."""
    return "Oslo"


def unusable(handle: asyncio.Event) -> str:
    """Takes what JSON has no form for."""
    return ""


CAPITAL = "What is the capital of Norway?"
ASKED = {"bind": calls(call("find_capital", country="Norway")), "answer": said("Oslo.", "r1")}


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


async def test_secrets_that_are_named_are_in_no_result_trace_or_journal(tmp_path: Path) -> None:
    secret, memory = "correct horse battery", MemorySink()
    tool = airport(output={"iata": "OSL", "note": f"the door code is {secret}"})
    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": said("OSL.", "r1")}
    planner, kept = FixedPlan(["find_airport"]), Persistence(tmp_path, sinks=[memory])
    setup = Orchestrator(
        [fake_source(tool)],
        model=ScriptedModel(script),
        planner=planner,
        persistence=replace(kept, secrets=[secret]),
    )
    done = await setup.run("Which airport has Oslo?")
    (journal,) = list_journals(tmp_path)
    for text in (done.results, memory.events, read_journal(journal)[1]):
        assert secret not in str(text)
        assert "[secret]" in str(text)
    again = await setup.resume(done.id)
    assert again.results == done.results
    assert len(tool.calls) == 1


@pytest.mark.parametrize(
    ("strategy", "reply"),
    [
        ("react", {"thought": "", "action": {"tool": "finish", "reason": "%s"}}),
        ("layered", {"later": ["none"], "useful": ["none"], "reason": "%s"}),
        ("guided", {"no_call": "%s"}),
    ],
)
@pytest.mark.parametrize("reason", ["How many?", "I ordered it. What else?"])
async def test_a_model_that_calls_nothing_and_asks_has_its_question_put_to_the_user(
    strategy: str, reply: Any, reason: str
) -> None:
    order, cancel = (
        FakeTool(name, {"part": TEXT}, output={}, effects=WRITE) for name in ("order", "cancel")
    )
    model = ScriptedModel({"bind": json.loads(json.dumps(reply).replace("%s", reason))})
    setup = Orchestrator([fake_source(order, cancel)], model=model, strategy=strategy)
    done = await setup.run("Order some lamps.")
    is_question = reason == "How many?"
    assert (done.answer.text == reason) is is_question, "what tells of a deed is no question"
    assert done.status == "abstained"


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


def order_step(strategy: str, calls: list[dict[str, Any]]) -> Any:
    """The calls in the form of a strategy's question."""
    if strategy == "react":
        end = {"tool": "finish", "reason": "done"}
        return {"thought": "", "action": calls[0] if calls else end}
    if strategy == "guided":
        named = [{"name": one["tool"], "arguments": one["arguments"]} for one in calls]
        return {"wishes": ["it"], "calls": named} if calls else {"no_call": "done"}
    return {"useful": ["order"], "calls": calls} if calls else {"useful": ["none"], "reason": "-"}


@pytest.mark.parametrize(
    ("strategy", "is_good"),
    [("react", False), ("react", True), ("layered", False), ("guided", False), ("guided", True)],
)
async def test_a_write_that_was_kept_back_is_told_beside_another_of_its_tool(
    strategy: str, is_good: bool
) -> None:
    """Two orders: the second one's number stands nowhere. It is made good only by a call for the
    same part.
    """
    tool = FakeTool("order", {"part": TEXT, "quantity": {"type": "integer"}}, effects=WRITE)
    first, made_up = (
        call("order", part="A-100", quantity=5),
        call("order", part="C-330", quantity=7),
    )
    again = call("order", part="C-330" if is_good else "A-100", quantity=5)
    left = [[first], [made_up], [again]] if strategy == "react" else [[first, made_up], [again]]

    def reply(request: ChatRequest) -> Any:
        if request.purpose == "question":
            return {"question": "How many pieces of C-330?"}
        if request.purpose == "bind":
            return order_step(strategy, left.pop(0) if left else [])
        return said("It is done.") if "statements" in str(request.schema) else "It is done."

    setup = Orchestrator([fake_source(tool)], model=ScriptedModel(reply), strategy=strategy)
    done = await setup.run("Order 5 pieces of A-100 and some pieces of C-330.")
    assert first["arguments"] in tool.calls
    assert made_up["arguments"] not in tool.calls
    assert ("How many pieces of C-330?" in done.answer.text) is not is_good


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
