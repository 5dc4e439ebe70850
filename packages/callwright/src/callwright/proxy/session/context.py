"""All that one request says about calls, read once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from callwright.agent.fold import fold_entries, read_messages
from callwright.agent.state import RunState
from callwright.language.spoken import name_spoken
from callwright.nouns.types import (
    Effects,
    Json,
    JsonObject,
    Message,
    Reply,
    Tool,
    to_canonical_json,
)
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.proxy.server.budget import Budget
from callwright.proxy.session import custom_tools, history, ids
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.media import holds_media
from callwright.proxy.session.settings import GuardMode, Settings
from callwright.proxy.session.told_calls import read_told_calls, write_told_calls
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.tools.declared_effects import DeclaredEffects
from callwright.tools.lists import chat_messages as chat
from callwright.tools.overlay import Laid, Overlay, documented

if TYPE_CHECKING:
    from callwright.agent.leading.early_calls import IntendedCall
    from callwright.agent.safety.clear import ClearanceState
    from callwright.agent.safety.held_call import HeldCall

_MOST_TOLD = 100  # clients may send ever other lists


class DecidedBefore(NamedTuple):
    """The tools that were chosen for a request of the user, and the calls that came too early.
    ``stated``: the wishes of the first reply; ``wishes``: the same, if each had its call. ``left``:
    calls that were held until the user says what is meant. ``seen``: digests of the results that
    these calls may rest on.
    """

    chosen: tuple[str, ...] | None = None
    intended: tuple[IntendedCall, ...] = ()
    wishes: tuple[str, ...] = ()
    left: tuple[HeldCall, ...] = ()
    stated: tuple[str, ...] = ()
    seen: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Toolset:
    """The offered tools and the gate over them; shared by all requests that offer the same."""

    tools: tuple[Tool, ...]
    names: frozenset[str]
    gate: Gate
    opaque: bool
    offer: ToolVocabulary
    # digest of a request -> what was decided for it: a memory that may be lost
    decided: dict[bytes, DecidedBefore] = field(default_factory=dict, compare=False)
    # a question without a conversation -> the share that the upstream gave a value
    shares: dict[str, float] = field(default_factory=dict, compare=False)
    # a model -> digest of a question that stands alone -> its reply
    letters: dict[str, dict[bytes, Reply]] = field(default_factory=dict, compare=False)
    # the models that state no probabilities: they are not asked for them again
    silent: set[str] = field(default_factory=set, compare=False)
    _parts: dict[frozenset[str], Toolset] = field(default_factory=dict, compare=False, repr=False)

    @property
    def undeclared(self) -> tuple[Tool, ...]:
        """Return the tools of which nobody says what they do."""
        return tuple(tool for tool in self.tools if not tool.effects.declared)

    def select(self, names: frozenset[str]) -> Toolset:
        """Only these of the tools; the same object each time, for what it remembers."""
        if names not in self._parts:
            tools = tuple(tool for tool in self.tools if tool.name in names)
            self._parts[names] = build_toolset(tools, is_opaque=self.opaque)
        return self._parts[names]


def build_toolset(tools: tuple[Tool, ...], *, is_opaque: bool) -> Toolset:
    """The tools of a request, with the gate over them."""
    names = frozenset(tool.name for tool in tools)
    return Toolset(tools, names, Gate(tools), is_opaque, ToolVocabulary(tools))


class Toolsets:
    """Reads tool lists, each once: clients send the same list with every turn. The last ones are
    remembered, at most ``size`` and as JSON at most ``most`` bytes long; in memory they are about
    twelve times as large.

    ``overlay``: what is known of their tools beyond the documentation that they send; ``effects``:
    what a user declares of what they do; ``tell`` is
    given, once, what of it fits no tool of a list.
    """

    def __init__(
        self,
        size: int = 64,
        overlay: Overlay | None = None,
        effects: DeclaredEffects | None = None,
        tell: Callable[[str], None] = lambda _: None,
        most: int = Budget().cache_bytes,
    ) -> None:
        self._known: OrderedDict[bytes, Toolset] = OrderedDict()
        self._size, self._most = size, most
        self._bytes = 0  # of all that are known, as JSON
        self._overlay, self._tell = overlay, tell
        self._effects = effects or DeclaredEffects()
        self._told: set[str] = set()
        # documentation as the overlay has it -> effects that the overlay declares with it
        self._laid_effects: dict[str, Effects] = {}

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
        self._note_effects(found, laid.tools)
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

    def _note_effects(self, before: Sequence[Tool | None], after: Sequence[Tool]) -> None:
        """A request's entry does not carry what an overlay says of a tool's effects."""
        read = (tool for tool in before if tool is not None)
        for old, new in zip(read, after, strict=True):
            if new.effects != old.effects and len(self._laid_effects) < _MOST_TOLD:
                self._laid_effects[documented(new)] = new.effects

    def _with_laid_effects(self, tool: Tool) -> Tool:
        effects = self._laid_effects.get(documented(tool)) if self._laid_effects else None
        return replace(tool, effects=effects) if effects is not None else tool

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
            offer = custom_tools.read_tools(raw)
            tools = self._effects.apply(offer.tools)
            tools = tuple(map(self._with_laid_effects, tools))
            found = self._known[key] = build_toolset(tools, is_opaque=offer.opaque)
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
    state: RunState | None = None
    waiting: dict[str, str] | None = None
    sources: ProvenanceIndex | None = None
    said: list[str] = field(default_factory=list)
    instructions: str = ""
    known: dict[bool, ClearanceState] = field(default_factory=dict)


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
    guard: GuardMode = "act"  # what becomes of calls that must not be made
    leave_out: bool = False  # the reply was made to fill a schema: what nobody asked for goes
    questions: int = 0
    _read: _Read = field(default_factory=_Read, repr=False)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation in our types, read when it is first needed; calls and results that the
        client tells as text are calls and results.
        """
        if self._read.messages is None:
            found = chat.read_messages(self.body)
            self._read.messages = read_told_calls(found, self.toolset.tools)
        return self._read.messages

    @property
    def instructions(self) -> str:
        """The instructions of the last question for calls: questions that begin alike share the
        upstream's prompt cache.
        """
        return self._read.instructions

    @instructions.setter
    def instructions(self, told: str) -> None:
        self._read.instructions = told

    @property
    def may_ask_for_shares(self) -> bool:
        """Return True if the upstream may be asked how likely it holds an answer, and may tell."""
        return str(self.body.get("model")) not in self.toolset.silent and not self.holds_media

    @property
    def letters(self) -> dict[bytes, Reply]:
        """The upstream's replies to questions that stand alone, by their digests; shared by all
        requests with these tools.
        """
        return self.toolset.letters.setdefault(str(self.body.get("model")), {})

    def note_shares(self, reply: Reply) -> None:
        """Ask an upstream for none again that stated none in a reply; an empty one says nothing."""
        if reply.text and not reply.first_token:
            self.toolset.silent.add(str(self.body.get("model")))

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
    def state(self) -> RunState:
        """The facts of the conversation, folded when they are first needed."""
        if self._read.state is None:
            self._read.state = fold_entries(read_messages(self.messages), self.toolset.tools)
        return self._read.state

    @property
    def sources(self) -> ProvenanceIndex:
        """All that the conversation says: messages, the arguments of earlier calls, and what
        results hold. Read when it is first needed.
        """
        if self._read.sources is None:
            state = self.state
            results = (*state.earlier, *state.results)
            made = ProvenanceIndex(state.asked.query, self.messages, results)
            for message in self.messages:
                for call in message.tool_calls:
                    given = call.arguments
                    made.add_text(given if isinstance(given, str) else to_canonical_json(given))
            self._read.sources = made
        return self._read.sources

    @property
    def known(self) -> dict[bool, ClearanceState]:
        """The facts by which the guard has judged calls so far, by ``leave_out``."""
        return self._read.known

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
        """Return the user's last words: neither a reminder of the client nor a result without its
        call, which is told in the user's turn.
        """
        return self.state.asked.query

    @property
    def spoken(self) -> str:
        """The language in which the user is answered, as a question to the upstream names it."""
        asked = self.state.asked
        earlier = [message.content for message in asked.conversation if message.role == "user"]
        return name_spoken(self.query, earlier)

    @property
    def is_led_natively(self) -> bool:
        """Return True if our engine leads the upstream by its own calls. A ``tool_choice`` that
        says more than the default leaves the order to the client.
        """
        is_free = self.body.get("tool_choice") in (None, "auto")
        return self.settings.guided == "native" and self.native and is_free

    @property
    def holds_media(self) -> bool:
        """Return True if the conversation shows more than its text says: then a value that stands
        nowhere may still come from it.
        """
        return holds_media(self.body["messages"])

    @property
    def demanded(self) -> bool:
        """Return True if the client requires a call."""
        return self.choice in ("required", "named")

    @property
    def forbids_calls(self) -> bool:
        """Return True if the client lets no call be made. A led turn that ends in words takes none
        either, and its client forbade none.
        """
        return self.choice == "none" and not self.leave_out

    def free_choice(self, left_out: frozenset[str]) -> Context:
        """The same request without these tools, and no call demanded; what its messages tell as
        text are calls and results.
        """
        messages = write_told_calls(self.body["messages"], self.toolset.tools)
        return self._offer(self.toolset.names - left_out, messages)

    def demand(self, names: frozenset[str]) -> Context:
        """The same request with a call of one of these tools demanded, and no other offered."""
        made = self._offer(names, self.body["messages"])
        made.choice, made.parallel = "required", False
        return made

    def _offer(self, names: frozenset[str], messages: Json) -> Context:
        body = {k: v for k, v in self.body.items() if k != "tool_choice"}
        body["tools"] = [tool for tool in body["tools"] if chat.get_tool_name(tool) in names]
        body["messages"] = messages
        toolset = self.toolset.select(names)
        return replace(self, body=body, toolset=toolset, choice="auto", _read=_Read())

    def grant(self) -> bool:
        """Take one question from the budget, if there is one."""
        if self.questions <= 0:
            return False
        self.questions -= 1
        return True


def read_context(
    body: Mapping[str, Any], raw: bytes, toolsets: Toolsets, settings: Settings
) -> Context | None:
    """The context of a chat request for one answer; None where there is nothing to repair: no
    tools.
    """
    if not body.get("tools") or not isinstance(body.get("messages"), list):
        return None
    toolset = toolsets.get(chat.read_allowed_tools(body))
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
