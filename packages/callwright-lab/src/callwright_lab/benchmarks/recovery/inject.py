"""Errors put into verified trajectories (Tool-MVR, 4.1.2): API-level ones into single calls, errors
of selection and of content into several, at steps drawn by digest; by rule, or written by a model.
Every case is filtered: the right call succeeds here, the wrong one brings feedback that means
something, and what is right can be known.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from callwright.agent.render import render_signatures
from callwright.jsontext import JsonError, parse_lenient
from callwright.models.dialogue import run_dialogue
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import (
    Reply,
    ToolCall,
    ToolResult,
    compute_digest,
    iter_scalars,
    to_canonical_json,
)
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.benchmarks.judge.text import call_text, chain_text
from callwright_lab.benchmarks.recovery.cases import ErrorCase, Part
from callwright_lab.benchmarks.recovery.world import World
from callwright_lab.recovery import Gold
from callwright_lab.training.refiner.corruption import corrupt

RULES = {
    "name": (
        "name_typo",
        "name_suffix",
        "name_prefix_lost",
        "name_case",
        "key_case",
        "key_prefix_lost",
    ),
    "parameter": (
        "required_missing",
        "ghost_argument",
        "schema_echo_lost",
        "array_as_text",
        "wrong_value",
    ),
    "selection": ("wrong_tool",),
    "content": ("wrong_value", "placeholder"),
}
"""The paper's kinds of error, and the corruptions that stand for each where no model writes them.
"""

OF_PART: dict[Part, tuple[str, ...]] = {
    "I1": ("name", "parameter"),
    "I2": ("name", "parameter"),
    "I3": ("selection", "content"),
}
_TOKENS = 400
_UNDONE = ("not_executable", "unavailable")


@dataclass(frozen=True, slots=True)
class Dropped:
    """An attempt that yielded no case; the report counts by ``reason``."""

    id: str
    kind: str
    reason: str


def classify_part(run: Trajectory, world: World) -> Part:
    """One call: I1 where its tool is alive, I2 where it is simulated; several calls: I3."""
    if len(run.calls) > 1:
        return "I3"
    alive = world.live and not world.simulated & {call.tool for call in run.calls}
    return "I1" if alive else "I2"


async def inject_error(
    run: Trajectory, world: World, kind: str, *, seed: int = 0, model: ChatModel | None = None
) -> ErrorCase | Dropped:
    """One error of a kind at a step of a verified trajectory that is drawn by digest. ``model``:
    who writes it; None: the rules. Raises ModelError where it cannot be asked.
    """
    steps = [at for at, step in enumerate(run.steps) if len(step.calls) == 1 and step.ok]
    head = f"{run.id or compute_digest(run.query)[:8]}-{kind}-{seed}"
    if not steps:
        return Dropped(head, kind, "no round of it is one call that came back well")
    rng = random.Random(f"{run.key} {run.id} {kind} {seed}")
    at = rng.choice(steps)
    right = replace(run.steps[at].calls[0], id="h9")
    wrong, thought = _corrupt_by_rule(run, right, kind, rng), ""
    if model is not None:
        capable = (await model.capabilities()).json_schema
        wrong, thought = await run_dialogue(
            _corrupt_by_model(run, at, right, kind, constrained=capable), model.complete
        )
    if wrong is None:
        why = "the model wrote no wrong call" if model else "this call cannot have such an error"
        return Dropped(head, kind, why)
    if model is not None and not is_error_kind(kind, run, right, wrong):
        return Dropped(head, kind, "the model wrote an error of another kind")
    case = ErrorCase(
        id=head,
        part=classify_part(run, world),
        kind=kind,
        query=run.query,
        tools=run.tools,
        before=tuple(_renumber_step(step, n) for n, step in enumerate(run.steps[:at], 1)),
        wrong=Step(thought, (wrong,)),
        gold=Gold(right.tool, right.arguments if isinstance(right.arguments, dict) else {}),
        by=model.name if model else "rule",
    )
    return await observe_case(case, world)


async def observe_case(
    case: ErrorCase, world: World, *, strict: bool = True
) -> ErrorCase | Dropped:
    """The case with what its calls bring here, or why it is none (the solvability filter). Not
    ``strict``: it is kept all the same, and its note says why it should not be; but for a wrong
    call that could not be carried out.
    """
    right = await world.carry_out(ToolCall("gold", case.gold.tool, case.gold.arguments))
    result = case.wrong.results[0] if case.wrong.results else await world.carry_out(case.call)
    content = right.content if right.ok else None
    made = replace(
        case,
        wrong=replace(case.wrong, results=(result,)),
        gold=Gold(case.gold.tool, case.gold.arguments, content),
    )
    reason = _find_unfit_reason(made)
    undone = result.failure is not None and result.failure.kind in _UNDONE
    if reason and (strict or undone):
        return Dropped(case.id, case.kind, reason)
    return replace(made, note="; ".join(filter(None, (case.note, reason)))) if reason else made


def _find_unfit_reason(case: ErrorCase) -> str:
    """Return the reason why a case is not an error case after its calls were executed; "" if it is
    one.
    """
    result = case.wrong.results[0]
    if case.gold.content in (None, "", [], {}):
        return "the right call brings nothing here"
    if result.failure is not None and result.failure.kind in _UNDONE:
        return "the wrong call could not be carried out"
    if result.ok and (
        case.part != "I3"
        or to_canonical_json(result.content) == to_canonical_json(case.gold.content)
    ):
        return "nothing that came back shows the error"
    return (
        "" if is_solvable(case) else "what is right cannot be known from request, results and error"
    )


def is_solvable(case: ErrorCase) -> bool:
    """Return True if everything that the correct call needs beyond the wrong one is known. Sources
    are the request, earlier results, the wrong call's values, the error message and the tool's
    documentation.
    """
    if case.gold.tool not in {tool.name for tool in case.tools}:
        return False
    tool = next(tool for tool in case.tools if tool.name == case.gold.tool)
    told = [
        case.query,
        to_canonical_json(case.call.arguments),
        to_canonical_json(tool.input_schema),
        tool.description,
    ]
    told += [to_canonical_json(result.content) for step in case.before for result in step.results]
    told += [result.failure.message for result in case.wrong.results if result.failure]
    text = "\n".join(told).casefold()
    return all(
        str(value).casefold() in text
        for value in iter_scalars(case.gold.arguments)
        if value not in (None, "")
    )


def is_error_kind(kind: str, run: Trajectory, right: ToolCall, wrong: ToolCall) -> bool:
    """Return True if a wrong call has an error of this kind. A model may write a different error
    than requested.
    """
    offered, own = run.tool(wrong.tool), run.tool(right.tool)
    same = wrong.tool == right.tool
    if kind == "selection":
        return not same and offered is not None
    if kind == "name":
        given = wrong.arguments if isinstance(wrong.arguments, dict) else {}
        return offered is None or (same and own is not None and bool({*given} - {*own.properties}))
    return same


def _corrupt_by_rule(
    run: Trajectory, right: ToolCall, kind: str, rng: random.Random
) -> ToolCall | None:
    """The right call after the first corruption of this kind that it can have, in an order drawn
    again each time.
    """
    rules = list(RULES[kind])
    rng.shuffle(rules)
    for rule in rules:
        made = corrupt((right,), run.tools, rule, rng, query=run.query)
        if made is not None and len(made.calls) == 1 and made.calls[0] != right:
            return replace(made.calls[0], id=right.id)
    return None


def _corrupt_by_model(
    run: Trajectory, at: int, right: ToolCall, kind: str, *, constrained: bool
) -> Generator[ChatRequest, Reply, tuple[ToolCall | None, str]]:
    shown = prompts.render(
        "inject_error",
        query=run.query,
        tools=render_signatures(run.tools),
        before=chain_text(run.steps[:at], 2_000),
        right=call_text(right),
        kind=kind,
    )
    free = {"type": "object"}
    schema = closed_object(
        thought={"type": "string", "maxLength": 300}, tool={"type": "string"}, arguments=free
    )
    reply = yield ChatRequest(
        shown, purpose="inject", schema=schema if constrained else None, max_tokens=_TOKENS
    )
    try:
        said = parse_lenient(reply.text).value
    except JsonError:
        return None, ""
    if (
        not isinstance(said, dict)
        or not isinstance(said.get("arguments"), dict)
        or not said.get("tool")
    ):
        return None, ""
    wrong = ToolCall(right.id, str(said["tool"]), said["arguments"])
    same = (wrong.tool, wrong.arguments) == (right.tool, right.arguments)
    return (None if same else wrong), str(said.get("thought", ""))


def _renumber_step(step: Step, number: int) -> Step:
    """A round of the history under ids of its own, which no run gives."""
    names = {
        call.id: f"h{number}" if len(step.calls) == 1 else f"h{number}.{i}"
        for i, call in enumerate(step.calls)
    }
    calls = tuple(replace(call, id=names[call.id]) for call in step.calls)
    results: Sequence[ToolResult] = [replace(r, id=names.get(r.id, r.id)) for r in step.results]
    return replace(step, calls=calls, results=tuple(results))
