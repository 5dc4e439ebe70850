"""Finds the calls of a conversation that are not made again, by their keys.

In one turn of the user a write that succeeded is done, and one whose outcome is unknown may have
been. A call of a tool of unknown effects counts as done where its result is final: one that says
that it is pending may be made again, unless one more call would surely begin one more job
(:mod:`callwright.repair.pending`). It may well be a read, so it is open again once another call
that may write has returned something new: tests are run again after an edit. So is a write that
declares that repeating it is harmless. Reads are never kept back.
What the user says opens a new turn, and may ask for a write of an earlier one again; a message that
only thanks, or asks for something else, does not. Nor does one that states the values of another
call of the same reply, and none of those in which that one differs, and surely asks for nothing
again. Calls of one reply that are equal are all meant. A request that surely asks for a write more
than once has it as often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from callwright.agent.state import RunState
from callwright.language.again import asks_again
from callwright.language.questions import asks_to_be_told, split_sentences
from callwright.language.thanks import is_only_greeting, is_only_thanks
from callwright.language.tokens import has_question_mark
from callwright.nouns.types import (
    UNKNOWN,
    Effects,
    Json,
    Message,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.outcome import is_in_doubt
from callwright.repair.pending import begins_new_jobs, is_pending
from callwright.repair.provenance.sources import ProvenanceIndex

Before: TypeAlias = Literal["done", "unknown", "thanked", "earlier"]
"""What came of the same call: it was done, or it may have been; or it was done in an earlier turn,
and the user has only thanked since, or has not asked for it anew.
"""


def find_made(
    state: RunState, key_of: Callable[[ToolCall], str], *, reopens: bool = True
) -> Mapping[str, Before]:
    """The outcomes of the present turn's calls that are not to be made again, by their keys.
    ``reopens=False``: no other call opens one again, for a model that calls too readily.
    """
    tools, asked = {tool.name: tool for tool in state.tools}, state.asked
    made: dict[str, Before] = {}
    earlier = [result for result in state.earlier if _is_done(result, tools)]
    if only_thanks(asked.query, asked.conversation):
        made = {key_of(_call_of(result)): "thanked" for result in earlier}
    elif not any(_is_done(result, tools) for result in state.results):
        made = {
            key_of(_call_of(result)): "earlier"
            for place, result in enumerate(earlier)
            if tools[result.tool].effects.declared
            and all(later.tool == result.tool for later in earlier[place:])  # nothing undid it
            and not is_asked_anew(result, asked.query, asked.conversation)
        }
    seen = SeenCalls(reopens, made)
    for result in _in_turn(state):
        seen.take(key_of(_call_of(result)), result, tools)
    query, called = state.asked.query, {result.tool for result in state.results}
    return {k: before for k, before in made.items() if not seen.is_asked_again(k, query, called)}


def only_thanks(query: str, conversation: Sequence[Message]) -> bool:
    """Return True if a message only thanks, and not for the offer in a question before it."""
    if not is_only_thanks(query):
        return False
    return not asks_user(conversation)


def asks_for_nothing(query: str, conversation: Sequence[Message]) -> bool:
    """Return True if the user only greets, or only thanks, and not for the offer in a question."""
    return is_only_greeting(query) or only_thanks(query, conversation)


def asks_user(conversation: Sequence[Message]) -> bool:
    """Return True if the last message of the assistant holds a question."""
    said = [message.content for message in conversation if message.role == "assistant"]
    return bool(said) and has_question_mark(said[-1])


def is_asked_anew(result: ToolResult, query: str, conversation: Sequence[Message]) -> bool:
    """Return False if a message surely does not ask once more for a call of an earlier turn: it is
    a question that asks for nothing again, answers none, and says no number or code of those that
    the user said for that call, or, where there are none, none of its words.
    """
    is_told = asks_to_be_told(query) and asks_again(query) is False
    if asks_user(conversation) or not is_told:
        return True
    users = ProvenanceIndex("", [message for message in conversation if message.role == "user"])
    texts = [v for v in iter_scalars(result.arguments) if isinstance(v, str | int | float)]
    said = [v for v in texts if not isinstance(v, bool) and users.holds(v)]
    codes = [v for v in said if any(sign.isdigit() for sign in str(v))]
    now = ProvenanceIndex(query)
    return not said or any(now.holds(value) for value in codes or said)


def find_resent_writes(
    calls: Sequence[ToolCall], state: RunState, key_of: Callable[[ToolCall], str]
) -> Mapping[str, Before]:
    """The calls of one reply that only repeat a declared write of an earlier turn beside a new call
    of the same tool, by their keys. The user's last message, or the question that it answers,
    states the values of the new call, and none of those in which the repeated one differs; surely
    neither asks for anything again.
    """
    tools = {tool.name: tool for tool in state.tools}
    done = {
        key_of(_call_of(result))
        for result in state.earlier
        if _is_done(result, tools) and tools[result.tool].effects.declared
    }
    repeated = [call for call in calls if key_of(call) in done]
    if not repeated:
        return {}
    known = done | {key_of(_call_of(result)) for result in state.results}
    new = [call for call in calls if key_of(call) not in known]
    query, questions = state.asked.query, _list_questions(state.asked.conversation)
    if any(asks_again(text) is not False for text in (query, *questions)):
        return {}
    said = ProvenanceIndex(query, questions)
    return {
        key_of(call): "earlier"
        for call in repeated
        if any(_is_meant_instead(one, call, said) for one in new if one.tool == call.tool)
    }


def _list_questions(conversation: Sequence[Message]) -> list[str]:
    """The questions in the last message of the assistant."""
    said = [message.content for message in conversation if message.role == "assistant"]
    lines = "".join(said[-1:]).splitlines()
    return [one for line in lines for one in split_sentences(line) if has_question_mark(one)]


def _is_meant_instead(new: ToolCall, repeated: ToolCall, said: ProvenanceIndex) -> bool:
    """Return True if all values in which a call differs from another are said, and none of the
    other's.
    """
    values, others = _list_values(new.arguments), _list_values(repeated.arguments)
    own = [value for value in values if value not in others]
    gone = [value for value in others if value not in values]
    is_told = bool(own and gone) and all(map(said.holds, own))
    return is_told and not any(_may_be_said(value, said) for value in gone)


def _may_be_said(value: Json, said: ProvenanceIndex) -> bool:
    """Return True if a value is said, or may be a part of a word: scripts without spaces."""
    return said.holds(value) or (isinstance(value, str) and said.holds_whole(value))


def _list_values(arguments: Json) -> list[Json]:
    """The texts and numbers of a call's arguments."""
    leaves = (leaf for leaf in iter_scalars(arguments) if leaf != "")
    return [v for v in leaves if isinstance(v, str | int | float) and not isinstance(v, bool)]


@dataclass(slots=True)
class SeenCalls:
    """The calls of a turn so far, by their keys. ``made`` are not to be made again; ``loose`` are
    those that another call opens again, and what their tools do; ``told`` is what calls have
    returned; ``begun`` are results of tools of unknown effects that say that a job goes on.
    """

    reopens: bool
    made: dict[str, Before] = field(default_factory=dict)
    loose: dict[str, Effects] = field(default_factory=dict)
    told: set[tuple[str, str]] = field(default_factory=set)
    done: dict[str, list[ToolCall]] = field(default_factory=dict)
    begun: dict[str, list[ToolResult]] = field(default_factory=dict)

    def is_asked_again(self, key: str, query: str, called: Collection[str]) -> bool:
        """Return True if the user surely asks for a call more often than it was done. ``called``:
        the tools of this turn; where there are several, it is not sure of which the user speaks.
        """
        done = self.done.get(key, [])
        if not done or len(called) > 1 or self.made.get(key) != "done":
            return False
        from callwright.repair.rules.equal_calls import count_asked

        return count_asked(done[0], query) > len(done)

    def take(self, key: str, result: ToolResult, tools: Mapping[str, Tool]) -> list[str]:
        """Note a result; returns the keys of the calls that it opens again."""
        tool = tools.get(result.tool)
        effects = tool.effects if tool is not None else UNKNOWN
        if effects.read_only:
            return []
        opened = self._reopen(key, result)
        before = _judge(result, tool) if tool is not None else None
        if before == "begun":
            begun = self.begun[key] = [*self.begun.get(key, ()), result]
            if not begins_new_jobs(begun, [*tools.values()]):
                return opened
            self.done[key] = [_call_of(one) for one in begun]
            before = "done"
        elif before is None:
            return opened
        elif result.ok:
            self.done.setdefault(key, []).append(_call_of(result))
        self.made[key] = before
        if self.reopens and (effects.idempotent or not effects.declared):
            self.loose[key] = effects
        return opened

    def _reopen(self, key: str, result: ToolResult) -> list[str]:
        """Another call may have changed what an earlier one would find: one that may be repeated is
        open again. One of unknown effects is where the other returned something new; a model that
        goes in circles does not.
        """
        said = to_canonical_json(result.content if result.ok else str(result.failure))
        is_new = (key, said) not in self.told
        self.told.add((key, said))
        opened = [
            other
            for other, effects in self.loose.items()
            if other != key and (is_new or effects.declared)
        ]
        for other in opened:
            del self.loose[other]
            self.made.pop(other, None)
        return opened


def _call_of(result: ToolResult) -> ToolCall:
    return ToolCall(result.id, result.tool, result.arguments)


def _is_done(result: ToolResult, tools: Mapping[str, Tool]) -> bool:
    """Return True if a call of a tool that may write has succeeded."""
    tool = tools.get(result.tool)
    return tool is not None and tool.effects.may_write and result.ok


def _in_turn(state: RunState) -> Iterable[ToolResult]:
    """The results of the turn, and the calls of it of which nobody knows what they returned. Those
    of earlier turns belong to it where the user has only thanked since, or has surely not asked for
    them anew.
    """
    known = {result.id for result in (*state.earlier, *state.results)}
    asked, said = state.asked, (state.asked.query, state.asked.conversation)
    has_thanked = only_thanks(*said)
    lost = (
        result
        for id_, result in state.lasting.doubts.items()
        if id_ not in known
        and (id_ not in asked.unanswered or has_thanked or not is_asked_anew(result, *said))
    )
    return (*state.results, *lost)


def _judge(result: ToolResult, tool: Tool) -> Before | Literal["begun"] | None:
    effects = tool.effects
    if effects.read_only:
        return None
    if not result.ok:
        # of what nobody declared, an error is taken for what it says
        return "unknown" if effects.declared and is_in_doubt(result, tool) else None
    return "begun" if not effects.declared and is_pending(result.content) else "done"
