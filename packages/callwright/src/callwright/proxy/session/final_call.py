"""A loop that demands a call in every reply and ends by a call of its own, led as any other.

A demanded call is else asked for by schema, and nothing but a call can come of that: where a value
is missing the user is not asked, and where all is done something more is done. Such a client can be
answered in words: as an argument of the call that ends it.
"""

from __future__ import annotations

from dataclasses import dataclass

from callwright.nouns.types import JsonObject, ToolCall
from callwright.proxy.session import ids
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision, Sent

# Tool -> its argument. smolagents 1.26, ``default_tools.py``: ``FinalAnswerTool``.
FINAL_CALLS = {"final_answer": "answer"}


@dataclass(frozen=True, slots=True)
class FinalCall:
    """The tool that ends a client's loop, and the argument that is its answer."""

    tool: str
    argument: str

    def end_with(self, made: Decision, context: Context) -> None:
        """Give a decision without calls the call that ends the loop, with its text."""
        if made.calls:
            return
        arguments: JsonObject = {self.argument: "\n".join(t for t in made.text if t.strip())}
        call = ToolCall(ids.make_call_id(context.seed, 0, asked=False), self.tool, arguments)
        made.calls = [Sent(call, json_bytes(arguments).decode())]
        made.text = []


def find_final_call(context: Context) -> FinalCall | None:
    """The call that ends the loop of a client that demands one; None where its tools have none, or
    one whose answer is more than a text.
    """
    if context.choice != "required" or len(context.toolset.tools) == 1:
        return None
    for tool in context.toolset.tools:
        argument = FINAL_CALLS.get(tool.name, "")
        part = tool.properties.get(argument)
        is_text = isinstance(part, dict) and part.get("type") == "string" and "enum" not in part
        if is_text and tool.required == (argument,):
            return FinalCall(tool.name, argument)
    return None
