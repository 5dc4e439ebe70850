"""Writes that follow on a lookup and that nobody asked for.

Asked what is left to do, a small model that was asked for a list of reminders deletes them: it
names writes that may be called and fills them with what it has read. Such a write is known by three
things at once, none of which reads a language: it holds no value that the user said and that no
call of the turn was made with; the effects of these calls are declared; and one of them wrote, or
all wishes that the model stated first had theirs. A request for all of something looks the same
("cancel all my orders"). So the model is asked, apart from the conversation, which of the tools
does what the request asks for, one letter for each (``callwright bench letters``). Where the write
has too little share it is left out, or the user is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from callwright.agent.leading.wanted import AskLetter, build_question
from callwright.agent.step import StepContext, Steps
from callwright.language.tokens import split_tokens
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.prompts.one_letter import LETTERS, ask_shares
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.records import iter_records
from callwright.repair.provenance.sources import ProvenanceIndex

LEAST_SHARE: Final = threshold("callwright.agent", "unasked_least_share")
"""The share below which a write is left out."""
SURE_SHARE: Final = threshold("callwright.agent", "unasked_sure_share")
"""The share from which a write to a record of which the user said no word is made unasked."""
LEAST_BESIDE: Final = threshold("callwright.agent", "unasked_least_beside")
"""The share below which a write is left out where another one was made, which has its own."""
SURE_BESIDE: Final = threshold("callwright.agent", "unasked_sure_beside")
"""The share from which it is made there."""
_SHOWN = 160  # characters of arguments
_MOST_WORDS = 3  # of a text that can name something
_TELLING = 4  # letters of a word that can tell of what a record speaks


@dataclass(frozen=True, slots=True)
class Doubt:
    """A write that nobody may have asked for. ``tools``: those that the turn called, and the
    write's last; ``is_linked``: the user said a word of the record that it is for; ``is_wanted``: a
    stated wish is for it.
    """

    call: ToolCall
    tools: tuple[Tool, ...]
    is_linked: bool
    is_wanted: bool = False

    @property
    def least(self) -> float:
        """The share below which nobody asked for it."""
        return LEAST_BESIDE if self.is_beside else LEAST_SHARE

    @property
    def sure(self) -> float:
        """The share from which it is made; below it only the user can tell."""
        if self.is_beside:
            return LEAST_BESIDE if self.is_wanted else SURE_BESIDE
        return LEAST_SHARE if self.is_linked else SURE_SHARE

    @property
    def is_beside(self) -> bool:
        """Return True if another write may have been made."""
        return any(tool.effects.may_write for tool in self.tools[:-1])

    def render(self) -> str:
        """Return in words why the call waits."""
        given = to_canonical_json(self.call.arguments)[:_SHOWN]
        return f"'{self.call.tool}' was not called with {given}: the request may not ask for it"


def find_doubt(
    call: ToolCall,
    wishes: Sequence[str],
    context: StepContext,
    *,
    is_told: bool = False,
    beside: Sequence[ToolCall] = (),
) -> Doubt | None:
    """The doubt about a call that follows on lookups; None where there is none. ``wishes``: those
    of the first reply, once each of them had its call. ``is_told``: the user only asks to be told
    something, and what the call holds says nothing for it. ``beside``: calls of the same reply that
    count as made.
    """
    tools = {tool.name: tool for tool in context.tools}
    results = context.facts.results
    given = call.arguments if isinstance(call.arguments, dict) else {}
    tool = tools.get(call.tool)
    if tool is None or not (results and tool.effects.declares_write):
        return None
    made = [*(one.tool for one in results), *(one.tool for one in beside)]
    called = dict.fromkeys(name for name in made if name != call.tool)
    others = [tools[name] for name in called if name in tools]
    is_known = len(others) == len(called) > 0 and all(one.effects.declared for one in others)
    if not is_known:
        return None
    is_behind = wishes or any(one.effects.may_write for one in others)
    if not is_told and (not is_behind or list_new_values(call, context)):
        return None
    said, values = _index_users_words(context), list_values(given)
    is_linked = any(said.mentions(word) for word in _list_record_words(values, results))
    shown = (*others, tool)
    return Doubt(call, shown[-len(LETTERS) :], is_linked)


def list_new_values(call: ToolCall, context: StepContext) -> list[Json]:
    """The values of a call that the user said, that no call of the turn was made with, and that can
    name something.
    """
    said, results = _index_users_words(context), context.facts.results
    return [
        value
        for value in list_values(call.arguments)
        if said.holds(value)
        and not _is_used(value, results)
        and _is_telling_value(value, context.query)
    ]


def _index_users_words(context: StepContext) -> ProvenanceIndex:
    users = [message for message in context.conversation if message.role == "user"]
    return ProvenanceIndex(context.query, users)


def list_values(arguments: JsonObject | str) -> list[Json]:
    """The texts and numbers of a call's arguments, at any depth."""
    given = arguments if isinstance(arguments, dict) else {}
    return [v for v in iter_scalars(given) if v is not None and not isinstance(v, bool)]


def ask_share(doubt: Doubt, query: str, ask_letter: AskLetter) -> Steps[float | None]:
    """The share of the write among the tools. None where the model states no probabilities."""
    tools, write = doubt.tools, doubt.tools[-1:]
    orders = (tools, (*write, *tools[:-1]))
    shares = yield from ask_shares(write, orders, partial(build_question, query), ask_letter)
    return shares[0] if shares else None


def _is_used(value: Json, results: Sequence[ToolResult]) -> bool:
    return any(has_argument(result.arguments, value) for result in results)


def _is_telling_value(value: Json, query: str) -> bool:
    """Return True for numbers, short texts and quotations: a mail's body may hold any words of the
    request.
    """
    if not isinstance(value, str) or len(split_tokens(value)) <= _MOST_WORDS:
        return True
    return any(value in quoted for quoted in ConversationText(query).quoted)


def _list_record_words(values: Sequence[Json], results: Sequence[ToolResult]) -> set[str]:
    """The words of all records that hold one of these values."""
    held = {to_canonical_json(value) for value in values}
    records = (record for result in results for record in iter_records(result.content))
    words: set[str] = set()
    for record in records:
        texts = [value for value in record.values() if isinstance(value, str | int)]
        if any(to_canonical_json(value) in held for value in texts):
            words |= {word for text in texts for word in split_tokens(str(text))}
    return {word for word in words if word.isalpha() and is_telling(word)}


def is_telling(word: str) -> bool:
    """Return True if a word can tell of what a record speaks."""
    return len(word) >= _TELLING or not word.isascii()
