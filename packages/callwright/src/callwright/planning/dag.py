"""One DAG asked of a model before anything runs (Wei et al., 2025, "Beyond ReAct", section "Problem
Formulation").

The model gets the request and the tools and writes all steps at once; whatever form it writes is
read (:mod:`planning.notation`). What :meth:`Plan.problems` finds (a cycle, an unknown tool, a
reference to nothing) is sent back, a few times at most; of a plan that is still unsound the sound
part is taken. Steps that need nothing from each other, and plans of one step or none, are legal. A
generator without I/O, like every dialogue here.

Beyond the paper: its planner writes tools and edges, and the executor's model fills the arguments
in further questions. Here the arguments stand in the plan, with references to what earlier steps
return, and are asked for later only where the plan leaves them open.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callwright import prompts
from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Problem, Slot, find_references
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import JsonObject, Message, Reply, Tool
from callwright.planning.notation import read_plan
from callwright.schema.normalize import closed_object, required_first

ROUNDS = 2  # times that a plan is sent back
_MOST = 40  # steps of a plan
_SHOWN = 4_000  # characters of an unsound reply that is sent back
_PROBLEMS = 8  # of one plan that are told
_REFERENCE = r"^\$\{[0-9]+(\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]+\])*\}$"
_NARROWING = {"enum", "const", "format", "pattern", "not", "if", "$ref", "anyOf", "oneOf", "allOf"}
_FORMATS: Mapping[ReplyMode, str] = {
    "schema": (
        'Reply with JSON: {"steps": [{"step": 1, "tool": ..., "after": [numbers of the steps whose'
        ' results it needs], "arguments": {...}}, ...]}. If no tool is needed: {"steps": []}'
    ),
    "text": (
        "Write one numbered step a line, and nothing else:\n1. tool_name(argument=value, ...)\n"
        '2. other_tool(argument="${1.field}", ...)\n3. join()\nThe last line is always join().'
    ),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Request for a plan. ``shown`` are the tools as the model sees them, in the order of
    ``tools``.

    ``known``: further information for the model, as lines (an order that was found without it,
    results so far). ``finished`` are slots of the run's plan so far; a new plan may refer to their
    results by their ids.
    """

    query: str
    tools: tuple[Tool, ...]
    shown: str
    mode: ReplyMode = "schema"
    known: str = ""
    conversation: tuple[Message, ...] = ()
    finished: frozenset[str] = frozenset()
    reply_tokens: int = 512


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan that can run, and what was wrong with the last reply, if anything was still wrong
    then.

    ``plan`` is None where no reply held a plan at all.
    """

    plan: Plan | None
    problems: tuple[str, ...] = ()


def plan_dialogue(asked: Asked, rounds: int = ROUNDS) -> Generator[ChatRequest, Reply, Draft]:
    """Ask for a plan, and at most ``rounds`` times again, saying what was wrong. Raises nothing for
    what is said.
    """
    request = build_question(asked)
    best: Plan | None = None
    while True:
        reply = yield request
        plan, wrong = judge_reply(reply.text, asked)
        best = plan if plan is not None else best
        if not wrong or not rounds:
            part = (
                None
                if best is None
                else keep_sound_part(best, {t.name for t in asked.tools}, asked.finished)
            )
            return Draft(part, wrong)
        rounds -= 1
        request = build_retry_question(asked, reply.text, wrong)


def build_question(asked: Asked) -> ChatRequest:
    """The first question for a plan. In native mode, too, it is asked for in text: nothing is
    called yet.
    """
    mode: ReplyMode = "schema" if asked.mode == "schema" else "text"
    known = f"\n{asked.known}\n" if asked.known else ""
    messages = prompts.render(
        "dag", tools=asked.shown, format=_FORMATS[mode], query=asked.query, known=known
    )
    return ChatRequest(
        messages[:1] + asked.conversation + messages[1:],
        purpose="plan",
        schema=plan_schema(asked.tools) if mode == "schema" else None,
        max_tokens=asked.reply_tokens,
    )


def build_retry_question(asked: Asked, text: str, wrong: Sequence[str]) -> ChatRequest:
    """The question again, with the reply that held no plan that can run, and what was wrong with
    it.
    """
    first = build_question(asked)
    again = prompts.render(
        "dag_again", problems="\n".join(f"- {line}" for line in wrong[:_PROBLEMS])
    )
    return replace(first, messages=(*first.messages, Message("assistant", text[:_SHOWN]), *again))


def judge_reply(text: str, asked: Asked) -> tuple[Plan | None, tuple[str, ...]]:
    """The plan that a reply holds, and what is wrong with it, as it is told to the model."""
    try:
        plan = read_plan(text, asked.tools)
    except PlanError as exc:
        return None, (exc.message,)
    return plan, tuple(
        describe_problem(problem, asked.tools) for problem in find_problems(plan, asked)
    )


def find_problems(plan: Plan, asked: Asked) -> list[Problem]:
    """Return the problems of a plan. A reference to a step that has finished is not a problem."""
    found = plan.problems(tool.name for tool in asked.tools)
    return [p for p in found if not (p.kind == "dangling" and p.slots[-1] in asked.finished)]


def describe_problem(problem: Problem, tools: Sequence[Tool]) -> str:
    """A problem in the words in which the model is told of it."""
    if problem.kind != "unknown_tool":
        return problem.message
    return f"{problem.message}; the tools are {', '.join(t.name for t in tools)}"


def keep_sound_part(plan: Plan, tools: Collection[str], finished: Collection[str] = ()) -> Plan:
    """Return the part of a plan that can run: without steps of unknown tools, dangling dependencies
    and cycles.

    A cycle is cut where a step waits for one written behind it. Arguments that refer to removed
    steps are left open: they are filled when it is the step's turn.
    """
    first: dict[str, Slot] = {}
    for slot in plan.slots:
        if slot.tool in tools:
            first.setdefault(slot.id, slot)
    stuck = {
        i for p in Plan(tuple(first.values())).problems() if p.kind == "cycle" for i in p.slots
    }
    place = {id_: n for n, id_ in enumerate(first)}
    earlier = {*finished} - first.keys()  # a name that the plan holds itself is its own step's
    made: list[Slot] = []
    for slot in first.values():
        after = frozenset(
            b
            for b in slot.after
            if b in place and not (slot.id in stuck and place[b] >= place[slot.id])
        )
        gone = (
            {r.slot for r in find_references(slot.arguments, {*first, *earlier})} - after - earlier
        )
        made.append(replace(slot, after=after, arguments=None if gone else slot.arguments))
    return Plan(tuple(made), plan.revision)


def plan_schema(tools: Sequence[Tool]) -> JsonObject:
    """The decoding schema of a plan: known tools only, their own arguments, each of which may be a
    reference.
    """
    number: JsonObject = {"type": "integer", "minimum": 1, "maximum": _MOST}
    steps = [
        closed_object(
            step=number,
            tool={"const": tool.name},
            after={"type": "array", "items": number, "maxItems": 8},
            arguments=_allow_references(required_first(tool)),
        )
        for tool in tools
    ]
    return closed_object(steps={"type": "array", "items": {"anyOf": steps}, "maxItems": _MOST})


def _allow_references(schema: JsonObject) -> JsonObject:
    properties = {key: _allow_reference(part) for key, part in schema.get("properties", {}).items()}
    return {**schema, "properties": properties} if properties else schema


def _allow_reference(part: Any) -> Any:
    """A plain text may hold a reference as it is; anything else may be one instead."""
    if not isinstance(part, dict) or (
        part.get("type") == "string" and not _NARROWING & part.keys()
    ):
        return part
    return {"anyOf": [part, {"type": "string", "pattern": _REFERENCE}]}
