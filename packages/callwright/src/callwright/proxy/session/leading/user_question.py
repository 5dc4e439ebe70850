"""A question to the user, in the model's words, for the values without which a call is not made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from callwright import prompts
from callwright.jsontext import JsonError, parse_lenient
from callwright.language.tokens import split_identifier, split_tokens
from callwright.models.chat import messages_out
from callwright.nouns.types import Json, JsonObject, Tool
from callwright.proxy.session import followup
from callwright.proxy.session.context import Context
from callwright.proxy.session.guarding import HeldCall
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.normalize import closed_object

_TELLING = 4  # letters of a word that tells of what a sentence speaks

QUESTION = closed_object(question={"type": "string", "pattern": "^[^?？؟]{4,300}[?？؟]$"})
"""The reply to a request for a question to the user, in any language."""
QUESTION_OR_REPLY: JsonObject = {
    "anyOf": [QUESTION, closed_object(reply={"type": "string", "maxLength": 600})]
}
"""The same where it is not known that the user asked for the calls: what is said instead."""


def build_question(context: Context, held: Sequence[HeldCall]) -> JsonObject:
    """The request without tools, for one question to the user: for the values that nothing states,
    without which these calls are not made.
    """
    made = followup.copy_settings(context)
    tools = {tool.name: tool for tool in context.toolset.tools}
    names = dict.fromkeys(one.call.tool for one in held)
    missing = dict.fromkeys(_render_missing(one, tools[one.call.tool]) for one in held)
    asked = prompts.render(
        "question", calls=", ".join(names), missing="; ".join(missing), language=context.spoken
    )
    made["messages"] = [*made["messages"], *messages_out(asked)]
    wanted = QUESTION if is_request(context, held) else QUESTION_OR_REPLY
    return followup.hold_to_schema(made, wanted, context)


def is_request(context: Context, held: Sequence[HeldCall]) -> bool:
    """Return True if the user's last message surely asks for something: something was looked up for
    it, or it holds a word of one of these calls' tools and of no other tool.
    """
    names = {one.call.tool for one in held}
    said = ProvenanceIndex(context.query)
    own = {tool.name: _list_used(tool, said) for tool in context.toolset.tools}
    shared = Counter(word for words in own.values() for word in words)
    is_spoken_of = any(shared[word] == 1 for name in names for word in own.get(name, ()))
    return bool(context.state.results) or is_spoken_of


def _list_used(tool: Tool, said: ProvenanceIndex) -> set[str]:
    """The words of a tool's name and description that were used."""
    words = _list_words(f"{' '.join(split_identifier(tool.name))} {tool.description}")
    return {word for word in words if said.mentions(word)}


def _list_words(text: str) -> set[str]:
    from callwright.dataflow.flow import STOP

    return {word for word in split_tokens(text) if len(word) >= _TELLING and word not in STOP}


def _add_unnamed(question: str, context: Context, held: Sequence[HeldCall]) -> str:
    """The question, and below it the arguments of which it says no word. Both must be English to tell
    that: schemas are.
    """
    from callwright.repair.provenance.readable import reads_english

    if not reads_english([context.query]):
        return question
    said = ProvenanceIndex(question)
    tools = {tool.name: tool for tool in context.toolset.tools}
    rest = [replace(one, missing=_list_unnamed(one, tools[one.call.tool], said)) for one in held]
    told = dict.fromkeys(_render_missing(one, tools[one.call.tool]) for one in rest if one.missing)
    return "\n".join([question, *(f"- {missing}" for missing in told)])


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


def _render_missing(held: HeldCall, tool: Tool) -> str:
    """The arguments that nothing states, by name, each with what its schema says of it."""
    told = ((key, _get_description(tool.properties.get(key))) for key in held.missing)
    return ", ".join(f"{key} ({about})" if about else key for key, about in told)


def read_question(text: str, context: Context, held: Sequence[HeldCall]) -> str:
    """The text for the user in a reply to :func:`build_question`: the question, and what it does not
    name of the missing values; "" where there is none.
    """
    said = _read_words(text)
    return _add_unnamed(said, context, held) if said and is_request(context, held) else said


def _read_words(text: str) -> str:
    """The question of such a reply, or what it says instead; "" where it is neither. An upstream that
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
