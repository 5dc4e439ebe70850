"""Hides from the model the destructive tools that nobody expects to be called.

Effects and consent decide: a tool that cannot destroy is shown, and so is one that the user allowed
by its name. Among the others words rank: a small model calls what it sees, so of them it sees those
for which the request, or what was said before it, asks for something to go and shares a word with
the tool's name or description. A request in another language says nothing either way, and nothing
is kept back. Being shown permits nothing: whether a call leaves is
:mod:`~callwright.agent.safety.consent`'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from callwright.agent.words import ACTIONS, FUNCTION_WORDS, WORD, extract_stems, reduce_word
from callwright.language import ENGLISH
from callwright.language.detect import is_foreign
from callwright.language.tokens import split_name
from callwright.nouns.types import Tool

_DESTROYING = ENGLISH.words("effects.destroying")
_CHANGING = ENGLISH.words("effects.changing")
_ASKING_TO_CHANGE = ENGLISH.words("effects.asking_to_change")
_ASKING = ENGLISH.words("effects.asking_to_destroy")


def select_withheld(
    query: str,
    earlier: Iterable[str],
    tools: Sequence[Tool],
    is_expected: Callable[[Tool], bool] | None = None,
) -> tuple[Tool, ...]:
    """The destructive tools that nothing said so far speaks of, and that are not ``is_expected``:
    allowed by their names.

    Effects that nobody declared count as destructive; so the tool must also say of itself that it
    destroys, or a plain Python function without declared effects would vanish.
    """
    text = " ".join([query, *earlier])
    said = extract_stems(text)
    if is_foreign(text) or not (
        FUNCTION_WORDS & set(WORD.findall(text.lower()))
        or any(said & _list_subject_words(tool) for tool in tools)
    ):
        return ()  # another language, or no English function word and no word of any tool
    unspoken = (
        t
        for t in tools
        if _is_dangerous(t)
        and not (said & _list_subject_words(t) and said & _list_request_words(t))
    )
    return tuple(t for t in unspoken if is_expected is None or not is_expected(t))


def _is_dangerous(tool: Tool) -> bool:
    """Return True if a tool may destroy and its own words say so: it deletes, or it overwrites
    something.
    """
    if tool.effects.read_only or not tool.effects.destructive:
        return False
    return _is_deleting(tool) or bool(
        extract_stems(" ".join(split_name(tool.name)[:1])) & _OVERWRITING
    )


def _is_deleting(tool: Tool) -> bool:
    return bool(extract_stems(_join_own_words(tool)) & _RUIN)


def is_described_destructive(tool: Tool) -> bool:
    """Return True if a tool may destroy and its own words say so, whatever its source declares."""
    return _is_dangerous(tool)


def _list_request_words(tool: Tool) -> frozenset[str]:
    """The words by which a request asks for what this tool does."""
    asking = _REQUESTS if _is_deleting(tool) else _REQUESTS | _CHANGES
    return asking - _list_subject_words(tool)  # "the note" is no wish to note something


def _list_subject_words(tool: Tool) -> frozenset[str]:
    """Return the subject of a tool: the words of its name and of its description's first sentence,
    without verbs.
    """
    return extract_stems(_join_own_words(tool)) - ACTIONS


def _join_own_words(tool: Tool) -> str:
    return " ".join([*split_name(tool.name), tool.description.split(". ")[0]])


_RUIN = frozenset(reduce_word(verb) for verb in _DESTROYING)
_OVERWRITING = frozenset(reduce_word(verb) for verb in _CHANGING)
_CHANGES = frozenset(reduce_word(verb) for verb in _ASKING_TO_CHANGE)
_REQUESTS = _RUIN | {reduce_word(verb) for verb in _ASKING}
