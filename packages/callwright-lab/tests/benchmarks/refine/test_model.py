"""The refiner asks once about what the rules left; its usage is counted."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import READ, Message, Reply, Tool, Usage
from callwright.repair.by_model.harm_bound import Cut, HarmBound, Measured
from callwright.repair.by_model.harm_score import HarmScore
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.refine.model import ModelReader
from callwright_lab.benchmarks.refine.task import Recorded, Task

TOOL = Tool(
    "get_weather", "Weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}, effects=READ,
)  # fmt: skip
TASK = Task(
    "1",
    "s",
    "c",
    (Message("system", "Be brief."), Message("user", "How warm is it in Graz?")),
    (TOOL,),
)
RIGHT = '{"name": "get_weather", "arguments": {"city": "Graz"}}'


def test_the_model_gives_the_call_that_the_reply_only_talks_about() -> None:
    said = '<func_call>[{"name": "get_weather", "arguments": {"city": "Graz"}}]</func_call>'
    model = ScriptedModel([Reply(said, usage=Usage(30, 12))])
    with ModelReader(model) as reader:
        found = reader(Recorded("1", "m", {"content": "I ask the weather tool about Graz."}), TASK)
    assert found.to_json() == [{"name": "get_weather", "arguments": {"city": "Graz"}}]
    assert found.usage.total == 42
    assert "model" in [e.rule for e in found.edits]
    assert "Be brief." in "\n".join(m.content for m in model.requests[0].messages)
    assert model.closed


def test_an_answer_that_cannot_be_used_changes_nothing() -> None:
    with ModelReader(ScriptedModel(["I do not know."])) as reader:
        found = reader(
            Recorded(
                "1", "m", {"content": '{"name": "get_weather", "arguments": {"city": "Graz"}}'}
            ),
            TASK,
        )
    assert found.to_json() == [{"name": "get_weather", "arguments": {"city": "Graz"}}]
    assert found.edits == ()


def test_api_bank_is_asked_for_in_its_own_format_and_read_in_it() -> None:
    said = '<tool_call>{"name": "get_weather", "parameters": {"city": "Graz"}}</tool_call>'
    model = ScriptedModel([said])
    with ModelReader(model) as reader:
        found = reader(
            Recorded("1", "m", {"content": "I ask the weather tool."}),
            replace(TASK, set="api_bank"),
        )
    assert found.to_json() == [{"name": "get_weather", "arguments": {"city": "Graz"}}]
    asked = model.requests[0].messages[-1].content
    assert asked.endswith("please enclose them in quotes to output them as strings.")
    assert "<func_call>" not in asked


def test_the_settings_of_a_refiner_decide_and_replies_name_their_upstream() -> None:
    said = '<func_call>[{"name": "get_weather", "arguments": {"city": "Rome"}}]</func_call>'
    cut = Cut(HarmScore(-3.0, {"lost": 9.0}), 0.5, 1600, 0, 0.0019, 5, 9, "rows")
    measured = Measured("mine", "m", "paper", 768)
    bound = HarmBound(measured, 0.002, 0.95, "sha256:0", {"plain": cut})
    bounded = RefinerSettings(refiner="mine", bound=bound)
    for settings, upstream, city in (
        (RefinerSettings(), "m", None),
        (RefinerSettings(is_guarded=False), "m", "Rome"),
        (bounded, "m", "Rome"),
        (bounded, "another", None),
    ):
        with ModelReader(ScriptedModel([said]), settings) as reader:
            found = reader(Recorded("1", upstream, {"content": "I ask the weather tool."}), TASK)
        assert [c.arguments for c in found.calls] == ([{"city": city}] if city else [])
