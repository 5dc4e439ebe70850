from __future__ import annotations

from dataclasses import replace

from callwright import Failure
from callwright.models.dialogue import WARM
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import Reply, Tool, ToolCall, ToolOutput
from callwright.schema.compiled import is_valid_instance
from callwright.simulation.recording import Recorded, Recording
from callwright.simulation.simulator import (
    PATIENCE,
    SimulatedSource,
    Simulator,
    extend_limits,
    imitate_tool,
    render_documentation,
    reply_schema,
)
from callwright.testing import ScriptedModel

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OUTPUT = {
    "type": "object",
    "properties": {"celsius": {"type": "number"}, "place": {"$ref": "#/$defs/place"}},
    "required": ["celsius"],
    "$defs": {"place": {"type": "string"}},
}
WEATHER = Tool("weather", "Weather of a city.", CITY, OUTPUT)
OSLO = ToolCall("c1", "weather", {"city": "Oslo"})
REAL = Recording(
    [Recorded("weather", {"city": "Oslo"}, ToolOutput({"celsius": 7}), WEATHER.digest)], [WEATHER]
)


async def test_a_recorded_reply_comes_before_the_model() -> None:
    model = ScriptedModel([])
    result = await Simulator(REAL, model).simulate(OSLO, WEATHER)
    assert (result.content, result.simulated, result.id) == ({"celsius": 7}, "recorded", "c1")
    assert not model.requests


async def test_the_model_imitates_what_is_not_on_record_from_documentation_examples_query_and_error() -> (
    None
):
    model = ScriptedModel([{"error": "", "response": {"celsius": 21}}])
    call = ToolCall("c2", "weather", {"city": "Rome"})
    result = await Simulator(REAL, model).simulate(
        call, WEATHER, "Is it warm in Rome?", Failure("timeout", "late")
    )
    assert (result.content, result.failure, result.simulated) == ({"celsius": 21}, None, "model")
    (request,) = model.requests
    asked = request.messages[-1].content
    assert request.purpose == "simulate"
    for part in (
        render_documentation(WEATHER),
        '{"city":"Oslo"}',
        '{"celsius":7}',
        "Is it warm in Rome?",
        "(timeout)",
    ):
        assert part in asked
    assert asked.endswith('Input: {"city":"Rome"}\nOutput:')


async def test_the_same_call_is_imitated_once() -> None:
    model = ScriptedModel([{"error": "", "response": 1}])
    simulator = Simulator(model=model)
    first, second = [await simulator.simulate(OSLO, WEATHER) for _ in range(2)]
    assert first.content == second.content == 1
    assert len(model.requests) == 1


async def test_the_nearest_reply_is_given_only_if_asked_for() -> None:
    far = Recording([Recorded("weather", {"city": "Oslo", "unit": "F"}, ToolOutput(44))])
    refused = await Simulator(far).simulate(OSLO, WEATHER)
    assert refused.failure is not None
    assert refused.failure.kind == "not_executable"
    found = await Simulator(far, nearest=True).simulate(OSLO, WEATHER)
    assert (found.content, found.simulated) == (44, "nearest")


async def test_a_call_that_the_schema_refuses_fails_as_it_would_there_and_asks_nobody() -> None:
    model = ScriptedModel([])
    result = await Simulator(model=model).simulate(ToolCall("c", "weather", {"town": 3}), WEATHER)
    assert result.failure is not None
    assert result.failure.kind == "tool_error"
    assert "city" in result.failure.message
    assert result.simulated


def driven(*replies: str) -> tuple[ToolOutput, int]:
    """What an imitation comes to when these are the model's replies, and how many it took."""
    dialogue = imitate_tool(WEATHER, {"city": "Oslo"})
    next(dialogue)
    sent = 0
    try:
        for text in replies:
            sent += 1
            dialogue.send(Reply(text))
    except StopIteration as done:
        return done.value, sent
    raise AssertionError("it asks on")


def test_replies_are_read_with_and_without_their_wrapping() -> None:
    for text in (
        '{"error": "", "response": {"celsius": 7}}',
        '```json\n{"error": "", "response": "{\\"celsius\\": 7}"}\n```',
        'Output: {"celsius": 7}',
    ):
        assert driven(text) == (ToolOutput({"celsius": 7}, simulated="model"), 1)


def test_an_error_that_the_model_gives_is_a_failure_of_the_tool() -> None:
    output, _ = driven('{"error": "city not found", "response": ""}')
    assert output == ToolOutput(failure=Failure("tool_error", "city not found"), simulated="model")


def test_a_reply_that_is_cut_off_is_asked_for_again_and_never_completed() -> None:
    cut = '{"error": "", "response": {"celsius": 7'
    assert driven(cut, '{"error": "", "response": 8}') == (ToolOutput(8, simulated="model"), 2)
    output, asked = driven(cut, "no idea")
    assert (output.content, output.failure and output.failure.kind, asked) == (
        None,
        "unavailable",
        2,
    )


def test_the_decoding_schema_holds_the_response_to_the_output_schema() -> None:
    schema = reply_schema(WEATHER)
    assert is_valid_instance(schema, {"error": "", "response": {"celsius": 7, "place": "Oslo"}})
    assert not is_valid_instance(schema, {"error": "", "response": {"place": "Oslo"}})
    assert not is_valid_instance(schema, {"error": "", "response": {"celsius": 7, "place": 1}})


def test_documented_fields_are_there_and_lists_end_where_no_schema_says_so() -> None:
    city = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/city"}},
    }
    found = {"type": "array", "items": {"$ref": "#/$defs/city"}}
    output = {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "found": found},
        "$defs": {"city": city},
    }
    schema = reply_schema(replace(WEATHER, output_schema=output))
    oslo = {"name": "Oslo"}
    assert is_valid_instance(schema, {"error": "", "response": {"count": 1, "found": [oslo]}})
    assert not is_valid_instance(schema, {"error": "", "response": {"found": [oslo]}})
    assert not is_valid_instance(schema, {"error": "", "response": {"count": 1, "found": [{}]}})
    assert not is_valid_instance(
        schema, {"error": "", "response": {"count": 9, "found": [oslo] * 9}}
    )
    assert output["properties"]["found"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/city"},
    }  # the tool's stays


async def test_the_schema_is_asked_for_where_the_model_can_be_held_to_it() -> None:
    for able in (True, False):
        model = ScriptedModel(
            [{"error": "", "response": 1}], capabilities=Capabilities(json_schema=able)
        )
        await Simulator(model=model).simulate(OSLO, WEATHER)
        assert (model.requests[0].schema is not None) == able


async def test_a_simulated_source_serves_a_catalogue() -> None:
    source = SimulatedSource([WEATHER], Simulator(REAL))
    (tool,) = await source.open()
    assert await source.call(tool, {"city": "Oslo"}) == ToolOutput(
        {"celsius": 7}, simulated="recorded"
    )
    await source.aclose()


def test_a_run_whose_tools_are_imitated_has_time_for_it_and_keeps_what_was_longer() -> None:
    given = Limits(repairs=1, tool_seconds=900.0)
    assert extend_limits(given) == replace(given, seconds=10 * PATIENCE)
    assert extend_limits(Limits()).tool_seconds == PATIENCE


async def test_a_second_attempt_is_warm_for_a_greedy_model_would_say_the_same() -> None:
    model = ScriptedModel(["nothing", {"error": "", "response": 1}])
    await Simulator(model=model).simulate(OSLO, WEATHER)
    assert [(r.temperature, r.seed) for r in model.requests] == [(0.0, 0), (WARM, 1)]
