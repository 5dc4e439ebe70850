"""A task asked in the proxy's guided mode: the reply is held to a schema of the offered tools, "no
call" allowed.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.models.chat import messages_out, tool_out
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Message, canonical
from callwright.proxy.session import guided
from callwright.proxy.session.context import Toolsets, read
from callwright.proxy.session.settings import Settings
from callwright_lab.benchmarks.refine.task import Examination, Task

MODE = "guided"


def body_of(examination: Examination, task: Task) -> JsonObject:
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


def guided_request(examination: Examination, task: Task) -> ChatRequest:
    """What the proxy asks of an upstream that follows a JSON schema, as a question to any of our
    models.
    """
    free = examination.ask(task)
    body = body_of(examination, task)
    context = read(body, canonical(body).encode(), Toolsets(), Settings(guided="on"))
    if context is None:
        raise ConfigError(
            f"task {task.id} of {task.set} offers no tools, so guided mode has nothing to ask"
        )
    told = guided.body(context)["messages"]
    return replace(
        free,
        messages=tuple(Message(m["role"], m["content"]) for m in told),
        tools=(),
        schema=guided.schema(context),
    )
