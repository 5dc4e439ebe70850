"""Planning tasks small enough for a tiny random model, and the settings of a toy run."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import PlanExample, example_from_graph
from callwright_lab.training.planner.settings import CPU

TOY = replace(
    CPU, model="", rate=1e-3, steps=2, batch=2, group=4, attempts=2, longest=24, context=4000, sft_rate=1e-2,
    sft_batch=2, sft_steps=2, shared=False, save_every=1, top=0, micro=8,
)  # fmt: skip


def task(number: int, edges: tuple[tuple[str, str], ...] = (("find", "buy"),)) -> PlanExample:
    """Find, look at and buy thing ``number``; gold uses what has an edge, or ``look`` alone."""
    tools = [Tool("find"), Tool("look"), Tool("buy"), Tool(f"other_{number}")]
    gold = sorted({n for edge in edges for n in edge}) or [f"other_{number}"]
    made = example_from_graph(
        f"task-{number}", "toy", f"Buy thing {number}.", tools, gold, edges, "dependency"
    )
    assert made is not None
    return made


def tasks(count: int = 6) -> list[PlanExample]:
    """Tasks of several sets of gold tools, so that every fold has some."""
    shapes: list[tuple[tuple[str, str], ...]] = [
        (("find", "buy"),), (("find", "look"),), (("look", "buy"),), (("find", "look"), ("look", "buy")),
    ]  # fmt: skip
    return [task(n, () if n % 5 == 4 else shapes[n % 4]) for n in range(count)]
