"""Strategies with something taken away: what is then shown, repaired and repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Interaction, Persistence, Safety
from callwright.agent.strategies import open_strategy
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import READ_LOCAL, WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source, in_order

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
    return FakeTool(
        "find_airport", {"city": TEXT}, **{"output": {"iata": "OSL"}, "effects": READ_LOCAL, **more}
    )


def population(**more: Any) -> FakeTool:
    return FakeTool(
        "population", {"iata": TEXT}, **{"output": {"people": 7}, "effects": READ_LOCAL, **more}
    )


def calls(*entries: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [{"tool": name, "arguments": arguments} for name, arguments in entries]}


async def run(strategy: str, script: Any, *tools: FakeTool, **options: Any) -> Run:
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    setup = Orchestrator(
        [fake_source(*tools)], model=model, planner=Layers(), strategy=strategy, **options
    )
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
    assert all(
        f"- {name}(" in step
        for step in steps[:3]
        for name in ("find_airport", "population", "other_3")
    )
    assert '"iata":"OSL"' in steps[1]
    assert len(done.plan.layers) == 1


async def test_without_sketch_it_is_asked_again_only_while_results_come_and_five_times_at_most() -> (
    None
):
    idle = ScriptedModel({"bind": [NONE], "*": SAID})
    await run("layered-no-sketch", idle, airport(), population())
    assert [r.purpose for r in idle.requests] == ["bind"], (
        "no result, no second step, nothing to answer from"
    )

    cities = [
        calls(("find_airport", {"city": word}))
        for word in ("Oslo", "people", "airport", "many", "live", "the")
    ]
    busy = ScriptedModel({"bind": cities, "*": SAID})
    tool = airport(output=in_order(*({"iata": f"A{i}"} for i in range(9))))
    await run("layered-no-sketch", busy, tool, limits=Limits(repairs=0))
    assert len(tool.calls) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo", "limit": "3"},
        {"City": "Oslo", "limit": 3},
        '{"city": "Oslo", "limit": 3,}',
        {"limit": 3},
    ],
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


async def test_without_repair_an_optional_value_that_says_nothing_stays_as_the_model_wrote_it() -> (
    None
):
    def tool() -> FakeTool:
        properties = {"city": TEXT, "colour": TEXT}
        return airport(
            input_schema={"type": "object", "properties": properties, "required": ["city"]}
        )

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


@pytest.mark.parametrize(
    "strategy", ["layered-no-sketch", "layered-no-repair", "layered-no-recovery"]
)
async def test_ablations_run_with_plain_text_too(strategy: str) -> None:
    lines = [
        'Action: find_airport\nAction Input: {"city": "Oslo"}',
        'Action: population\nAction Input: {"iata": "OSL"}',
        "No call: all is there",
    ]
    model = ScriptedModel(
        {"bind": lines, "*": "7 people live there."}, capabilities=Capabilities(json_schema=True)
    )
    done = await run(strategy, model, airport(), population(), interaction=Interaction(mode="text"))
    assert [r.tool for r in done.results] == ["find_airport", "population"]
    assert all(r.schema is None for r in model.requests)


def step(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"thought": "", "action": {"tool": tool, "arguments": arguments}}


END = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
AS_WRITTEN = ["react-no-repair", "dfsdt-no-repair"]
UNCHECKED = ["react-no-gate", "dfsdt-no-gate"]
PROGRAMS = ["code-no-repair", "toolmvr-no-repair"]
FREE_PROGRAMS = ["code-no-gate", "toolmvr-no-gate"]


def strict_airport(**more: Any) -> FakeTool:
    properties = {"city": TEXT, "limit": {"type": "integer"}}
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["city"],
        "additionalProperties": False,
    }
    return airport(input_schema=schema, **more)


@pytest.mark.parametrize("strategy", AS_WRITTEN)
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (step("find_airport", city="Oslo", limit="3"), "limit"),
        (step("find_airport", City="Oslo"), "city"),
        (step("find_airports", city="Oslo"), "find_airports"),
    ],
)
async def test_as_written_what_is_refused_comes_back_as_an_error_and_may_be_tried_again(
    strategy: str, wrong: Any, told: str
) -> None:
    tool = strict_airport()
    model = ScriptedModel({"bind": [wrong, step("find_airport", city="Oslo"), END], "*": SAID})
    done = await run(strategy, model, tool, population())
    assert tool.calls == [{"city": "Oslo"}]
    assert [r.ok for r in done.results] == [False, True]
    second = model.requests[1].messages[-1].content
    assert f"r1: {wrong['action']['tool']}(" in second
    assert "FAILED" in second
    assert told in second
    assert done.cost.repairs == {"tier1": 0, "tier2": 0, "repeat": 0, "recovery": 0}
    assert {r.purpose for r in model.requests} == {"bind", "answer"}


@pytest.mark.parametrize("strategy", [*AS_WRITTEN, *UNCHECKED])
async def test_as_written_a_call_leaves_with_all_that_the_model_wrote(strategy: str) -> None:
    open_schema = {
        "type": "object",
        "properties": {"iata": TEXT, "year": TEXT},
        "required": ["iata"],
    }
    tool = population(input_schema=open_schema)
    made_up = step("population", iata="XQZ99", year="N/A", mood="good")
    await run(strategy, {"bind": [made_up, END], "*": SAID}, airport(), tool)
    assert tool.calls == [{"iata": "XQZ99", "year": "N/A", "mood": "good"}]


@pytest.mark.parametrize("strategy", [*AS_WRITTEN, *UNCHECKED])
@pytest.mark.parametrize(
    "failure",
    [
        Failure("unavailable", "503: try again", retryable=True),
        Failure("tool_error", "unknown parameter 'city', expected 'town'"),
    ],
)
async def test_as_written_only_the_model_repeats_a_call(strategy: str, failure: Failure) -> None:
    once, twice = (airport(output=in_order(failure, {"iata": "OSL"})) for _ in range(2))
    call = step("find_airport", city="Oslo")
    await run(strategy, {"bind": [call, END], "*": SAID}, once, population())
    assert len(once.calls) == 1
    done = await run(strategy, {"bind": [call, call, END], "*": SAID}, twice, population())
    assert twice.calls == [{"city": "Oslo"}, {"city": "Oslo"}]
    assert [r.ok for r in done.results] == [False, True]


@pytest.mark.parametrize(
    "strategy", [*AS_WRITTEN, *UNCHECKED, *PROGRAMS, *FREE_PROGRAMS, "layered-no-repair"]
)
def test_what_repairs_nothing_is_given_no_other_repair(strategy: str) -> None:
    with pytest.raises(ConfigError, match="repairs no calls"):
        open_strategy(f"{strategy}+reflect")


@pytest.mark.parametrize("strategy", UNCHECKED)
async def test_without_gate_arguments_go_to_the_tool_whatever_its_schema_says(
    strategy: str,
) -> None:
    tool = strict_airport()
    wrong = step("find_airport", town="Oslo", limit="3")
    model = ScriptedModel({"bind": [wrong, step("find_airports", city="Oslo"), END], "*": SAID})
    done = await run(strategy, model, tool, population())
    assert tool.calls == [{"town": "Oslo", "limit": "3"}]
    assert [r.ok for r in done.results] == [True, False], "only what is not offered is refused"
    schema = model.requests[0].schema
    assert schema is not None
    first = schema["properties"]["action"]["anyOf"][0]["properties"]
    assert first["arguments"] == {"type": "object"}, (
        "and nothing holds the reply to the documentation"
    )


async def test_as_written_who_hears_the_same_three_times_is_stopped() -> None:
    tool = airport(output=Failure("tool_error", "no such city"))
    model = ScriptedModel({"bind": step("find_airport", city="Oslo"), "*": SAID})
    await run("react-no-repair", model, tool, population())
    assert len(tool.calls) == 4, "the first brought something new, three did not"


@pytest.mark.parametrize("strategy", AS_WRITTEN)
async def test_as_written_the_answer_is_the_models_own(strategy: str) -> None:
    claim = "9 million people live at OSL."
    script = {
        "bind": [step("find_airport", city="Bergen", zone=1), step("population", iata="OSL"), END],
        "answer": {"statements": [{"text": claim, "results": ["r2"]}], "missing": []},
    }
    done = await run(strategy, ScriptedModel(script), strict_airport(), population())
    assert done.answer.text == claim, (
        "nothing mended or marked, and no failure told that the model did not tell"
    )
    assert [s.support for s in done.answer.statements] == ["unsupported"]
    assert done.answer.edits == ()
    nothing = {
        "bind": [END],
        "answer": {"statements": [{"text": claim, "results": []}], "missing": []},
    }
    assert (await run(strategy, nothing, airport(), population())).answer.text == claim


def rounds(*codes: str, answer: str = "") -> dict[str, Any]:
    """Programs as text, one a round, then the answer."""
    programs = [f"<thought>t</thought>\n<execute>\n{code}\n</execute>" for code in codes]
    end = [f"<thought>t</thought>\n<final_answer>{answer}</final_answer>"] if answer else []
    return {"code": [*programs, *end]}


def in_text(script: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(script, capabilities=Capabilities(json_schema=False))


@pytest.mark.parametrize("strategy", PROGRAMS)
async def test_in_programs_what_the_schema_refuses_comes_back_to_the_model_and_nobody_repairs_it(
    strategy: str,
) -> None:
    tool = strict_airport()
    wrong, right = "print(find_airport(city='Oslo', limit='3'))", "print(find_airport(city='Oslo'))"
    model = in_text(rounds(wrong, right, answer="Its code is OSL."))
    done = await run(strategy, model, tool, population())
    assert tool.calls == [{"city": "Oslo"}]
    assert [r.ok for r in done.results] == [False, True]
    assert "{'error': " in model.requests[1].messages[-1].content
    assert "limit" in model.requests[1].messages[-1].content
    assert done.cost.repairs == {"tier1": 0, "tier2": 0, "repeat": 0, "recovery": 0}
    assert (done.status, done.answer.text) == ("answered", "Its code is OSL.")


@pytest.mark.parametrize("strategy", FREE_PROGRAMS)
async def test_without_gate_programs_call_tools_whatever_their_schema_says(strategy: str) -> None:
    tool = strict_airport()
    await run(
        strategy,
        in_text(rounds("print(find_airport(town='Oslo'))", answer="OSL.")),
        tool,
        population(),
    )
    assert tool.calls == [{"town": "Oslo"}]


async def test_without_gate_a_constrained_round_may_hold_any_arguments() -> None:
    tool, wrong = strict_airport(), {"function": "find_airport", "arguments": {"town": "Oslo"}}
    model = ScriptedModel(
        {"code": [{"thought": "", "calls": [wrong]}, {"thought": "", "final_answer": "OSL."}]}
    )
    await run("code-no-gate", model, tool, population())
    assert tool.calls == [{"town": "Oslo"}]
    schema = model.requests[0].schema
    assert schema is not None
    listed = schema["anyOf"][0]["properties"]["calls"]["items"]["anyOf"]
    assert [one["properties"]["arguments"] for one in listed] == [{"type": "object"}] * 2


@pytest.mark.parametrize("strategy", [*PROGRAMS, *FREE_PROGRAMS])
async def test_in_programs_the_same_call_may_leave_again_and_who_learns_nothing_new_is_stopped(
    strategy: str,
) -> None:
    tool = airport(output=Failure("tool_error", "no such city"))
    model = in_text(
        {**rounds(*["print(find_airport(city='Oslo'))"] * 9), "*": "Nothing was found."}
    )
    await run(strategy, model, tool, population())
    assert len(tool.calls) == 3, "the first brought something new, two did not"
    failing = in_order(Failure("unavailable", "503", retryable=True), {"iata": "OSL"})
    again = airport(output=failing)
    twice = rounds(*["print(find_airport(city='Oslo'))"] * 2, answer="OSL.")
    done = await run(strategy, in_text(twice), again, population())
    assert again.calls == [{"city": "Oslo"}] * 2
    assert [r.ok for r in done.results] == [False, True]


@pytest.mark.parametrize("strategy", [*PROGRAMS, *FREE_PROGRAMS])
async def test_in_programs_the_answer_is_the_models_own_whatever_was_found(strategy: str) -> None:
    claim = "9 million people live at OSL [r1]."
    lookup = "print(population(iata='OSL'))"
    done = await run(strategy, in_text(rounds(lookup, answer=claim)), airport(), population())
    assert done.answer.text == claim
    assert [s.support for s in done.answer.statements] == ["unsupported"]
    usual = await run(
        strategy.partition("-")[0], in_text(rounds(lookup, answer=claim)), airport(), population()
    )
    assert usual.answer.text != claim, "which is marked where answers are checked"
    bare = in_text(rounds(answer=claim))
    assert (await run(strategy, bare, airport(), population())).answer.text == claim
    assert len(bare.requests) == 1, "it has answered: nobody asks again"


@pytest.mark.parametrize("strategy", [*PROGRAMS, *FREE_PROGRAMS])
async def test_in_programs_who_writes_no_answer_has_none_and_is_asked_in_no_other_words(
    strategy: str,
) -> None:
    lookup = "print(population(iata='OSL'))"
    silent = in_text(rounds(*[lookup] * 9))
    done = await run(strategy, silent, airport(), population())
    assert {request.purpose for request in silent.requests} == {"code"}
    assert (done.status, done.answer.text) == (
        "abstained",
        "I could not answer this: the model wrote no answer.",
    )
    given_up = {
        "code": [*rounds(lookup)["code"], "<thought>t</thought><given_up>too few tools</given_up>"]
    }
    done = await run(strategy, in_text(given_up), airport(), population())
    assert done.answer.text == "I could not answer this: the model gave up: too few tools."
    limited = in_text(rounds(*[lookup] * 9))
    done = await run(strategy, limited, airport(), population(), limits=Limits(model_calls=2))
    assert (done.limit, {request.purpose for request in limited.requests}) == (
        "model_calls",
        {"code"},
    )


@pytest.mark.parametrize("strategy", ["code-no-repair", "toolmvr-no-gate"])
async def test_programs_as_written_are_replayed_to_the_same_end_wherever_they_were_cut(
    strategy: str, tmp_path: Path
) -> None:
    failure = Failure("unavailable", "503: try again", retryable=True)
    lookup = "print(find_airport(city='Oslo'))"
    refused = (
        ["print(find_airport(city='Oslo', limit='3'))"] if strategy == "code-no-repair" else []
    )
    script = rounds(*refused, lookup, lookup, "print(population(iata='OSL'))", answer="7 people.")[
        "code"
    ]

    def setup(lines: list[Any], outputs: list[Any]) -> Orchestrator:
        tools = [strict_airport(output=in_order(*outputs)), population()]
        model = in_text({"code": lines})
        return Orchestrator(
            [fake_source(*tools)],
            model=model,
            strategy=strategy,
            persistence=Persistence(journal=tmp_path),
        )

    whole = await setup(script, [failure, {"iata": "OSL"}]).run(QUERY)
    assert whole.answer.text == "7 people."
    _, events = read_journal(find_journal(whole.id, tmp_path), every=True)
    for kept in (
        at for at, event in enumerate(events) if event.kind in ("model", "result", "call.refused")
    ):
        with Journal.create(tmp_path / str(kept)) as copy:
            for event in events[:kept]:
                copy(event)
        asked = sum(event.kind == "model" for event in events[:kept])
        heard = sum(event.kind == "result" for event in events[:kept])
        left = [failure, {"iata": "OSL"}][heard:] or [{"iata": "OSL"}]
        again = await setup(script[asked:], left).resume(copy.path)
        assert again.answer == whole.answer, kept
        assert [(r.tool, r.ok) for r in again.results] == [(r.tool, r.ok) for r in whole.results], (
            kept
        )


@pytest.mark.parametrize("strategy", ["react-no-repair", "react-no-gate", "dfsdt-no-repair"])
async def test_as_written_a_run_cut_anywhere_is_replayed_to_the_same_end(
    strategy: str, tmp_path: Path
) -> None:
    failure = Failure("unavailable", "503: try again", retryable=True)
    call = step("find_airport", city="Oslo")
    refused = [] if strategy == "react-no-gate" else [step("find_airport", city="Oslo", limit="3")]
    script = [*refused, call, call, step("population", iata="OSL", mood="good"), END]

    def setup(model: ScriptedModel, tools: list[FakeTool]) -> Orchestrator:
        return Orchestrator(
            [fake_source(*tools)],
            model=model,
            strategy=strategy,
            persistence=Persistence(journal=tmp_path),
        )

    def tools() -> list[FakeTool]:
        return [strict_airport(output=in_order(failure, {"iata": "OSL"})), population()]

    whole = await setup(ScriptedModel({"bind": script, "*": SAID}), tools()).run(QUERY)
    _, events = read_journal(find_journal(whole.id, tmp_path), every=True)
    answers = [event.kind for event in events]
    binds = [
        at
        for at, event in enumerate(events)
        if event.kind == "model" and event.data["purpose"] == "bind"
    ]
    results = [at for at, event in enumerate(events) if event.kind == "result"]
    assert answers.count("result") == 3
    for kept in (
        at for at, event in enumerate(events) if event.kind in ("model", "result", "call.refused")
    ):
        folder = tmp_path / str(kept)
        with Journal.create(folder) as copy:
            for event in events[:kept]:
                copy(event)
        asked = sum(at < kept for at in binds)
        heard = sum(at < kept for at in results)
        left = [failure, {"iata": "OSL"}][min(heard, 2) :] or [{"iata": "OSL"}]
        model = ScriptedModel({"bind": script[asked:] or [END], "*": SAID})
        again = await setup(model, [strict_airport(output=in_order(*left)), population()]).resume(
            copy.path
        )
        assert again.answer == whole.answer, kept
        assert [(r.id, r.tool, r.arguments, r.ok) for r in again.results] == [
            (r.id, r.tool, r.arguments, r.ok) for r in whole.results
        ], kept


@pytest.mark.parametrize("strategy", ["react-no-repair", "react-no-gate"])
@pytest.mark.parametrize("is_sandbox", [False, True])
async def test_outside_a_sandbox_no_write_rests_on_a_value_from_nowhere(
    strategy: str, is_sandbox: bool
) -> None:
    schema = {
        "type": "object",
        "properties": {"iata": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}},
        "required": ["iata"],
    }
    book = FakeTool("book", input_schema=schema, output={"id": 1}, effects=WRITE)
    read = FakeTool("look", input_schema=schema, output={"id": 1}, effects=READ_LOCAL)
    made_up = {"iata": "XYZ-4711"}
    model = ScriptedModel(
        {"bind": [step("look", **made_up), step("book", **made_up), END], "*": SAID}
    )
    done = await run(strategy, model, book, read, safety=Safety(allow=["*"], sandbox=is_sandbox))
    assert read.calls == [made_up], "a read leaves as it was written"
    assert book.calls == [made_up] * is_sandbox
    assert [result.ok for result in done.results] == [True, is_sandbox]
    if not is_sandbox:
        assert "nothing in this conversation states" in str(done.results[1].failure)
        third = [r for r in model.requests if r.purpose == "bind"][2]
        assert "nothing in this conversation states" in third.messages[-1].content
