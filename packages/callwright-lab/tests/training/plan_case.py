"""A catalogue of fourteen tools, and a model that designs, asks and plans by rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import Tool
from callwright.testing import ScriptedModel

KINDS = ("hotel", "flight", "room", "invoice", "guest", "city", "weather")


def catalogue() -> list[Tool]:
    """Seven kinds of things, each with a tool that finds it and one that uses it."""
    text = {"type": "string"}
    made = []
    for kind in KINDS:
        found = {"type": "object", "properties": {f"{kind}_id": text}}
        made.append(
            Tool(
                f"find_{kind}",
                f"Finds a {kind}.",
                {"type": "object", "properties": {"name": text}},
                found,
            )
        )
        needs = {"type": "object", "properties": {f"{kind}_id": text}, "required": [f"{kind}_id"]}
        made.append(Tool(f"show_{kind}", f"Shows a {kind} by its id.", needs))
    return made


def numbers(request: ChatRequest) -> list[str]:
    """The numbers of the tools that a question lists."""
    return re.findall(r"^(\d+)\. ", request.messages[-1].content, re.MULTILINE)


def stage_of(request: ChatRequest) -> str:
    """workflow, query or plan."""
    keys = list((request.schema or {})["properties"])
    return {"goal": "workflow", "query": "query", "intent": "plan"}[keys[0]]


def chain(names: list[str]) -> str:
    return ", ".join(f"{a}->{b}" for a, b in pairwise(names)) or names[0]


def by_rule(request: ChatRequest) -> dict[str, Any]:
    """A chain of the first two tools as workflow, a request of its own, and the same chain as
    plan.
    """
    stage = stage_of(request)
    if stage == "query":
        return {"query": f"Please do what {request.seed} asks for."}
    return {
        "goal" if stage == "workflow" else "intent": "to get it done",
        "DAG": chain(numbers(request)[:2]),
    }


def planning_model(
    answer: Callable[[ChatRequest], Any] = by_rule, schemas: bool = True
) -> ScriptedModel:
    return ScriptedModel(answer, name="planning", capabilities=Capabilities(json_schema=schemas))
