"""Choose, then plan: which of many tools a plan is made of, asked in one short question over their
names.
"""

from __future__ import annotations

from callwright.agent.select import mentioned, selected, selection
from callwright.agent.strategies.job import Job
from callwright.dataflow.prerequisites import with_producers
from callwright.nouns.types import Skip, Tool


async def chosen(job: Job, above: int) -> tuple[Tool, ...]:
    """What to plan with: what the model chose or the request names, and what feeds it. All, if none
    is chosen, or if there are no more than ``above``. Raises LimitReached.
    """
    tools = job.tools
    if len(tools) <= above:
        return tools
    reply = await job.questions.ask(selection(job.query, tools, job.questions.mode), calls=None)
    named = selected(reply, tools)
    if not named:
        job.trace.add("note", text="the model chose no tool: all are planned")
        return tools
    spoken_of = (tool for tool in mentioned(job.query, tools) if tool not in named)
    kept = with_producers((*named, *spoken_of), tools)
    job.executor.skip(Skip(t.name, "not chosen for this request") for t in tools if t not in kept)
    return kept
