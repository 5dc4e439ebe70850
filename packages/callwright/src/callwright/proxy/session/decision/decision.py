"""The decision about an answer: its calls on the way, those that the client gets, and the questions
that are put to the upstream meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from callwright.agent.safety.clear import ClearedCall
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.errors import Violation
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import CheckedCall, Edit, JsonObject, Reply, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session import custom_tools
from callwright.repair.gate import Refusal
from callwright.schema.value_edits import Pointer


@dataclass(frozen=True, slots=True)
class Question:
    """A question of our own to the upstream. ``guided``: the calls by schema; ``more``: the same
    and one call more; ``words``: an answer without calls; ``repair``: the arguments of a refused
    call; ``again``: the request once more, with what is wrong; ``option``: one letter, for a value
    out of a list. ``refine``: all calls, put to the refiner as ``request``; without a body.

    ``read``: where the client waits for a stream, it is given all of the reply so far, and returns
    what has become certain since of the text that the client gets.
    """

    kind: Literal["guided", "more", "words", "repair", "again", "option", "refine"]
    body: JsonObject
    read: Callable[[str], str] | None = None
    request: ChatRequest | None = None


DecisionSteps = Generator[Question, Reply, "Decision"]


@dataclass(frozen=True, slots=True)
class Found:
    """One call of an answer. ``native``: its place among the calls that the upstream itself
    delivered, else -1.

    ``raw`` is the text it was read from; ``sound``: the upstream's own entry is well-formed.
    """

    call: ToolCall
    native: int = -1
    raw: str = ""
    dialect: str = ""
    sound: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """One call for the client. ``same``: as the upstream delivered it, so its own entry is sent.
    ``cleared``: what lets it leave; None where it is passed through although the gate refused it.
    ``is_free``: its tool takes text as it is.
    """

    call: ToolCall
    arguments: str
    native: int = -1
    same: bool = False
    cleared: ClearedCall | None = None
    is_free: bool = False

    def render(self) -> JsonObject:
        """The call as an entry of ``tool_calls``."""
        return custom_tools.render_call(self.call, self.arguments, is_free=self.is_free)


@dataclass(frozen=True, slots=True)
class Repaired:
    """A call that the gate refused as it was written, and what it said. ``id`` is that of the call
    sent for it.
    """

    id: str
    wrong: ToolCall
    refusal: str


@dataclass(slots=True)
class Decision:
    """The decision. ``text`` is added to the answer's text: refused calls, said in words or as they
    were written. ``problems``: why calls are kept back.
    """

    calls: list[Sent] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    held: list[HeldCall] = field(default_factory=list)
    repaired: list[Repaired] = field(default_factory=list)
    asked: int = 0
    dialect: str = ""
    # "stop" was said beside calls: clients that go by finish_reason would not make them
    stopped: bool = False

    @property
    def untouched(self) -> bool:
        """Return True if the upstream's own bytes may go to the client."""
        return (
            not self.text
            and not self.edits
            and not self.stopped
            and all(s.same for s in self.calls)
        )

    def finish_reason(self, said: str = "", *, truncated: bool = False) -> str:
        """Return the upstream's finish reason, adapted to these calls; ``truncated``: a call was
        cut off in the text. Where one of the upstream's own was, its arguments are no object.
        """
        is_cut = truncated or any(isinstance(one.call.arguments, str) for one in self.calls)
        if self.calls and not (said == "length" and is_cut):
            return "tool_calls"
        if not self.calls and said in ("tool_calls", "function_call"):
            return "stop"
        return said or "stop"


@dataclass(slots=True)
class AnswerCall:
    """A call of the answer: what the upstream delivered, what became of it, what the gate says of
    it.
    """

    found: Found
    call: ToolCall
    verdict: CheckedCall | Refusal
    changed: bool = False
    # as it was written when the gate refused it, and why
    refused: tuple[ToolCall, str] | None = None
    cleared: ClearedCall | None = None
    # optional arguments that no word states and that the conversation makes likelier
    likely: set[Pointer] = field(default_factory=set)

    def take(self, verdict: CheckedCall, arguments: JsonObject) -> None:
        """Have these arguments, which the gate lets through."""
        self.call, self.verdict = replace(self.call, arguments=arguments), verdict
        self.changed = True


def serialize_call(call: ToolCall) -> JsonObject:
    """The call as edits show it."""
    return {"name": call.tool, "arguments": call.arguments}


def list_asked_again(work: Sequence[AnswerCall]) -> list[Edit]:
    """The edits for calls that came of a second question."""
    return [
        Edit(f"/{n}", None, serialize_call(one.call), EditRules.ASKED_AGAIN)
        for n, one in enumerate(work)
    ]
