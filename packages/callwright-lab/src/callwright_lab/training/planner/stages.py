"""The three stages of ComplexTool-Plan (Beyond ReAct, section ComplexTool-Plan), each a pure
function over drafts.

1. Workflow generation: the model designs a graph over the tools that were drawn.
2. Query reverse-engineering: it writes the request of a user whom that workflow serves.
3. Intent analysis and re-planning: it re-solves the request from the request alone; that graph is
   the label.

A stage takes a draft and returns it one step further, or dropped with the reason. It asks its
questions as a generator without I/O, so asyncio here, a blocking model in a worker of Ray Data
(:func:`through`) and the tests drive the same code. The paper's prompts are not published; these
are rebuilt from what it says of them. A reply that cannot be used is sent back once with what is
wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from zlib import crc32

from callwright.jsontext import JsonError, parse
from callwright.models.dialogue import BlockingModel
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Message, Reply, Tool
from callwright.planning.arrows import (
    build_schema,
    is_connected,
    read_reply,
    render_tools,
    strip_code_fence,
    write_arrows,
)
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.training.planner.drafts import Draft, from_json, to_json

Stage = Callable[[Draft], Generator[ChatRequest, Reply, Draft]]
T = TypeVar("T")

AGAIN = 1  # times that a reply is sent back
LONGEST = 1200  # characters of a query
_MAX_TOKENS = 512
_INVENTIVE = 0.8  # temperature of what is made up; the label is asked for at 0
_TOOL_TALK = re.compile(r"\b(?:tool|step) ?#?\d+\b|\bAPI\b|\bworkflow\b", re.IGNORECASE)


def generate_workflow(draft: Draft) -> Generator[ChatRequest, Reply, Draft]:
    """Stage 1: the draft with a workflow, connected and acyclic, of two tools or more."""
    messages = prompts.render(
        "workflow", tools=render_tools(draft.tools), used=_render_count(draft.wanted)
    )
    request = _build_request(messages, draft, build_schema(len(draft.tools), "goal"))
    found, wrong = yield from _ask_until_valid(
        request, lambda text: _parse_graph(text, draft.tools, least=2)
    )
    if found is None:
        return replace(draft, dropped=f"workflow: {wrong}")
    plan, goal = found
    return replace(draft, workflow=plan, goal=goal)


def generate_query(draft: Draft) -> Generator[ChatRequest, Reply, Draft]:
    """Stage 2: the draft with the request that its workflow serves, in a user's words."""
    assert draft.workflow is not None
    used = {s.tool for s in draft.workflow.slots}
    lines = [
        line
        for line, t in zip(render_tools(draft.tools).splitlines(), draft.tools, strict=True)
        if t.name in used
    ]
    edges = write_arrows(draft.workflow, draft.tools)
    messages = prompts.render(
        "workflow_query", goal=draft.goal or "not said", tools="\n".join(lines), edges=edges
    )
    wanted = closed_object(query={"type": "string", "maxLength": LONGEST})
    found, wrong = yield from _ask_until_valid(
        _build_request(messages, draft, wanted), lambda text: _parse_query(text, draft.tools)
    )
    return (
        replace(draft, query=found)
        if found is not None
        else replace(draft, dropped=f"query: {wrong}")
    )


def generate_plan(draft: Draft) -> Generator[ChatRequest, Reply, Draft]:
    """Stage 3: the draft with its label, re-solved from the request and all tools that are
    offered.
    """
    messages = prompts.render("workflow_replan", tools=render_tools(draft.tools), query=draft.query)
    request = replace(
        _build_request(messages, draft, build_schema(len(draft.tools), "intent")),
        temperature=0.0,
        seed=0,
    )
    found, wrong = yield from _ask_until_valid(
        request, lambda text: _parse_graph(text, draft.tools, least=1)
    )
    if found is None:
        return replace(draft, dropped=f"plan: {wrong}")
    plan, intent = found
    return replace(draft, plan=plan, intent=intent)


STAGES: tuple[Stage, ...] = (generate_workflow, generate_query, generate_plan)


def next_stage(draft: Draft) -> Stage | None:
    """The stage that a draft is ready for; None where it is finished."""
    if draft.finished:
        return None
    if draft.workflow is None:
        return generate_workflow
    if draft.query:
        return generate_plan
    return generate_query


def adapt_schemas(
    dialogue: Generator[ChatRequest, Reply, Draft], schemas: bool
) -> Generator[ChatRequest, Reply, Draft]:
    """A stage's questions as a model can take them: without a schema where it decodes by none."""
    try:
        request = next(dialogue)
        while True:
            request = dialogue.send((yield request if schemas else replace(request, schema=None)))
    except StopIteration as done:
        draft: Draft = done.value
        return draft


def through(line: str, model: BlockingModel) -> str:
    """A draft, as a line of the journal, through all stages that are left, with a model that
    blocks.

    It is what Ray Data maps over rows. A line and not an object: Arrow would give every tool the
    parameters of all others, empty.
    """
    draft = from_json(parse(line))
    schemas = model.capabilities().json_schema
    while stage := next_stage(draft):
        done = model.converse(adapt_schemas(stage(draft), schemas))
        draft = replace(done.value, tokens=draft.tokens + done.usage.total, by=model.model.name)
    return json.dumps(to_json(draft), ensure_ascii=False)


# ---------------------------------------------------------------- questions and what is made of
# replies


def _build_request(messages: tuple[Message, ...], draft: Draft, wanted: JsonObject) -> ChatRequest:
    seed = crc32(draft.id.encode()) % 2**31
    return ChatRequest(
        messages,
        "generate",
        schema=wanted,
        max_tokens=_MAX_TOKENS,
        temperature=_INVENTIVE,
        seed=seed,
    )


_HINTS = {
    "cycle": (
        " Every arrow leads from what is done earlier to what is done later, so no way along arrows"
        " leads back."
    ),
    "disconnected": " Join them with arrows, or leave out what is not joined.",
    "leak": " Say it as a user would who knows no such names, in everyday words.",
}
"""What a model is told beside what was wrong, by its kind."""


def _ask_until_valid(
    request: ChatRequest, read: Callable[[str], tuple[T | None, str]]
) -> Generator[ChatRequest, Reply, tuple[T | None, str]]:
    """Generate the requests for a readable reply, and return what it holds. If no reply can be
    read, the result is None and the problem of the last one.
    """
    asked = request
    for round in range(AGAIN + 1):
        reply = yield asked
        found, wrong = read(reply.text)
        if found is not None or round == AGAIN:
            return found, wrong
        again = prompts.render(
            "workflow_again", problem=f"{wrong}.{_HINTS.get(wrong.partition(':')[0], '')}"
        )
        asked = replace(
            request, messages=(*request.messages, Message("assistant", reply.text), *again)
        )
    raise AssertionError("the last round returns")


def _parse_graph(
    text: str, tools: Sequence[Tool], least: int
) -> tuple[tuple[Plan, str] | None, str]:
    """The graph of a reply with the thought beside it; the first problem where it cannot be
    used.
    """
    plan = read_reply(text, tools)
    if not isinstance(plan, Plan):
        return None, f"{plan.kind}: {plan.message}"
    for problem in plan.problems([t.name for t in tools]):
        return None, f"{problem.kind}: {problem.message}"
    if len(plan.slots) < least:
        return None, f"few: {least} tools are the least, and it uses {len(plan.slots)}"
    if not is_connected(plan):
        return None, "disconnected: not all of its tools are joined by arrows"
    value = _parse_object(text)
    return (plan, str(value.get("goal") or value.get("intent") or "")), ""


def _parse_query(text: str, tools: Sequence[Tool]) -> tuple[str | None, str]:
    found = _parse_object(text).get("query")
    if not isinstance(found, str) or not found.strip():
        return None, 'syntax: not a JSON object with a text "query"'
    found = " ".join(found.split())
    if len(found) > LONGEST:
        return None, f"long: {len(found)} characters, {LONGEST} are the most"
    if leaked := next(
        (t.name for t in tools if _is_code(t.name) and t.name.lower() in found.lower()), None
    ):
        return None, f"leak: it names the tool {leaked}"
    if told := _TOOL_TALK.search(found):
        return None, f"leak: it speaks of tools ({told[0]})"
    return found, ""


def _is_code(name: str) -> bool:
    """Return True if a tool's name is an identifier rather than a word that a user might write."""
    return bool(re.search(r"[_\d.:/-]|[a-z][A-Z]", name))


def _parse_object(text: str) -> Mapping[str, Any]:
    try:
        value = parse(strip_code_fence(text))
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def _render_count(wanted: int) -> str:
    return f"{wanted}" if wanted == 2 else f"{wanted - 1} to {wanted}"
