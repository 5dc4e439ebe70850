"""One call on its way: what it changes for the run does not depend on how fast others are."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.store import list_journals
from callwright.agent.options import Persistence, Safety
from callwright.agent.strategies.dag import Given
from callwright.nouns.errors import ModelError
from callwright.nouns.plan import Plan
from callwright.nouns.trace import MemorySink
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


async def test_what_is_left_out_is_listed_in_call_order_whoever_is_refused_first() -> None:
    slow = asyncio.Event()

    async def wait(**arguments: Any) -> str:
        await slow.wait()
        return "late"

    def fast(**arguments: Any) -> str:
        slow.set()
        return "early"

    tools = [
        FakeTool("first", {"x": TEXT}, output=wait, effects=READ_LOCAL),
        FakeTool("second", {"x": TEXT}, output=fast, effects=READ_LOCAL),
    ]
    done = await run(tools, [call("first", x="alpha"), call("second", x="beta")])
    assert [r.content for r in done.results] == ["late", "early"]


async def test_a_write_is_intended_before_it_leaves_and_a_read_is_not() -> None:
    sink = MemorySink()
    seen: list[list[str]] = []

    def note(**arguments: Any) -> str:
        seen.append([e.kind for e in sink.events])
        return "ok"

    tools = [
        FakeTool("write", {"x": TEXT}, output=note, effects=WRITE),
        FakeTool("look", {"x": TEXT}, output="ok"),
    ]
    await run(
        tools,
        [call("write", x="alpha"), call("look", x="beta")],
        persistence=Persistence(sinks=[sink]),
    )
    assert "intent" in seen[0]
    [intent] = [e.data for e in sink.events if e.kind == "intent"]
    assert (intent["tool"], intent["arguments"], intent["attempt"]) == ("write", {"x": "alpha"}, 1)


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


def ordering() -> FakeTool:
    return FakeTool("order", {"quantity": {"type": "integer"}}, effects=WRITE, output="ok")


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


@pytest.mark.parametrize("strategy", ["layered", "react"])
@pytest.mark.parametrize("code", ORDERS)
async def test_a_write_with_a_value_that_nobody_said_never_leaves(code: str, strategy: str) -> None:
    some, words, digits = ORDERS[code]
    for said in (words, digits):
        tool = ordering()
        await asked(said, [tool], [call("order", quantity=36)], strategy)
        assert tool.calls == [{"quantity": 36}]
    tool = ordering()
    done = await asked(some, [tool], [call("order", quantity=36)], strategy)
    assert tool.calls == []
    assert done.status != "answered"
    assert any("'quantity'" in one and "36" in one for one in done.answer.missing)


async def test_a_later_result_may_give_the_value_that_was_kept_back() -> None:
    look = FakeTool("stock", {}, output={"left": 36}, effects=READ_LOCAL)
    tool, made = ordering(), call("order", quantity=36)
    calls = [made, call("stock"), made]
    done = await asked("Order what is left of the lamps.", [tool, look], calls, "react")
    assert tool.calls == [{"quantity": 36}]
    assert not any("quantity" in one for one in done.answer.missing)


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


async def test_the_values_of_a_given_plan_are_somebodys_own() -> None:
    mail = {"type": "string", "format": "email"}
    own = {"to": "ann@example.com", "page": 7}
    tool = FakeTool(
        "send",
        {"to": mail, "page": {"type": "integer"}},
        required=["to"],
        effects=WRITE,
        output="ok",
    )
    (slot,) = Plan.from_layers([["send"]]).slots
    given = Plan((dataclasses.replace(slot, arguments=own),))
    model = ScriptedModel({"*": {"statements": [], "missing": []}})
    options: dict[str, Any] = {"model": model, "safety": Safety(allow=["*"])}
    await Orchestrator([fake_source(tool)], strategy=Given(given), **options).run("Write to Ann.")
    assert tool.calls == [own]
    await asked("Write to Ann.", [tool], [call("send", **own)])
    assert tool.calls == [own], "a model's own values are judged"


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


@pytest.mark.parametrize("returned", [None, "", []])
async def test_a_write_that_returns_nothing_is_told_as_done(returned: Any) -> None:
    tool = FakeTool("notify", {"to": TEXT}, output=returned, effects=WRITE)
    done = await run([tool], [call("notify", to="beta")])
    assert (done.status, done.answer.text) == ("answered", "Done.")
    assert [one.content for one in done.results] == [{"done": True}]


@pytest.mark.parametrize("error", [ModelError("dead"), ZeroDivisionError("dead")])
async def test_a_write_comes_back_before_the_model_that_died_beside_it_ends_the_run(
    error: Exception, tmp_path: Path
) -> None:
    """The question about one call ended the other in the middle, which was in doubt then."""
    said = {"statements": [{"text": "Done.", "results": ["r1"]}], "missing": []}
    calls = {"calls": [call("book", x="alpha"), call("look", x="Oslo")]}

    async def slow(**_: Any) -> str:
        await asyncio.sleep(0.05)
        return "B7"

    def build(repair: Any) -> tuple[Orchestrator, FakeTool]:
        book = FakeTool("book", {"x": TEXT}, output=slow, effects=WRITE)
        look = FakeTool("look", {"x": SHORT}, output="ok", effects=READ_LOCAL)
        model = ScriptedModel({"bind": calls, "repair": repair, "*": said})
        kept = Persistence(journal=tmp_path)
        source, planner = fake_source(book, look), OneLayer()
        return Orchestrator([source], model=model, planner=planner, persistence=kept), book

    with pytest.raises(type(error), match="dead"):
        await build(error)[0].run("Book alpha and look at Oslo.")
    again, book = build({"x": "Os"})
    done = await again.resume(list_journals(tmp_path)[0])
    assert (done.in_doubt, book.calls) == ((), [])
    assert [r.content for r in done.results if r.tool == "book"] == ["B7"]
