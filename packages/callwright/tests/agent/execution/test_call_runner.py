"""One call on its way: what it changes for the run does not depend on how fast others are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright import Limits, Orchestrator, Run
from callwright.agent.options import Safety
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ_LOCAL, WRITE, Message
from callwright.testing import FakeTool, ScriptedModel, fake_source

TEXT = {"type": "string"}


SHORT = {"type": "string", "maxLength": 2}


class OneLayer:
    name = "fixed"

    def plan(self, query: str, tools: Any) -> Plan:
        return Plan.from_layers([[t.name for t in tools]])


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


async def run(tools: list[FakeTool], calls: list[dict[str, Any]], **options: Any) -> Run:
    said = {"statements": [{"text": "Done.", "results": []}], "missing": []}
    model = ScriptedModel({"bind": [{"calls": calls}], "repair": {"x": "not repaired"}, "*": said})
    setup = Orchestrator([fake_source(*tools)], model=model, planner=OneLayer(), **options)
    return await setup.run("Write alpha and beta and gamma.")


ORDERS = {  # language -> (no number, 36 in words, 36 in digits)
    "en": (
        "Order some of the lamps for us.",
        "Order thirty-six of the lamps for us.",
        "Order 36 of the lamps for us.",
    ),
    "de": (
        "Bestelle bitte die Lampen für uns.",
        "Bestelle bitte sechsunddreißig von den Lampen für uns.",
        "Bestelle bitte 36 von den Lampen für uns.",
    ),
    "es": (
        "Pide unas lámparas para nosotros y para el despacho.",
        "Pide treinta y seis lámparas para nosotros y para el despacho.",
        "Pide 36 lámparas para nosotros y para el despacho.",
    ),
    "zh": ("请订购一些台灯", "请订购三十六盏台灯", "请订购36盏台灯"),
    "ar": ("اطلب بعض المصابيح إلى المكتب", "اطلب ستة وثلاثين مصباحا إلى المكتب", "اطلب ٣٦ مصباحا إلى المكتب"),
}  # fmt: skip


async def asked(
    query: str,
    tools: list[FakeTool],
    calls: list[dict[str, Any]],
    strategy: str = "layered",
    before: Sequence[Message] = (),
) -> Run:
    answered = {"statements": [], "missing": []}
    turns = [{"thought": "", "action": made} for made in calls]
    turns.append({"thought": "", "action": {"tool": "finish", "reason": "-"}})
    binds = turns if strategy == "react" else [{"calls": [made]} for made in calls]
    model = ScriptedModel({"bind": binds, "repair": {}, "*": answered})
    setup = Orchestrator(
        [fake_source(*tools)],
        model=model,
        planner=OneLayer(),
        strategy=strategy,
        safety=Safety(allow=["*"]),
    )
    return await setup.run(query, before)


async def test_a_call_gets_the_day_that_the_user_names() -> None:
    parts = {"what": {"type": "string"}, "day": {"type": "string", "format": "date"}}
    tool = FakeTool("enter", parts, effects=WRITE, output="ok")
    made = call("enter", what="visit", day="2026-03-14")
    before = [Message("system", "Today is 2026-03-12.")]
    query = "Enter the visit to the warehouse for tomorrow."
    done = await asked(query, [tool], [made], before=before)
    assert tool.calls == [{"what": "visit", "day": "2026-03-13"}]
    (checked,) = [e.data for e in done.events if e.kind == "call.checked"]
    assert [(e["path"], e["rule"]) for e in checked["edits"]] == [("/day", "named_day")]


async def test_an_optional_value_that_nobody_said_is_left_out_and_listed() -> None:
    more = {"priority": {"type": "integer"}, "express": {"type": "boolean"}}
    tool = FakeTool(
        "order",
        {"quantity": {"type": "integer"}, **more},
        required=["quantity"],
        effects=WRITE,
        output="ok",
    )
    made = call("order", quantity=36, priority=7, express=True)
    done = await asked(ORDERS["en"][2], [tool], [made])
    assert tool.calls == [{"quantity": 36}]
    (checked,) = [e.data for e in done.events if e.kind == "call.checked"]
    assert [(e["path"], e["before"], e["rule"]) for e in checked["edits"]] == [
        ("/priority", 7, "drop_unsourced"),
        ("/express", True, "drop_unsourced"),
    ]


async def test_a_call_that_cannot_be_repaired_is_left_out() -> None:
    tools = [FakeTool("tag", {"x": SHORT}, output="ok", effects=READ_LOCAL)]
    done = await run(tools, [call("tag", x="alpha")], limits=Limits(repairs=5))
    assert [s.tool for s in done.skips if s.refused] == ["tag"]


async def test_a_write_with_an_argument_that_its_tool_lacks_is_asked_about_once_more() -> None:
    tool = FakeTool("delete", {"path": TEXT}, effects=WRITE, output="ok")
    said = {"statements": [{"text": "Done.", "results": []}], "missing": []}
    first = [call("delete", path="alpha", dry_run=True)]
    model = ScriptedModel({"bind": [{"calls": first}], "repair": {"path": "alpha"}, "*": said})
    options: dict[str, Any] = {"model": model, "safety": Safety(allow=["*"])}
    setup = Orchestrator([fake_source(tool)], planner=OneLayer(), **options)
    await setup.run("Delete alpha.")
    (question,) = (r for r in model.requests if r.purpose == "repair")
    assert "Unknown key 'dry_run'. Known keys: 'path'." in question.messages[-1].content
    assert tool.calls == [{"path": "alpha"}], "the model has said what it means"
    none = FakeTool("delete", {"path": TEXT}, effects=WRITE, output="ok")
    done = await run([none], first, limits=Limits(repairs=0), safety=Safety(allow=["*"]))
    assert none.calls == []
    assert [s.tool for s in done.skips if s.refused] == ["delete"]
