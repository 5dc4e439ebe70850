"""How users type against Callwright. Checked by mypy, never run."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, assert_type

from pydantic import BaseModel

from callwright import (
    Answer,
    Interaction,
    Limits,
    Orchestrator,
    Persistence,
    Plan,
    Run,
    Safety,
    ToolCall,
    ToolSelection,
    TypedRun,
    tool,
)
from callwright.nouns.types import CheckedCall
from callwright.repair.gate import Gate, Refusal


@tool
def population(city: str) -> int:
    """How many people live in a city."""
    return len(city)


plain: int = population("Oslo")
orchestrator = Orchestrator(
    [population, "examples/desk"], strategy="layered", limits=Limits(repairs=2)
)


careful = Orchestrator(
    [population],
    safety=Safety(allow=["send_*"], freeze="plan"),
    selection=ToolSelection(shortlist=8, trials="read-only"),
    persistence=Persistence(journal=True),
    interaction=Interaction(mode="schema"),
)


async def main() -> str:
    async with orchestrator as opened:
        run: Run = await opened.run("How many people live in Oslo?")
    answer: Answer = run.answer
    plan: Plan = run.plan
    return answer.text + str(plan.layers)


def check(gate: Gate, call: ToolCall) -> CheckedCall | None:
    verdict = gate.check(call)
    return None if isinstance(verdict, Refusal) else verdict


class Town(TypedDict):
    people: int


@dataclass
class City:
    people: int


class Village(BaseModel):
    people: int


async def outputs() -> None:
    city = await orchestrator.run("?", output_type=City)
    assert_type(city, TypedRun[City])
    assert_type(city.output, City | None)
    assert_type((await orchestrator.run("?", output_type=Town)).output, Town | None)
    assert_type(orchestrator.run_sync("?", output_type=Village).output, Village | None)
    assert_type(orchestrator.run_sync("?", output_type=list[int]).output, list[int] | None)
    assert_type(await orchestrator.run("?"), Run)
    assert_type(await orchestrator.run("?", output_type=None), Run)
    assert_type(await orchestrator.run("?", output_type=City | None), TypedRun[Any])
    assert_type(orchestrator.run_sync("?", output_type=Literal["a", "b"]), TypedRun[Any])
    made = await orchestrator.run("?", output_type={"type": "object"})
    as_any: Run = made
    assert_type(as_any.answer, Answer)


def one_source() -> None:
    Orchestrator(population, instructions="Be brief.", model_profile="large")
    Orchestrator("tools.py")
    Orchestrator([population], modle="local")  # type: ignore[call-arg]
    Orchestrator([population], dry_run=True)  # type: ignore[call-arg]


async def next_turn() -> None:
    first = await orchestrator.run("?", [{"role": "user", "content": "Hello"}])
    await orchestrator.run("And then?", first.messages())
    async with aclosing(orchestrator.stream("?")) as events:
        async for _ in events:
            pass
