"""Choose, then plan: which of many tools a plan is made of, asked in one short question over their
names.
"""

from __future__ import annotations

from callwright.agent.select import build_request, find_mentioned, read_selection
from callwright.agent.strategies.job import Job
from callwright.dataflow.prerequisites import add_producers
from callwright.nouns.types import Skip, Tool


async def choose_tools(job: Job, above: int) -> tuple[Tool, ...]:
    """Return the tools to plan with: those that the model chose or the request names, and their
    producers. All, if none is chosen, or if there are no more than ``above``. Raises LimitReached.
    """
    tools = job.tools
    if len(tools) <= above:
        return tools
    reply = await job.questions.ask(build_request(job.query, tools, job.questions.mode), calls=None)
    named = read_selection(reply, tools)
    if not named:
        job.trace.add("note", text="the model chose no tool: all are planned")
        return tools
    spoken_of = (tool for tool in find_mentioned(job.query, tools) if tool not in named)
    kept = add_producers((*named, *spoken_of), tools)
    job.executor.skip(Skip(t.name, "not chosen for this request") for t in tools if t not in kept)
    return kept
