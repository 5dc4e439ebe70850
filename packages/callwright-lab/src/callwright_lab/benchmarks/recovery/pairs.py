"""Single calls with a request each, out of a catalogue alone (Tool-MVR, 4.1.2, I1 and I2): the
calls are those that verification saw succeed, a model writes the request that each of them serves.
Errors are put in afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date

from callwright.models.dialogue import run_dialogue
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatModel
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import JsonObject, Tool, ToolCall, iter_scalars, to_canonical_json
from callwright_lab.benchmarks.recovery.world import World
from callwright_lab.training.planner.drafts import Draft
from callwright_lab.training.planner.stages import adapt_schemas, generate_query
from callwright_lab.verify.proposals import ask_example_calls, propose_by_rule


@dataclass(frozen=True, slots=True)
class NoPair:
    """A tool, or one of its calls, that yielded no request, with the reason."""

    id: str
    reason: str


Pair = Trajectory | NoPair


async def iter_pairs(
    tools: Sequence[Tool], world: World, model: ChatModel, each: int
) -> AsyncIterator[Pair]:
    """Up to ``each`` calls of every tool that succeed here, as trajectories of one round that offer
    this tool.

    Calls are made of what the documentation says (with an overlay: what was seen to work); where it
    says too little the model proposes them. Raises ModelError where it cannot be asked.
    """
    schema = (await model.capabilities()).json_schema
    for tool in tools:
        calls = propose_by_rule(tool, date.today(), most=each, guess=False).calls
        if not calls:
            calls = await run_dialogue(
                ask_example_calls(tool, most=each, schema=schema), model.complete
            )
        if not calls:
            yield NoPair(tool.name, "nothing says how it is called")
        for number, arguments in enumerate(calls[:each]):
            yield await _build_pair(f"{tool.name}-{number}", tool, arguments, world, model, schema)


async def _build_pair(
    name: str, tool: Tool, arguments: JsonObject, world: World, model: ChatModel, schema: bool
) -> Pair:
    call = ToolCall("r1", tool.name, arguments)
    result = await world.carry_out(call)
    if not result.ok:
        undone = result.failure is not None and result.failure.kind == "not_executable"
        barred = undone and not tool.effects.read_only
        return NoPair(
            name, "it may write: --sandbox" if barred else "the right call brings nothing here"
        )
    goal = f"one call, with exactly these values: {to_canonical_json(arguments)}"
    draft = Draft(
        name, "cases", "easy", (tool,), 1, goal=goal, workflow=Plan.from_layers([[tool.name]])
    )
    made = await run_dialogue(adapt_schemas(generate_query(draft), schema), model.complete)
    if made.dropped:
        return NoPair(name, f"no request: {made.dropped.removeprefix('query: ')}")
    if left := list_unstated_arguments(arguments, made.query):
        return NoPair(name, f"the request does not say {', '.join(left)}")
    return Trajectory(name, made.query, (tool,), (Step("", (call,), (result,)),))


def list_unstated_arguments(arguments: JsonObject, request: str) -> list[str]:
    """The arguments whose values a request does not hold, letter case aside; yes, no and nothing
    need not be said.
    """
    text = request.casefold()
    told = {key: [v for v in iter_scalars(value) if isinstance(v, str | int | float) and not isinstance(v, bool)]
            for key, value in arguments.items()}  # fmt: skip
    return [
        key
        for key, values in told.items()
        if not all(str(value).casefold() in text for value in values)
    ]
