"""A task asked in the proxy's guided mode: the reply is held to a schema of the offered tools, "no
call" allowed.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.models.chat import messages_out, tool_out
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Message, to_canonical_json
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.leading import guided
from callwright.proxy.session.settings import Settings
from callwright_lab.benchmarks.refine.task import Examination, Task

MODE = "guided"


def build_body(examination: Examination, task: Task) -> JsonObject:
    """The request of a client that offers the task's tools. A data set's own system prompt that
    lists them as text is left out.
    """
    free = examination.ask(task)
    messages = (
        free.messages if free.tools else tuple(m for m in free.messages if m.role != "system")
    )
    return {
        "messages": messages_out(messages),
        "tools": [tool_out(t) for t in task.tools],
        "parallel_tool_calls": not examination.single,
    }


def build_guided_request(examination: Examination, task: Task) -> ChatRequest:
    """Return the proxy's request to an upstream that supports JSON schemas, as a request to any of
    our models.
    """
    free = examination.ask(task)
    body = build_body(examination, task)
    context = read_context(
        body, to_canonical_json(body).encode(), Toolsets(), Settings(guided="on")
    )
    if context is None:
        raise ConfigError(
            f"task {task.id} of {task.set} offers no tools, so guided mode has nothing to ask"
        )
    told = guided.build_body(context)["messages"]
    return replace(
        free,
        messages=tuple(Message(m["role"], m["content"]) for m in told),
        tools=(),
        schema=guided.build_schema(context),
    )
