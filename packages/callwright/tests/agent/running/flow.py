"""A flow of two layers with a scripted model and fake tools."""

from __future__ import annotations

from typing import Any

from callwright import Orchestrator, Run
from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source

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


LONG = "word " * 1_000


FOUND = calls(call("find_airport", city="Oslo"))


def find_capital(country: str) -> str:
    """The capital of a country."""
    return "Oslo"


CAPITAL = "What is the capital of Norway?"


ASKED = {"bind": calls(call("find_capital", country="Norway")), "answer": said("Oslo.", "r1")}


def order_step(strategy: str, calls: list[dict[str, Any]]) -> Any:
    """The calls in the form of a strategy's question."""
    if strategy == "react":
        end = {"tool": "finish", "reason": "done"}
        return {"thought": "", "action": calls[0] if calls else end}
    if strategy == "guided":
        named = [{"name": one["tool"], "arguments": one["arguments"]} for one in calls]
        return {"wishes": ["it"], "calls": named} if calls else {"no_call": "done"}
    return {"useful": ["order"], "calls": calls} if calls else {"useful": ["none"], "reason": "-"}
