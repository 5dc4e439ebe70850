"""Plays one round of a turn over a few tools."""

from __future__ import annotations

import json
from typing import Any

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.turn import take_round
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, Replied, Returned
from callwright.nouns.types import (
    READ,
    WRITE,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.testing import FixedPlan

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


FIND = Tool("find_part", "Finds a part.", {"properties": {"name": TEXT}}, effects=READ)


ORDER = Tool("order", "Orders.", {"properties": {"code": TEXT, "pieces": NUMBER}}, effects=WRITE)


TOOLS = (FIND, ORDER)


NOTHING = '{"no_call": "done"}'


def lead_with(tools: tuple[Tool, ...], query: str, *results: ToolResult, **more: Any) -> LedContext:
    """A turn over these tools, with what came back so far."""
    facts = RunFacts(RunState(Asked(query), tools, results=results))
    plan = FixedPlan([])
    return LedContext(query=query, tools=tools, planner=plan, facts=facts, mode="schema", **more)


def led(query: str, *results: ToolResult) -> LedContext:
    return lead_with(TOOLS, query, *results)


def calls(*pairs: tuple[str, Any]) -> str:
    rows = [{"name": name, "arguments": arguments} for name, arguments in pairs]
    return json.dumps({"wishes": ["it"], "calls": rows})


def play(
    made: LedContext, replies: list[str], *outcomes: Returned, policy: LeadPolicy | None = None
) -> tuple[bool, list[str], list[str]]:
    """Whether a call was made, what was to be called, and the last words of each question."""
    steps, left, sent, asked = take_round(policy or LeadPolicy(), made), [*outcomes], [], []
    try:
        action = next(steps)
        while True:
            event: Any
            if isinstance(action, Ask):
                asked.append("".join(m.content for m in action.request.messages[-1:]))
                event = Replied(Reply(replies.pop(0)))
            else:
                assert isinstance(action, Execute)
                sent.append(" ".join(f"{c.tool}{json.dumps(c.arguments)}" for c in action.calls))
                event = left.pop(0)
            action = steps.send(event)
    except StopIteration as end:
        return end.value, sent, asked


def left(*called: str) -> Returned:
    return Returned([], left=[ToolCall("c", name, {}) for name in called])


LAMPS = (
    Tool("list_lamps", "Lists all lamps.", {"properties": {}}, effects=READ),
    Tool(
        "switch_lamp",
        "Switches a lamp.",
        {
            "properties": {"lamp_id": TEXT, "on": {"type": "boolean"}},
            "required": ["lamp_id", "on"],
        },
        effects=WRITE,
    ),
)


ROOMS = ToolResult(
    "r1",
    "list_lamps",
    {},
    [{"lamp_id": "L-1", "room": "kitchen"}, {"lamp_id": "L-2", "room": "hall"}],
)


def lit(query: str, *results: ToolResult, wishes: tuple[str, ...] = ()) -> LedContext:
    return lead_with(LAMPS, query, *results, wishes=wishes)


def off(lamp: str) -> str:
    return calls(("switch_lamp", {"lamp_id": lamp, "on": False}))
