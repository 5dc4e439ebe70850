"""All that one request says about calls, read once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright.nouns.types import Json, JsonObject, Message, Tool
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.proxy.server.budget import Budget
from callwright.proxy.session import history, ids
from callwright.proxy.session.settings import Settings
from callwright.proxy.session.sse import json_bytes
from callwright.repair.gate import Gate
from callwright.tools.lists import chat_messages as chat
from callwright.tools.overlay import Laid, Overlay

_MOST_TOLD = 100  # clients may send ever other lists


@dataclass(frozen=True, slots=True)
class Toolset:
    """The offered tools and the gate over them; shared by all requests that offer the same."""

    tools: tuple[Tool, ...]
    names: frozenset[str]
    gate: Gate
    opaque: bool
    offer: ToolVocabulary


class Toolsets:
    """Reads tool lists, each once: clients send the same list with every turn. The last ones are
    remembered, at most ``size`` and as JSON at most ``most`` bytes long; in memory they are about
    twelve times as large.

    ``overlay``: what is known of their tools beyond the documentation that they send; ``tell`` is
    given, once, what of it fits no tool of a list.
    """

    def __init__(
        self,
        size: int = 64,
        overlay: Overlay | None = None,
        tell: Callable[[str], None] = lambda _: None,
        most: int = Budget().cache_bytes,
    ) -> None:
        self._known: OrderedDict[bytes, Toolset] = OrderedDict()
        self._size, self._most = size, most
        self._bytes = 0  # of all that are known, as JSON
        self._overlay, self._tell = overlay, tell
        self._told: set[str] = set()

    def apply_overlay(self, body: JsonObject) -> JsonObject:
        """The request with its tools documented as the overlay has it; itself where that says
        nothing of them.
        """
        tools = body.get("tools")
        if self._overlay is None or not isinstance(tools, list):
            return body
        found = [_read_tool(entry) for entry in tools]
        laid = self._overlay.apply(tool for tool in found if tool is not None)
        self._warn(laid)
        documented = iter(laid.tools)
        made = [
            entry if tool is None else _apply_documentation(entry, tool, next(documented))
            for entry, tool in zip(tools, found, strict=True)
        ]
        return (
            {**body, "tools": made}
            if any(a is not b for a, b in zip(made, tools, strict=True))
            else body
        )

    def _warn(self, laid: Laid) -> None:
        """A client need not offer all tools that an overlay knows; one of them as it is documented
        is enough.
        """
        said = laid.problem if laid.changed or laid.refused or not laid.fitting else ""
        if laid.tools and said and said not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(said)
            self._tell(said)

    def get(self, raw: Any) -> Toolset:
        key = json_bytes(raw)
        found = self._known.get(key)
        if found is None:
            offer = chat.read_tools(raw)
            names = frozenset(t.name for t in offer.tools)
            found = self._known[key] = Toolset(
                offer.tools, names, Gate(offer.tools), offer.opaque, ToolVocabulary(offer.tools)
            )
            self._bytes += len(key)
            while len(self._known) > self._size or self._bytes > self._most:
                self._bytes -= len(self._known.popitem(last=False)[0])
        else:
            self._known.move_to_end(key)
        return found


def _read_tool(entry: Json) -> Tool | None:
    """The tool that an entry of a request's list is; None for what is no function."""
    function = entry.get("function") if isinstance(entry, dict) else None
    found = chat.read_tools([entry]).tools if isinstance(function, dict) else ()
    return found[0] if found else None


def _apply_documentation(entry: Json, before: Tool, after: Tool) -> Json:
    """An entry with a tool's documentation as an overlay has it; itself where that changes
    nothing.
    """
    if before == after or not isinstance(entry, dict):
        return entry
    told = {"description": after.description, "parameters": after.input_schema}
    return {**entry, "function": {**entry["function"], **told}}


@dataclass(slots=True)
class _Read:
    """The part of a request that was read so far. ``said`` is what the messages say, from the last
    one on.
    """

    messages: tuple[Message, ...] | None = None
    waiting: dict[str, str] | None = None
    said: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Context:
    """One chat request. ``body`` is what goes upstream, history repaired; ``questions`` what may
    still be asked.
    """

    body: JsonObject
    toolset: Toolset
    settings: Settings
    raw: bytes = field(repr=False)  # the request as it came
    choice: chat.Choice = "auto"
    named: str = ""
    parallel: bool = True
    native: bool = True  # the upstream's own calls work, as far as is known
    schema: bool = False  # the upstream is known to follow a JSON schema
    local: bool = False  # the upstream is our own llama.cpp
    leave_out: bool = False  # the reply was made to fill a schema: what nobody asked for goes
    questions: int = 0
    _read: _Read = field(default_factory=_Read, repr=False)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation in our types, read when it is first needed."""
        if self._read.messages is None:
            self._read.messages = chat.read_messages(self.body)
        return self._read.messages

    def says(self, words: str) -> bool:
        """Return True if a message of the conversation holds these words (lower case); the latest
        is checked first.
        """
        found = self.body["messages"]
        for place in range(len(found)):
            if place == len(self._read.said):
                message = found[-1 - place]
                content = message.get("content") if isinstance(message, dict) else ""
                self._read.said.append(chat.content_text(content).lower())
            if words in self._read.said[place]:
                return True
        return False

    @property
    def waiting(self) -> dict[str, str]:
        """Tools that cannot be called yet, with the identifier they wait for."""
        if self._read.waiting is None:
            from callwright.repair.context import RepairContext
            from callwright.repair.ordering.ready import waiting

            self._read.waiting = waiting(
                RepairContext(self.toolset.tools, self.query, self.messages)
            )
        return self._read.waiting

    @property
    def guarded(self) -> bool:
        """Return True if the calls of the answer are the proxy's own reading. The upstream then
        delivers no working calls.
        """
        return not self.native

    @property
    def loops(self) -> tuple[history.Loop, ...]:
        """The calls that keep failing in this conversation."""
        results = sum("tool_call_id" in m for m in self.body["messages"] if isinstance(m, dict))
        if not self.settings.loop_after or results < self.settings.loop_after:
            return ()
        return history.find_loops(self.messages, self.settings.loop_after)

    @property
    def seed(self) -> bytes:
        """Return the seed of the ids of this request's calls."""
        return ids.compute_seed(self.raw)

    @property
    def query(self) -> str:
        """Return the user's last message."""
        return next(
            (m.content for m in reversed(self.messages) if m.role == "user" and m.content.strip()),
            "",
        )

    @property
    def demanded(self) -> bool:
        """Return True if the client requires a call."""
        return self.choice in ("required", "named")

    def grant(self) -> bool:
        """Take one question from the budget, if there is one."""
        if self.questions <= 0:
            return False
        self.questions -= 1
        return True


def read_context(
    body: Mapping[str, Any], raw: bytes, toolsets: Toolsets, settings: Settings
) -> Context | None:
    """The context of a chat request; None where there is nothing to repair: no tools, or several
    answers asked for.
    """
    if (
        not body.get("tools")
        or not isinstance(body.get("messages"), list)
        or body.get("n") not in (None, 1)
    ):
        return None
    toolset = toolsets.get(body["tools"])
    if not toolset.tools:
        return None
    choice, named = chat.read_tool_choice(body)
    if named and named not in toolset.names:
        choice, named = "auto", ""  # the upstream may know what is meant; we do not
    made = Context(
        dict(body),
        toolset,
        settings,
        raw,
        choice,
        named,
        body.get("parallel_tool_calls") is not False,
    )
    spent = history.count_questions(body["messages"])
    made.questions = max(0, min(settings.reasks, settings.conversation_reasks - spent))
    return made
