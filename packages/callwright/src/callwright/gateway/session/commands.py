"""The commands by which the way of a call asks its driver for something, and the events that it is
told. Pure values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from callwright.gateway.session.catalog import GatewayTool
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import CheckedCall, JsonObject, Reply


@dataclass(frozen=True, slots=True)
class Consult:
    """Is the server there, and is its definition of this tool still the one that is offered?"""

    offer: GatewayTool


@dataclass(frozen=True, slots=True)
class Consulted:
    """``refused``: why the tool may not be called now; ``failure``: why nobody can tell."""

    refused: str = ""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class AskRefiner:
    """Ask the refiner about a call that its schema refuses."""

    request: ChatRequest


@dataclass(frozen=True, slots=True)
class Refined:
    """The refiner's reply; None where it gave none."""

    reply: Reply | None


@dataclass(frozen=True, slots=True)
class AskConsent:
    """May this call leave? ``why`` it needs approval."""

    offer: GatewayTool
    call: CheckedCall
    why: str


@dataclass(frozen=True, slots=True)
class Consented:
    """``granted`` is None where nobody can be asked."""

    granted: bool | None
    by: str = "user"


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Send a request. ``may_repeat``: it may be sent once more where its answer was lost.
    ``responses`` and ``state`` continue a request whose server asked for input. ``as_task``: it
    runs as a task of 2025-11-25, whose result is waited for.
    """

    server: str
    method: str
    params: JsonObject
    seconds: float
    may_repeat: bool
    responses: Mapping[str, JsonObject] | None = None
    state: str | None = None
    as_task: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """The server's result, as it came."""

    result: JsonObject


@dataclass(frozen=True, slots=True)
class Rejected:
    """The server's JSON-RPC error."""

    code: int
    message: str
    data: object = None


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no answer."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class AskClient:
    """The server wants input before it answers (``InputRequiredResult`` of 2026-07-28): its
    requests by key, and its state.
    """

    requests: Mapping[str, JsonObject]
    state: str | None


@dataclass(frozen=True, slots=True)
class ClientAnswered:
    """The client's answers by key; ``refused``: why there are none."""

    responses: Mapping[str, JsonObject] = field(default_factory=dict)
    refused: str = ""


Told: TypeAlias = Returned | Rejected | Failed
"""What came of a request to a server."""
Command: TypeAlias = AskRefiner | Consult | AskConsent | Dispatch | AskClient
Event: TypeAlias = Refined | Consulted | Consented | Returned | Rejected | Failed | ClientAnswered
