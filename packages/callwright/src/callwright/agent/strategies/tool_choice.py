"""Choose, then plan: which of many tools a plan is made of, asked in one short question over their
names.
"""

from __future__ import annotations

from callwright.agent.select import build_request, find_mentioned, read_selection
from callwright.agent.step import StepContext, Steps, ask
from callwright.dataflow.prerequisites import add_producers
from callwright.nouns.types import Skip, Tool


def choose_tools(context: StepContext, above: int) -> Steps[tuple[Tool, ...]]:
    """Return the tools to plan with: those that the model chose or the request names, and their
    producers. All, if none is chosen, or if there are no more than ``above``. Raises LimitReached.
    """
    tools = context.tools
    if len(tools) <= above:
        return tools
    reply = yield from ask(build_request(context.query, tools, context.mode), calls=None)
    named = read_selection(reply, tools)
    if not named:
        context.trace.add("note", text="the model chose no tool: all are planned")
        return tools
    spoken_of = (tool for tool in find_mentioned(context.query, tools) if tool not in named)
    kept = add_producers((*named, *spoken_of), tools)
    context.facts.skip(Skip(t.name, "not chosen for this request") for t in tools if t not in kept)
    return kept
