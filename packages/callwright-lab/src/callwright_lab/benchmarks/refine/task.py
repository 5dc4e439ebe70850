"""The nouns of ``callwright bench refine``: a task with its gold, what was found in a reply, and
its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Edit, JsonObject, Message, Tool, ToolCall, Usage


@dataclass(frozen=True)
class Task:
    """One question of a data set. ``gold`` is one right answer as calls; ``aside`` what the set's
    scorer needs.
    """

    id: str
    set: str
    category: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    gold: tuple[ToolCall, ...] = ()
    aside: Any = None

    @property
    def query(self) -> str:
        """The last thing the user said."""
        return next((m.content for m in reversed(self.messages) if m.role == "user"), "")


@dataclass(frozen=True)
class Recorded:
    """A model's reply to a task: the assistant message as the server sent it."""

    task: str
    upstream: str
    message: JsonObject
    mode: str = "free"  # free | cot | guided | corrupted: how the reply came about
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def text(self) -> str:
        content = self.message.get("content")
        return content if isinstance(content, str) else ""


@dataclass(frozen=True)
class Found:
    """Result of reading one reply. ``raw`` is the reply's text if the reader passes it on
    unchanged; it is empty if the calls are written again. ``refused`` holds what the gate still has
    against the calls; None where the reader asks no gate.
    """

    calls: tuple[ToolCall, ...] = ()
    raw: str = ""
    edits: tuple[Edit, ...] = ()
    abstained: tuple[str, ...] = ()  # what was seen to be wrong and left alone
    confidence: float = 1.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    refused: tuple[str, ...] | None = None

    def to_json(self) -> list[JsonObject]:
        return [{"name": c.tool, "arguments": c.arguments} for c in self.calls]


@dataclass(frozen=True)
class Score:
    """``metrics`` by name, each 0 to 1. ``error`` names the class of the first mistake, "" where
    all is right.
    """

    metrics: Mapping[str, float]
    error: str = ""
    detail: str = ""
    note: Mapping[str, float] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        return not self.error


class Examination(Protocol):
    """A data set and its scorer. ``tasks`` raises ConfigError, saying where to get them, where
    files are absent.

    ``single``: every question says that exactly one call is wanted, so a client would forbid
    several.
    """

    @property
    def name(self) -> str: ...

    @property
    def headline(self) -> str: ...

    @property
    def single(self) -> bool: ...

    def tasks(self) -> Sequence[Task]: ...

    def score(self, task: Task, found: Found) -> Score: ...

    def ask(self, task: Task) -> ChatRequest: ...
