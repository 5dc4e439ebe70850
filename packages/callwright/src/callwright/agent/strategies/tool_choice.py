"""Choose, then plan: which of many tools a plan is made of, asked in one short question over their
names, or in the question that also makes the first calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.agent.render import choose_listed_tools
from callwright.agent.select import build_request, find_mentioned, read_selection
from callwright.agent.step import StepContext, Steps, ask
from callwright.dataflow.prerequisites import add_producers
from callwright.nouns.types import Skip, Tool

ALONE = 3  # with no more tools than this, a question about their names alone is worth nothing


def choose_tools(context: StepContext, above: int) -> Steps[tuple[Tool, ...]]:
    """Return the tools to plan with: those that the model chose or the request names, and their
    producers. All, if none is chosen, or if there are no more than ``above``. Raises LimitReached.
    """
    tools = context.tools
    if len(tools) <= above:
        return tools
    profile = context.facts.profile
    request = build_request(
        context.query,
        tools,
        context.mode,
        context.open_prompt(),
        description_chars=profile.selection_chars,
    )
    reply = yield from ask(request, calls=None)
    kept = keep_chosen_tools(context, read_selection(reply, tools))
    if not context.facts.listed:
        context.facts.listed = choose_listed_tools(kept, profile)
    return kept


def keep_chosen_tools(context: StepContext, named: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools to plan with, where the model named these: with those that the request
    speaks of, and their producers; all, if it named none. The others are skipped.
    """
    tools = context.tools
    if not named:
        context.trace.add("note", text="the model chose no tool: all are planned")
        return tools
    spoken_of = (tool for tool in find_mentioned(context.query, tools) if tool not in named)
    kept = add_producers((*named, *spoken_of), tools)
    context.facts.skip(Skip(t.name, "not chosen for this request") for t in tools if t not in kept)
    return kept
