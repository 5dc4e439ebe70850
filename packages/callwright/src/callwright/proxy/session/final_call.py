"""A loop that demands a call in every reply and ends by a call of its own, led as any other.

A demanded call is else asked for by schema, and nothing but a call can come of that: where a value
is missing the user is not asked, where all is done something more is done, and a small model ends
the loop with values that it never looked up. Such a client can be led, and answered: in words that
are an argument of the call that ends it, or with that call, asked for when all else is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from callwright.nouns.types import JsonObject, Tool, ToolCall
from callwright.proxy.session import ids
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision, Sent

# smolagents 1.26, ``default_tools.py``: ``FinalAnswerTool``, and its argument
_TEXT = {"final_answer": "answer"}
# Pydantic AI, ``_output.py``: ``DEFAULT_OUTPUT_TOOL_NAME``, with ``_CLASS`` where there are several
_FORM = "final_result"


@dataclass(frozen=True, slots=True)
class FinalCall:
    """The tools one of which ends a client's loop. ``argument``: the one that is the answer in
    words; "" where the answer has the form of a tool's schema.
    """

    tools: frozenset[str]
    argument: str = ""

    def end_with(self, made: Decision, context: Context) -> None:
        """Give a decision without calls the call that ends the loop, with its text."""
        if made.calls or not self.argument:
            return
        (tool,) = self.tools
        arguments: JsonObject = {self.argument: "\n".join(t for t in made.text if t.strip())}
        call = ToolCall(ids.make_call_id(context.seed, 0, asked=False), tool, arguments)
        made.calls = [Sent(call, json_bytes(arguments).decode())]
        made.text = []


def find_final_call(context: Context) -> FinalCall | None:
    """The call that ends the loop of a client that demands one; None where its tools have none, or
    no other.
    """
    if context.choice != "required":
        return None
    tools = context.toolset.tools
    named = frozenset(t.name for t in tools if t.name == _FORM or t.name.startswith(f"{_FORM}_"))
    found = next(filter(None, map(_read_text_tool, tools)), FinalCall(named) if named else None)
    return found if found is not None and len(found.tools) < len(tools) else None


def _read_text_tool(tool: Tool) -> FinalCall | None:
    argument = _TEXT.get(tool.name, "")
    part = tool.properties.get(argument)
    is_text = isinstance(part, dict) and part.get("type") == "string" and "enum" not in part
    is_only = is_text and tool.required == (argument,)
    return FinalCall(frozenset({tool.name}), argument) if is_only else None
