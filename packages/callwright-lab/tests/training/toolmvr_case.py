"""Trajectories small enough for a tiny random model, and the settings of a toy run."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolResult
from callwright_lab.training.toolmvr.settings import CPU

FIND = Tool(
    "find_shop",
    "Finds a shop. More follows.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "open_on": {"type": "string"}},
        "required": ["city"],
    },
)
PRICE = Tool(
    "price_of",
    "Says what a thing costs in a shop.",
    {
        "type": "object",
        "properties": {"shop_id": {"type": "string"}, "thing": {"type": "string"}},
        "required": ["shop_id", "thing"],
    },
)
TOY = replace(
    CPU, model="", sft_rate=1e-2, steps=4, sft_batch=2, micro=1, context=6000, longest=24, save_every=2, top=0,
    epochs=2,
)  # fmt: skip


def bought(number: int = 0) -> Trajectory:
    """Find a shop, then ask what something costs there."""
    found = {"shop_id": f"S-{4400 + number}"}
    first = ToolCall("call_1", "find_shop", {"city": "Bari", "open_on": "Monday"})
    second = ToolCall("call_2", "price_of", {"shop_id": found["shop_id"], "thing": f"ink {number}"})
    given = first.arguments, second.arguments
    came = (found, 7.5)
    results = [
        ToolResult(call.id, call.tool, arguments, content)  # type: ignore[arg-type]
        for call, arguments, content in zip((first, second), given, came, strict=True)
    ]
    steps = (
        Step("Look for a shop.", (first,), (results[0],)),
        Step("Ask the price.", (second,), (results[1],)),
    )
    query = f"What does ink {number} cost in Bari on Monday?"
    return Trajectory(f"bought-{number}", query, (FIND, PRICE), steps, "7.50")
