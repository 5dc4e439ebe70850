"""A question to the user, in the model's words, for the values without which a call is not made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from callwright import prompts
from callwright.agent.safety.held_call import OTHER_RECORD, UNASKED_WRITE, USERS_TO_TELL, HeldCall
from callwright.jsontext import JsonError, parse_lenient
from callwright.language.spoken import guess_spoken, load_phrases
from callwright.language.tokens import split_identifier, split_tokens
from callwright.nouns.types import Json, JsonObject, Message, Tool, ToolResult
from callwright.parsing.leftovers import remove_leftovers
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.normalize import closed_object

_MOST_GIVEN = 4_000  # characters of a call's arguments: who is asked sees them all
_TELLING = 4  # letters of a word that tells of what a sentence speaks

QUESTION = closed_object(question={"type": "string", "pattern": "^[^?？؟]{4,300}[?？؟]$"})
"""The reply to a request for a question to the user, in any language."""
QUESTION_OR_REPLY: JsonObject = {
    "anyOf": [QUESTION, closed_object(reply={"type": "string", "maxLength": 600})]
}
"""The same where it is not known that the user asked for the calls: what is said instead."""


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """A question to the user about calls that are not made. ``query``: the user's last message.
    ``is_request``: that message surely asks for something, so that nothing but a question is said.
    """

    held: tuple[HeldCall, ...]
    tools: tuple[Tool, ...]
    query: str
    is_request: bool

    @classmethod
    def build(
        cls,
        held: Sequence[HeldCall],
        tools: Sequence[Tool],
        query: str,
        results: Sequence[ToolResult],
    ) -> UserQuestion:
        """The question about these calls. ``tools``: all that are offered; ``results``: of this
        turn.
        """
        is_request = bool(results) or _is_spoken_of(held, tools, query)
        return cls(tuple(held), tuple(tools), query, is_request)

    @property
    def fixed_text(self) -> str:
        """The questions in fixed words of the user's language about calls whose values are known:
        writes that may not be asked for, and those of which another record may be meant; "" where
        there are none.
        """
        from callwright.grounding.answer.quoting import render_call

        phrases = load_phrases(guess_spoken(self.query))
        doubted = [one.call for one in self.held if one.rule == UNASKED_WRITE]
        calls = [render_call(call, _MOST_GIVEN) for call in doubted]
        asked = [phrases["also"].format(calls="; ".join(calls))] if calls else []
        asked += [
            phrases["which"].format(tool=one.call.tool, records="; ".join(one.records))
            for one in self.held
            if one.rule == OTHER_RECORD
        ]
        return "\n".join(asked)

    @property
    def in_fixed_words(self) -> str:
        """The whole question in fixed words of the user's language, for want of the model's own."""
        phrases = load_phrases(guess_spoken(self.query))
        known = {tool.name: tool for tool in self.tools}
        asked = [
            phrases["needed"].format(
                tool=one.call.tool, missing=_render_missing(one, known[one.call.tool])
            )
            for one in self.open
        ]
        return "\n".join(filter(None, [*dict.fromkeys(asked), self.fixed_text]))

    @property
    def open(self) -> tuple[HeldCall, ...]:
        """The calls about which the model has to ask."""
        return tuple(one for one in self.held if one.rule not in USERS_TO_TELL)

    @property
    def schema(self) -> JsonObject:
        """The form of the reply."""
        return QUESTION if self.is_request else QUESTION_OR_REPLY

    def render_messages(self, language: str) -> tuple[Message, ...]:
        """The messages that ask the model for it, behind the conversation. ``language``: the name
        of the one that the user speaks.
        """
        calls = ", ".join(dict.fromkeys(one.call.tool for one in self.open))
        missing = "; ".join(self.list_missing())
        return prompts.render("question", calls=calls, missing=missing, language=language)

    def list_missing(self) -> list[str]:
        """The arguments that nothing states, those of each call as one text."""
        return _list_missing(self.open, self.tools)

    def read_reply(self, text: str) -> str:
        """The text for the user in a reply: the question, and what it does not name of the missing
        values, with what is asked in fixed words; "" where there is none.
        """
        said, _ = remove_leftovers(_read_words(text), lambda token: token in self.query)
        said = said.strip()
        said = self._add_unnamed(said) if said and self.is_request else said
        return "\n".join(filter(None, [said, self.fixed_text]))

    def _add_unnamed(self, question: str) -> str:
        """The question, and below it the arguments of which it says no word. Both must be English
        to tell that: schemas are.
        """
        from callwright.repair.provenance.readable import reads_english

        if not reads_english([self.query]):
            return question
        said, tools = ProvenanceIndex(question), {tool.name: tool for tool in self.tools}
        rest = [
            replace(one, missing=_list_unnamed(one, tools[one.call.tool], said))
            for one in self.open
        ]
        left = _list_missing([one for one in rest if one.missing], self.tools)
        return "\n".join([question, *(f"- {missing}" for missing in left)])


def _is_spoken_of(held: Sequence[HeldCall], tools: Sequence[Tool], query: str) -> bool:
    """Return True if a message holds a word of one of these calls' tools and of no other tool."""
    names = {one.call.tool for one in held}
    said = ProvenanceIndex(query)
    own = {tool.name: _list_used(tool, said) for tool in tools}
    shared = Counter(word for words in own.values() for word in words)
    return any(shared[word] == 1 for name in names for word in own.get(name, ()))


def _list_used(tool: Tool, said: ProvenanceIndex) -> set[str]:
    """The words of a tool's name and description that were used."""
    words = _list_words(f"{' '.join(split_identifier(tool.name))} {tool.description}")
    return {word for word in words if said.mentions(word)}


def _list_words(text: str) -> set[str]:
    from callwright.dataflow.flow import STOP

    return {word for word in split_tokens(text) if len(word) >= _TELLING and word not in STOP}


def _list_unnamed(held: HeldCall, tool: Tool, said: ProvenanceIndex) -> tuple[str, ...]:
    words = {
        key: _list_words(
            f"{' '.join(split_identifier(key))} {_get_description(tool.properties.get(key))}"
        )
        for key in held.missing
    }
    return tuple(key for key, own in words.items() if own and not any(map(said.mentions, own)))


def _get_description(part: Json) -> str:
    about = part.get("description") if isinstance(part, dict) else None
    return about if isinstance(about, str) else ""


def _list_missing(held: Sequence[HeldCall], tools: Sequence[Tool]) -> list[str]:
    known = {tool.name: tool for tool in tools}
    return [*dict.fromkeys(_render_missing(one, known[one.call.tool]) for one in held)]


def _render_missing(held: HeldCall, tool: Tool) -> str:
    """The arguments that nothing states, by name, each with what its schema says of it."""
    told = ((key, _get_description(tool.properties.get(key))) for key in held.missing)
    return ", ".join(f"{key} ({about})" if about else key for key, about in told)


def _read_words(text: str) -> str:
    """The question of such a reply, or what it says instead; "" where it is neither. A model that
    does not follow the schema answers in words, which are as good.
    """
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        value = parse_lenient(text).value
    except JsonError:
        return ""
    told = value if isinstance(value, dict) else {}
    asked = told.get("question", told.get("reply"))
    return asked.strip() if isinstance(asked, str) else ""
