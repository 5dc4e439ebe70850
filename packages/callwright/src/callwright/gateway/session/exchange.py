"""One request to a server, with the rounds in which the server asks its client for input."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from callwright.gateway.session.commands import (
    AskClient,
    ClientAnswered,
    Command,
    Dispatch,
    Event,
    Failed,
    Rejected,
    Returned,
    Told,
)

MOST_ROUNDS = 10  # in which a server may ask for input before it answers


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The client cannot give what the server asks for."""

    reason: str


def exchange_rounds(first: Dispatch) -> Generator[Command, Event, Told | Unanswered]:
    """Send a request until there is an answer that needs no input."""
    sent = first
    for _ in range(MOST_ROUNDS):
        told = yield sent
        assert isinstance(told, Returned | Rejected | Failed)
        if not isinstance(told, Returned) or told.result.get("resultType") != "input_required":
            return told
        state = told.result.get("requestState")
        answered = yield AskClient(told.result.get("inputRequests") or {}, state)
        assert isinstance(answered, ClientAnswered)
        if answered.refused:
            return Unanswered(answered.refused)
        sent = replace(first, responses=answered.responses, state=state)
    return Unanswered(f"the server asked for input {MOST_ROUNDS} times without an answer")
