"""The question about an optional value of a client's call: bodies out, shares in
(:mod:`callwright.agent.leading.option_support`).
"""

from __future__ import annotations

from callwright.agent.leading.option_support import NO_CONVERSATION, Option
from callwright.models.chat import messages_out
from callwright.nouns.types import Json, JsonObject
from callwright.proxy.session import followup
from callwright.proxy.session.context import Context
from callwright.proxy.session.leading import guided


def build_body(option: Option, context: Context, *, is_told: bool) -> JsonObject:
    """The request for one letter: after the conversation, or without it. It begins as the questions
    for calls do, so that the upstream's prompt cache holds.
    """
    body = followup.copy_settings(context)
    spoken = context.body["messages"] if is_told else _untell(context.body["messages"])
    body["messages"] = [
        *guided.add_instructions(spoken, context.instructions),
        *messages_out(option.render_question()),
    ]
    return followup.ask_for_letter(body)


def _untell(messages: Json) -> list[Json]:
    """The system's message, and a request that says nothing."""
    first = messages[0] if isinstance(messages, list) and messages else None
    is_system = isinstance(first, dict) and first.get("role") in ("system", "developer")
    asked: Json = {"role": "user", "content": NO_CONVERSATION}
    return [first, asked] if is_system else [asked]
