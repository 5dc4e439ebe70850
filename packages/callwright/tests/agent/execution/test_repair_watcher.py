"""Questions about one call, as the trace has them."""

from __future__ import annotations

from typing import Any

from callwright import Orchestrator
from callwright.agent.options import Persistence
from callwright.nouns.trace import MemorySink
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, ScriptedModel, fake_source
from tests.agent.execution.test_call_runner import SHORT, OneLayer, call


async def trace(repaired: Any) -> list[tuple[str, dict[str, Any]]]:
    said = {"statements": [{"text": "Done.", "results": []}], "missing": []}
    wrong = {"calls": [call("look", x="alphabet")]}
    model = ScriptedModel({"bind": [wrong], "repair": repaired, "*": said})
    sink = MemorySink()
    tool = FakeTool("look", {"x": SHORT}, output="ok", effects=READ_LOCAL)
    setup = Orchestrator(
        [fake_source(tool)],
        model=model,
        planner=OneLayer(),
        persistence=Persistence(sinks=[sink]),
    )
    await setup.run("Look up ab.")
    kinds = ("call.refused", "call.repair", "skip")
    return [(event.kind, event.data) for event in sink.events if event.kind in kinds]


async def test_what_the_gate_refused_and_what_a_model_made_of_it_are_recorded() -> None:
    refused, repair = await trace({"x": "ab"})
    assert refused[0] == "call.refused"
    assert [one["keyword"] for one in refused[1]["violations"]] == ["maxLength"]
    assert repair[0] == "call.repair"
    told = repair[1]
    assert (told["before"], told["after"], told["tier"]) == ({"x": "alphabet"}, {"x": "ab"}, 2)


async def test_a_call_that_no_question_repaired_is_recorded_as_refused_alone() -> None:
    kinds = [kind for kind, _ in await trace({"x": "still too long"})]
    assert "call.repair" not in kinds
    assert kinds[0] == "call.refused"
    assert "skip" in kinds
