"""Holds the context of the rules besides the calls: the tools, the conversation, the settings.
Indexes are made when needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from callwright.dataflow.flow import content_words
from callwright.jsontext import JsonError, parse, parse_object
from callwright.nouns.types import Json, Message, Tool, to_canonical_json
from callwright.repair.gate import Gate
from callwright.repair.pending import is_pending
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.result import Settings
from callwright.repair.rules.names import score_request_words, telling_words


class RepairContext:
    """Tools in view and the conversation so far, for one refinement."""

    def __init__(
        self,
        tools: Sequence[Tool],
        query: str = "",
        messages: Sequence[Message] = (),
        settings: Settings | None = None,
    ) -> None:
        self.tools = tuple(tools)
        self.by_name = {t.name: t for t in self.tools}
        self.gate = Gate(self.tools)
        self.settings = settings or Settings()
        self.messages = tuple(messages)
        said = [m.content for m in messages if m.content]
        if query and (not said or said[-1] != query):
            said.append(query)
        self.query = query or next((m.content for m in reversed(messages) if m.role == "user"), "")
        self.said = said
        self.told = [m.content for m in messages if m.content and m.role != "system"]
        self.told += [query] if query and query not in self.told[-1:] else []
        self.asked = [m.content for m in messages if m.role == "user" and m.content] or said

    @cached_property
    def sources(self) -> ProvenanceIndex:
        """Everything said, indexed: where values may come from."""
        return ProvenanceIndex(conversation=self.said)

    @cached_property
    def talk(self) -> ConversationText:
        """Return the conversation as text from which values can be picked. A system prompt that
        names an offered tool is left out, since it explains tools.
        """
        system = [m.content for m in self.messages if m.content and m.role == "system"]
        system = [text for text in system if not any(name in text for name in self.by_name)]
        return ConversationText("\n".join([*system, *self.told]))

    @cached_property
    def low(self) -> str:
        """Everything said, in lower case."""
        return "\n".join(self.said).lower()

    @cached_property
    def asked_words(self) -> frozenset[str]:
        """The words of the request that carry meaning."""
        return content_words(self.query[-4_000:])

    @cached_property
    def shares(self) -> dict[str, float]:
        """Return for each tool how much the request speaks of it."""
        return {tool.name: score_request_words(self.asked_words, tool) for tool in self.tools}

    @cached_property
    def spoken_of(self) -> list[tuple[Tool, frozenset[str]]]:
        """The tools of whose names the request says a word, and the words of those names."""
        named = [(tool, telling_words(tool.name, tool.description)[0]) for tool in self.tools]
        return [(tool, own) for tool, own in named if own & self.asked_words]

    @cached_property
    def done(self) -> frozenset[str]:
        """Prints of the calls that the conversation already holds and that say nothing new: as
        messages' own since the last word of the user, write or result of a job that goes on, or
        as JSON lines in a text; what a system prompt holds is a list of tools or an example.
        """
        own: list[tuple[str, Json]] = []
        for message in self.messages:
            tools = [self.by_name.get(call.tool) for call in message.tool_calls]
            is_write = any(tool is None or tool.effects.may_write for tool in tools)
            if message.role == "user" or is_write or is_pending(parse_object(message.content)):
                own.clear()
            own += [(call.tool, call.arguments) for call in message.tool_calls]
        return frozenset(
            call_print(name, arguments) for name, arguments in [*own, *self._written()]
        )

    def _written(self) -> Iterator[tuple[str, Json]]:
        for line in "\n".join(self.told).splitlines():
            text = line.strip()
            if text[:1] == "{" and text[-1:] == "}" and '"name"' in text:
                try:
                    value = parse(text)
                except JsonError:
                    continue
                if isinstance(value.get("name"), str):
                    yield value["name"], value.get("arguments", value.get("parameters", {}))

    @property
    def informed(self) -> bool:
        """Return True if there is any conversation. Without one, no value can be called
        ungrounded.
        """
        return bool(self.said)


def call_print(name: str, arguments: Json) -> str:
    """Return a key that equal calls share. Numbers and truth values may be written as text."""
    if isinstance(arguments, dict):
        arguments = {
            k: v if isinstance(v, str) else to_canonical_json(v)
            for k, v in arguments.items()
            if v is not None
        }
    return to_canonical_json([name, arguments])
