"""The question whether a call may leave, as an MCP elicitation, and how its answer is read."""

from __future__ import annotations

from collections.abc import Mapping

from callwright.gateway.session.commands import AskConsent
from callwright.nouns.control_characters import escape_controls
from callwright.nouns.types import JsonObject, to_canonical_json

_SHOWN = 1_000  # characters of the arguments


def build_question(command: AskConsent) -> JsonObject:
    """The parameters of ``elicitation/create``."""
    told = escape_controls(to_canonical_json(command.call.arguments))
    more = len(told) - _SHOWN
    shown = told if more <= 0 else f"{told[:_SHOWN]}… and {more} characters more"
    return {
        "mode": "form",
        "message": (
            f"May the tool {command.offer.name!r} of the server {command.offer.server!r} be called?"
            f" Approval is needed because {command.why}.\nArguments: {shown}"
        ),
        "requestedSchema": {"type": "object", "properties": {}},
    }


def is_granted(answer: Mapping[str, object]) -> bool:
    """Return True if the answer to the question approves the call."""
    return answer.get("action") == "accept"
