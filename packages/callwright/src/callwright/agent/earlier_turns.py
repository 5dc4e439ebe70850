"""The earlier turns of a conversation, as a run takes them: what was said, what came back, and what
was written and is not written again unasked.

A conversation may hold calls and their results, as chat messages do. The results are sources of
values and can be cited; the calls of the run are numbered behind theirs. A write of an earlier turn
that is done, or may be, is not made again with the same arguments where the user has only thanked
since, does not ask for it anew (:func:`callwright.agent.safety.repeats.is_asked_anew`), or asks a
question that surely does not speak of its tool (:func:`callwright.agent.safety.policy.find_asked`).
Any other message may ask for it once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callwright.agent.fold import Spoke, fold_entries, read_messages
from callwright.agent.safety.policy import find_asked
from callwright.agent.safety.repeats import is_asked_anew, only_thanks
from callwright.language.tokens import has_question_mark
from callwright.nouns.types import Message, Tool, ToolResult


@dataclass(frozen=True, slots=True)
class EarlierTurns:
    """``words`` are the messages without calls and results, ``results`` what the calls returned.
    ``written``: the writes that are done or may be. ``numbered``: how many calls there were.
    """

    words: tuple[Message, ...] = ()
    results: tuple[ToolResult, ...] = ()
    written: tuple[ToolResult, ...] = ()
    numbered: int = 0

    def list_unasked(self, query: str, tools: Sequence[Tool]) -> tuple[ToolResult, ...]:
        """The writes that are not made again upon this request: all of them where it only thanks;
        of declared tools those for which it does not ask anew, and of a question those of which it
        surely does not speak ("What was the number again?"). Where its language cannot be read,
        none of them.
        """
        if only_thanks(query, self.words):
            return self.written
        declared = {tool.name for tool in tools if tool.effects.declared}
        written = [result for result in self.written if result.tool in declared]
        asked = find_asked(query, (), tools) if written and has_question_mark(query) else {}
        return tuple(
            result
            for result in written
            if asked.get(result.tool) is False or not is_asked_anew(result, query, self.words)
        )


def read_turns(conversation: Sequence[Message], tools: Sequence[Tool] = ()) -> EarlierTurns:
    """The turns of a conversation, all of them before the request of a run."""
    if not any(message.role == "tool" or message.tool_calls for message in conversation):
        return EarlierTurns(tuple(conversation))
    # what nobody has said before opens a turn
    state = fold_entries([*read_messages(conversation), Spoke("\0")], tools)
    writing = {tool.name for tool in tools if tool.effects.may_write}
    doubts = state.lasting.doubts
    written = (
        *(r for r in state.earlier if r.ok and r.id not in doubts),
        *doubts.values(),
    )
    return EarlierTurns(
        _select_words(conversation),
        state.earlier,
        tuple(result for result in written if result.tool in writing),
        sum(len(message.tool_calls) for message in conversation),
    )


def _select_words(conversation: Sequence[Message]) -> tuple[Message, ...]:
    said = (m for m in conversation if m.role != "tool" and m.content.strip())
    return tuple(replace(message, tool_calls=()) for message in said)
