"""The content of ``requestState`` between the rounds of one call (MCP 2026-07-28, multi-round-trip
requests). The door seals it, and binds it to the client, the tool and the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.types import JsonObject, to_json

CONSENT = "callwright/consent"  # the key of the gateway's own question among input requests


@dataclass(frozen=True, slots=True)
class RoundState:
    """``asked``: the user was asked whether this very call may leave; ``approved``: and said yes.
    ``server``: the state of the server that asked for input. ``parked``: the number of a call that
    waits here for an answer, because its server asked while the call was under way.
    """

    asked: bool = False
    approved: bool = False
    server: str | None = None
    parked: str = ""

    def dump(self) -> str:
        """The state as text."""
        return write(to_json(self)).decode()


def read_round_state(text: str | None) -> RoundState:
    """The state of a call that goes on; that of a new one where there is none."""
    if not text:
        return RoundState()
    try:
        told = parse(text)
    except JsonError:
        return RoundState()
    if not isinstance(told, dict):
        return RoundState()
    server = told.get("server")
    return RoundState(
        told.get("asked") is True,
        told.get("approved") is True,
        server if isinstance(server, str) else None,
        str(told.get("parked") or ""),
    )


def build_input_required(requests: Mapping[str, JsonObject], state: RoundState) -> JsonObject:
    """The interim result that asks the client for input."""
    return {
        "resultType": "input_required",
        "inputRequests": dict(requests),
        "requestState": state.dump(),
    }
