"""Defines the events of a session and its commands: all of its outside world, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Reply, Tool
from callwright.proxy.session.decision.decision import Repaired
from callwright.proxy.session.record import Record

Headers: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """The client's request, whole. ``path`` is percent-encoded and begins with "/"; header names
    are lower case.
    """

    method: str
    path: str
    query: str = ""
    headers: Headers = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class UpstreamHead:
    """Status and headers of the answer to the upstream request under way."""

    status: int
    headers: Mapping[str, str]
    cookies: tuple[str, ...] = field(default=(), repr=False)  # the values of set-cookie, one by one

    @property
    def is_stream(self) -> bool:
        """Return True if server-sent events follow, as far as the content type says."""
        return self.headers.get("content-type", "").startswith("text/event-stream")

    def as_stream(self) -> UpstreamHead:
        """Return the same head, saying that server-sent events follow."""
        return replace(self, headers={**self.headers, "content-type": "text/event-stream"})


@dataclass(frozen=True, slots=True)
class UpstreamData:
    """A piece of that answer's body, cut anywhere."""

    data: bytes


@dataclass(frozen=True, slots=True)
class UpstreamEnd:
    """That answer is complete."""


@dataclass(frozen=True, slots=True)
class UpstreamFailed:
    """That answer will not come, or broke off."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class ClientGone:
    """Nobody reads any more."""


@dataclass(frozen=True, slots=True)
class Tick:
    """The time that :attr:`Session.wake` named has come."""


@dataclass(frozen=True, slots=True)
class Probed:
    """The answer to a Probe: whether native calls and JSON schemas work there.
    ``is_trusted``: ``callwright doctor`` recorded the model as right on write cases.
    """

    native: bool
    schema: bool
    is_trusted: bool = False


@dataclass(frozen=True, slots=True)
class Refined:
    """The refiner's reply to AskRefiner; None where it gave none."""

    reply: Reply | None


Event: TypeAlias = (
    Request
    | UpstreamHead
    | UpstreamData
    | UpstreamEnd
    | UpstreamFailed
    | ClientGone
    | Tick
    | Probed
    | Refined
)


@dataclass(frozen=True, slots=True)
class SendUpstream:
    """Send a request upstream. At most one is under way; its answer's events refer to it."""

    method: str
    path: str
    query: str
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CloseUpstream:
    """End the upstream request under way: its connection is closed and no event of it is wanted any
    more.
    """


@dataclass(frozen=True, slots=True)
class SendHead:
    """Status and headers for the client."""

    status: int
    headers: Headers


@dataclass(frozen=True, slots=True)
class SendBody:
    """A piece of body for the client."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer to the client is complete; ``broken``: it is not, and its connection must show
    that.
    """

    broken: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """Record of the changes to this request, for the page and the counters. Holds no header and no
    key. ``undeclared``: its tools that declare no effects.
    """

    record: Record
    undeclared: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Keep:
    """A chat request as it went upstream, the message that answers it, and what was repaired in
    that.
    """

    body: JsonObject = field(repr=False)
    answer: JsonObject = field(repr=False)
    repaired: tuple[Repaired, ...] = ()


@dataclass(frozen=True, slots=True)
class Learned:
    """Found out on the way: this upstream does not do guided decoding for this model."""

    model: str
    guided: bool


@dataclass(frozen=True, slots=True)
class Probe:
    """Find out what this upstream does for this model, or remember it; answer with Probed.
    ``asks`` is False where only what is on record is wanted: then nobody is asked.
    """

    model: str
    headers: Headers = field(repr=False, default=())
    asks: bool = True


@dataclass(frozen=True, slots=True)
class AskRefiner:
    """Ask the refiner; answer with Refined. No upstream request is under way meanwhile."""

    request: ChatRequest = field(repr=False)


@dataclass(frozen=True, slots=True)
class Faulted:
    """The proxy itself failed over this request, whose bytes pass as they come. ``detail`` is for a
    debug log.
    """

    request: str
    kind: str
    detail: str = ""


Command: TypeAlias = (
    SendUpstream
    | CloseUpstream
    | SendHead
    | SendBody
    | Finish
    | Log
    | Keep
    | Learned
    | Probe
    | AskRefiner
    | Faulted
)
