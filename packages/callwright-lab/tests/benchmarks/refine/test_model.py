"""The refiner asks once about what a reader found; its usage is counted."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import READ, Message, Reply, Tool, Usage
from callwright.repair.by_model.harm_bound import Cut, HarmBound, Measured
from callwright.repair.by_model.harm_score import HarmScore
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.refine.model import join_conversation, make_model_readers
from callwright_lab.benchmarks.refine.task import Found, Recorded, Task
from callwright_lab.parallel import SharedModel

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


def read(
    model: ScriptedModel,
    reply: Recorded,
    task: Task = TASK,
    settings: RefinerSettings | None = None,
    name: str = "model",
) -> Found:
    with SharedModel(model) as shared:
        return make_model_readers(shared, settings or RefinerSettings())[name](reply, task)


def test_the_model_gives_the_call_that_the_reply_only_talks_about() -> None:
    said = '<func_call>[{"name": "get_weather", "arguments": {"city": "Graz"}}]</func_call>'
    model = ScriptedModel([Reply(said, usage=Usage(30, 12))])
    found = read(model, Recorded("1", "m", {"content": "I ask the weather tool about Graz."}))
    assert found.to_json() == [{"name": "get_weather", "arguments": {"city": "Graz"}}]
    assert found.usage.total == 42
    assert "model" in [e.rule for e in found.edits]
    assert "Be brief." in "\n".join(m.content for m in model.requests[0].messages)
    assert model.closed


def test_an_answer_that_cannot_be_used_changes_nothing() -> None:
    found = read(ScriptedModel(["I do not know."]), Recorded("1", "m", {"content": RIGHT}))
    assert found.to_json() == [{"name": "get_weather", "arguments": {"city": "Graz"}}]
    assert found.edits == ()


def test_api_bank_is_asked_for_in_its_own_format_and_read_in_it() -> None:
    said = '<tool_call>{"name": "get_weather", "parameters": {"city": "Graz"}}</tool_call>'
    model = ScriptedModel([said])
    reply = Recorded("1", "m", {"content": "I ask the weather tool."})
    found = read(model, reply, replace(TASK, set="api_bank"))
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
        reply = Recorded("1", upstream, {"content": "I ask the weather tool."})
        found = read(ScriptedModel([said]), reply, TASK, settings)
        assert [c.arguments for c in found.calls] == ([{"city": city}] if city else [])


def test_the_adapter_alone_sees_the_reply_as_written_and_is_sent_without_a_guard() -> None:
    wrong = '{"name": "get_weather", "arguments": {"cit": "Graz"}}'
    invented = '<func_call>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</func_call>'
    reply = Recorded("1", "m", {"content": wrong})
    guarded = read(ScriptedModel([invented]), reply)
    assert [c.arguments for c in guarded.calls] == [{"city": "Graz"}]
    model = ScriptedModel([invented])
    alone = read(model, reply, name="adapter")
    assert [c.arguments for c in alone.calls] == [{"city": "Oslo"}]
    assert wrong in model.requests[0].messages[-1].content
    assert (guarded.refused, alone.refused) == ((), None)


def test_an_unreadable_answer_of_the_adapter_leaves_what_was_plainly_read() -> None:
    for text, kept in ((RIGHT, [{"city": "Graz"}]), (RIGHT[:-1], [])):
        reply = Recorded("1", "m", {"content": text})
        found = read(ScriptedModel(["I do not know."]), reply, name="adapter")
        assert [c.arguments for c in found.calls] == kept


def test_a_bound_is_for_the_refiner_behind_the_rules() -> None:
    cut = Cut(HarmScore(-3.0, {"lost": 9.0}), 0.5, 1600, 0, 0.0019, 5, 9, "rows")
    measured = Measured("mine", "m", "paper", 768)
    bound = HarmBound(measured, 0.002, 0.95, "sha256:0", {"plain": cut})
    settings = RefinerSettings(refiner="mine", bound=bound)
    reply = Recorded("1", "m", {"content": RIGHT})
    said = '<func_call>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</func_call>'
    found = read(ScriptedModel([said]), reply, TASK, settings, "adapter")
    assert [c.arguments for c in found.calls] == [{"city": "Oslo"}]


def test_calls_beside_a_text_are_shown_to_the_model() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Graz"}'}
    message = {"content": "I look it up.", "tool_calls": [{"id": "1", "function": function}]}
    for name in ("model", "adapter"):
        model = ScriptedModel(["I do not know."])
        read(model, Recorded("1", "m", message), name=name)
        shown = model.requests[0].messages[-1].content
        call = '{"name": "get_weather", "arguments": {"city": "Graz"}}'
        assert f"<func_call>[{call}]</func_call>" in shown


def test_the_model_is_shown_all_that_was_said() -> None:
    turns = (Message("user", "Graz."), Message("assistant", "And?"), Message("user", "Weather?"))
    assert join_conversation(TASK) == "How warm is it in Graz?"
    task = replace(TASK, messages=(TASK.messages[0], *turns))
    assert join_conversation(task) == "USER: Graz.\nASSISTANT: And?\nUSER: Weather?"


def test_what_the_gate_refuses_is_said_until_the_model_changes_it() -> None:
    reply = Recorded("1", "m", {"content": '{"name": "get_weather", "arguments": {}}'})
    task = replace(TASK, messages=(Message("user", "How warm is it there? I mean GRAZ"),))
    refused = read(ScriptedModel(["I do not know."]), reply, task)
    assert refused.refused
    said = '<func_call>[{"name": "get_weather", "arguments": {"city": "GRAZ"}}]</func_call>'
    assert read(ScriptedModel([said]), reply, task).refused == ()
