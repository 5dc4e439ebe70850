"""Every seam on one page. Each protocol has at least two implementations in this repository."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from callwright.nouns.model_profile import ModelSize
from callwright.nouns.plan import Plan
from callwright.nouns.types import JsonObject, Message, Reply, Tool, ToolOutput

if TYPE_CHECKING:
    from numpy import ndarray

ToolChoice = Literal["auto", "none", "required"]
ReplyMode = Literal["native", "schema", "text"]  # how a model is best asked for tool calls

Watcher = Callable[[str], bool]
"""Given each piece of text as it arrives; True ends the reply there (finish_reason "cut")."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a chat model. ``schema`` asks for constrained decoding of the whole reply.

    Parts without I/O (repair, the final answer) are generators that yield a ChatRequest and are
    sent the Reply.
    """

    messages: tuple[Message, ...]
    purpose: str = ""  # bind | repair | answer | …: for the trace and the accounting
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = "auto"
    schema: JsonObject | None = None
    max_tokens: int = 512
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    seed: int = 0
    logprobs: bool = False  # state those of the answer's tokens, where the endpoint can
    top_logprobs: int = 0  # and so many of the likeliest tokens in the place of the first one


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an endpoint. ``origin`` says how they are known: declared, probed or
    overridden.
    """

    native_tools: bool = False
    json_schema: bool = False
    context: int = 8192
    origin: str = "declared"

    @property
    def mode(self) -> ReplyMode:
        """Constrained decoding first: it cannot be malformed. Then native tools, then plain
        text.
        """
        if self.json_schema:
            return "schema"
        return "native" if self.native_tools else "text"


class ChatModel(Protocol):
    """Protocol of a language model. Raises ModelError if the model cannot be asked."""

    @property
    def name(self) -> str: ...

    async def capabilities(self) -> Capabilities: ...

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class SizedModel(Protocol):
    """A ChatModel that can say how large it is. Never raises for the world."""

    async def read_size(self) -> ModelSize: ...


CALL_KEY: ContextVar[str] = ContextVar("callwright_call_key", default="")
"""While a call that may write runs: its idempotency key, the same for every attempt, also after a
crash; else "".
"""


def call_key() -> str:
    """The idempotency key of the call that runs now; see :data:`CALL_KEY`."""
    return CALL_KEY.get()


MAY_REPEAT: ContextVar[Callable[[], bool]] = ContextVar(
    "callwright_may_repeat", default=lambda: True
)
"""While a call runs: asked before its request is sent once more (:mod:`callwright.http.retry`), so
that it is counted as any other. False has the client hand back what came, a 503 for example.
"""


class ToolSource(Protocol):
    """Protocol of a source that lists and executes tools. ``open`` raises CatalogError; ``call``
    never raises for the world.

    A source may also have ``outcome`` (:class:`Askable`), and hand :data:`CALL_KEY` on for tools
    that are ``keyed``. It may have ``place(tool)``, known when it is open, which serves to store
    answers. That text differs if something else answers calls of the same tool: another server, a
    changed function, no credential.
    """

    @property
    def name(self) -> str: ...

    async def open(self) -> Sequence[Tool]: ...

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput: ...

    async def aclose(self) -> None: ...


class Askable(Protocol):
    """A source that can be asked what became of a call whose answer was lost.

    ``outcome`` returns the call's output if it took effect, ``NOT_DONE`` if it surely did not, None
    if nobody knows.
    """

    async def outcome(
        self, tool: Tool, arguments: JsonObject, key: str
    ) -> ToolOutput | NotDone | None: ...


class Confirmations(Protocol):
    """Protocol of the user's confirmations, by digest
    (:class:`callwright.tools.trust.TrustStore`).
    """

    def is_trusted(self, kind: Literal["document", "tools"], where: str, digest: str) -> bool: ...


class Confirmable(Protocol):
    """A source that came from elsewhere: a document, a server.

    ``consult`` is called before it is opened, where somebody knows what the user has confirmed.
    ``origin`` names it for good; ``definition`` is what it says of a tool once it is open: pinned
    on first use, compared later. It may have ``unconfirmed``: what it says and is not believed, for
    people.
    """

    @property
    def origin(self) -> str: ...

    def consult(self, trust: Confirmations) -> None: ...

    def definition(self, tool: Tool) -> JsonObject: ...


class NotDone(Enum):
    """The type of :data:`NOT_DONE`."""

    NOT_DONE = "not_done"


NOT_DONE = NotDone.NOT_DONE


class Encoder(Protocol):
    """Texts -> unit vectors, float32 of shape (len(texts), width)."""

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> ndarray[Any, Any]: ...


class Planner(Protocol):
    """Query and tools -> a plan in which no tool stands twice; one that chooses leaves tools out.
    Deterministic.
    """

    @property
    def name(self) -> str: ...

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan: ...
