"""One call of a trial: whether it may leave, what it showed, what is remembered of it."""

from __future__ import annotations

import pytest

from callwright.agent.journal.ledger import Ledger
from callwright.agent.probing import TrialPolicy
from callwright.agent.probing.arguments import Draft
from callwright.agent.probing.attempt import Attempt, Attempts, explain_untriable
from callwright.nouns.errors import Failure
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    READ,
    READ_LOCAL,
    WRITE,
    Effects,
    JsonObject,
    Tool,
    ToolCall,
    ToolOutput,
    ToolResult,
)
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.testing import FakeTool, in_order
from callwright.tools.evidence import Observation

NOW = 1_000_000.0
CITY = {"city": {"type": "string"}}


class Memory:
    """A store of evidence in a list."""

    def __init__(self, *kept: Observation) -> None:
        self.kept = list(kept)

    def record(self, observations: list[Observation]) -> None:
        self.kept += observations

    def remembered(
        self, digest: str, arguments: JsonObject, newest_after: float
    ) -> Observation | None:
        found = (o for o in reversed(self.kept) if (o.digest, o.arguments) == (digest, arguments))
        return next((o for o in found if o.at > newest_after), None)


def attempts(tool: FakeTool, **given: object) -> Attempts:
    async def call(name: str, arguments: JsonObject) -> ToolOutput:
        return await tool(arguments)

    settings = {"policy": TrialPolicy(), "now": lambda: NOW, **given}
    return Attempts("weather in Oslo", call, Gate([tool.tool]), **settings)  # type: ignore[arg-type]


async def made(tool: FakeTool, draft: Draft | None = None, **given: object) -> Attempt:
    found = await attempts(tool, **given).make(
        tool.tool, draft or Draft({"city": "Oslo"}), ProvenanceIndex("weather in Oslo")
    )
    assert isinstance(found, Attempt), found
    return found


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (Tool("get_weather", effects=READ), ""),
        (Tool("get_weather", effects=WRITE), "may write"),
        (Tool("get_weather", effects=Effects(declared=False)), "not known to be read-only"),
        (Tool("delete_weather", effects=READ), "removes"),
        (Tool("list_deleted", effects=READ), ""),
        (Tool("stops_at", effects=READ), ""),
    ],
)
def test_only_what_reads_may_be_tried(tool: Tool, why: str) -> None:
    found = explain_untriable(tool, TrialPolicy())
    assert why in found
    assert bool(found) == bool(why)
    assert explain_untriable(tool, TrialPolicy(sandbox=("*",))) == ""


@pytest.mark.parametrize(
    ("effects", "policy", "is_sent"),
    [
        (READ, TrialPolicy(), False),
        (READ_LOCAL, TrialPolicy(), True),
        (READ, TrialPolicy(prices={"weather": 0.0}), True),
        (READ, TrialPolicy(prices={"weather": 0.1}, money=1.0), False),
        (READ, TrialPolicy(prices={"weather": 0.1, "*": 0.0}, money=1.0), False),
        (READ, TrialPolicy(sandbox=("weather",)), True),
    ],
)
async def test_a_guess_is_not_sent_to_a_tool_that_reaches_outside_unless_it_is_declared_free(
    effects: Effects, policy: TrialPolicy, is_sent: bool
) -> None:
    tool = FakeTool("weather", CITY, output={"city": "Oslo", "celsius": 3}, effects=effects)
    guess = Draft({"city": "Oslo"}, guessed=("city",))
    found = await attempts(tool, policy=policy).make(
        tool.tool, guess, ProvenanceIndex("weather in Oslo")
    )
    assert len(tool.calls) == is_sent
    if not is_sent:
        assert isinstance(found, str)
        assert "'city' would be a guess" in found
    sure = await attempts(tool, policy=policy).make(
        tool.tool, Draft({"city": "Oslo"}), ProvenanceIndex("weather in Oslo")
    )
    assert isinstance(sure, Attempt), "what is no guess is sent"


async def test_a_call_that_the_gate_refuses_never_leaves_and_is_a_parameter_mismatch() -> None:
    tool = FakeTool("weather", CITY)
    found = await made(tool, Draft({"city": {"name": "Oslo"}}))
    assert (tool.calls, found.called, found.observation.outcome) == (
        [],
        False,
        "parameter_mismatch",
    )


async def test_a_value_of_another_kind_than_the_schema_wants_proves_nothing() -> None:
    """That the reader took a text for an object is no fault of the tool."""
    place = {"place": {"$ref": "#/$defs/Place"}}
    schema = {
        "type": "object",
        "properties": place,
        "$defs": {"Place": {"type": "object", "properties": CITY}},
    }
    tool = FakeTool("weather", input_schema=schema)
    misread = await made(tool, Draft({"place": "Oslo"}))
    assert (misread.observation.outcome, misread.proves) == ("parameter_mismatch", False)
    sky = FakeTool("weather", {"sky": {"type": "string", "enum": ["clear", "cloudy"]}})
    assert (await made(sky, Draft({"sky": "purple"}))).proves, "it is said, and cannot be had"


async def test_a_reply_that_is_nested_without_end_ends_no_trial() -> None:
    deep: object = "x"
    for _ in range(3_000):
        deep = [deep]
    found = await made(FakeTool("weather", CITY, output={"city": deep}))
    assert (found.observation.kind, found.content) == ("too_large", None)


async def test_each_real_call_is_put_into_the_store_at_once() -> None:
    memory = Memory()
    found = await made(FakeTool("weather", CITY, output={"celsius": 3}), evidence=memory)
    assert memory.kept == [found.observation]
    assert (found.observation.reply, found.observation.at) == ('{"celsius":3}', NOW)


@pytest.mark.parametrize(
    ("kind", "age", "used"),
    [
        ("", 3_600, True),
        ("tool_error", 3_600, True),
        ("", 90_000, False),
        ("auth", 30, True),
        ("auth", 3_600, False),  # a key may have been given since
        ("empty", 3_600, False),  # something may have been recorded since
        ("irrelevant", 30, False),  # to another request
        ("timeout", 30, True),
        ("timeout", 90, False),
    ],
)
async def test_what_is_remembered_stands_in_while_it_is_fresh(
    kind: str, age: float, used: bool
) -> None:
    tool = FakeTool("weather", CITY, output={"celsius": 3})
    outcome = "execution_failure" if kind else "functional_success"
    seen = Observation(
        "weather", tool.tool.digest, outcome, {"city": "Oslo"}, "{}", kind, at=NOW - age
    )  # type: ignore[arg-type]
    found = await made(tool, evidence=Memory(seen))
    assert (found.remembered, len(tool.calls)) == (used, 0 if used else 1)


async def test_a_remembered_part_of_a_reply_is_no_use_where_the_whole_is_needed() -> None:
    tool = FakeTool("weather", CITY, output={"celsius": 3})
    seen = Observation(
        "weather", tool.tool.digest, "functional_success", {"city": "Oslo"}, '{"celsi…', at=NOW
    )
    maker = attempts(tool, evidence=Memory(seen))
    draft, sources = Draft({"city": "Oslo"}), ProvenanceIndex("weather in Oslo")
    part = await maker.make(tool.tool, draft, sources)
    whole = await maker.make(tool.tool, draft, sources, whole=True)
    assert isinstance(part, Attempt)
    assert isinstance(whole, Attempt)
    assert (part.whole, whole.whole, whole.content) == (False, True, {"celsius": 3})


async def test_what_the_ledger_holds_is_not_done_again() -> None:
    trace = Trace()
    first = await made(FakeTool("weather", CITY, output={"celsius": 3}), trace=trace)
    tool = FakeTool("weather", CITY, output={"celsius": 4})
    assert await made(tool, ledger=Ledger(trace.events)) == first
    assert tool.calls == []


async def test_a_tool_that_says_there_is_no_such_thing_works() -> None:
    said = Failure("tool_error", "no city is called 'Oslo'", status=404)
    assert not (await made(FakeTool("weather", CITY, output=said))).proves


async def test_a_failure_of_a_guess_proves_nothing_and_that_of_a_server_does() -> None:
    refused, down = (
        Failure("tool_error", "bad city", status=400),
        Failure("unavailable", "503", status=503),
    )
    tool = FakeTool("weather", CITY, output=in_order(refused, down))
    maker, guess = attempts(tool), Draft({"city": "Oslo"}, guessed=("city",))
    found = [
        await maker.make(tool.tool, guess, ProvenanceIndex("weather in Oslo")) for _ in range(2)
    ]
    assert [isinstance(f, Attempt) and f.proves for f in found] == [False, True]


async def test_a_tool_that_is_known_by_its_schema_only_was_not_tried() -> None:
    tool = FakeTool("weather", CITY, output=Failure("not_executable", "known by its schema only"))
    found = await attempts(tool).make(
        tool.tool, Draft({"city": "Oslo"}), ProvenanceIndex("weather in Oslo")
    )
    assert found == "could not be tried: known by its schema only"


class Rain:
    """A simulator that always says rain."""

    async def simulate(
        self, call: ToolCall, tool: Tool, query: str, error: Failure | None
    ) -> ToolResult:
        content = {"city": "Oslo", "sky": "rain"}
        return ToolResult(call.id, tool.name, call.arguments, content, simulated="model")


async def test_where_replies_are_only_simulated_no_tool_is_called() -> None:
    policy = TrialPolicy(simulate="only", sandbox=("*",), prices={"*": 0.0})
    tool = FakeTool("weather", CITY, output={"celsius": 3})
    found = await made(tool, policy=policy, simulator=Rain())
    assert (tool.calls, found.called, found.works) == ([], False, False)
    assert (found.observation.outcome, found.observation.simulated) == ("functional_success", True)
    nobody = await attempts(tool, policy=policy).make(
        tool.tool, Draft({"city": "Oslo"}), ProvenanceIndex("weather in Oslo")
    )
    assert nobody == "not tried: replies are only simulated"
