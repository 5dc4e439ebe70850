"""What the model is not even shown: destructive tools that nobody expects to be called.

Effects and consent decide: a tool that cannot destroy is shown, and so is one that the user allowed
by its name. Among the others words rank: a small model calls what it sees, so of them it sees those
for which the request, or what was said before it, asks for something to go and shares a word with
the tool's name or description. A request in another language says nothing either way, and nothing
is kept back. Being shown permits nothing: whether a call leaves is
:mod:`~callwright.agent.safety.consent`'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from callwright.agent.words import ACTIONS, FUNCTION_WORDS, WORD, stem, stems
from callwright.language import ENGLISH
from callwright.language.detect import is_foreign
from callwright.language.tokens import split_name
from callwright.nouns.types import Tool

_DESTROYING = ENGLISH.words("effects.destroying")
_CHANGING = ENGLISH.words("effects.changing")
_ASKING_TO_CHANGE = ENGLISH.words("effects.asking_to_change")
_ASKING = ENGLISH.words("effects.asking_to_destroy")


def withheld(
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
    said = stems(text)
    if is_foreign(text) or not (
        FUNCTION_WORDS & set(WORD.findall(text.lower()))
        or any(said & _subject(tool) for tool in tools)
    ):
        return ()  # another language, or no English function word and no word of any tool
    unspoken = (
        t for t in tools if _dangerous(t) and not (said & _subject(t) and said & _wishes(t))
    )
    return tuple(t for t in unspoken if is_expected is None or not is_expected(t))


def _dangerous(tool: Tool) -> bool:
    """Whether a tool may destroy and its own words say so: it deletes, or it writes over
    something.
    """
    if tool.effects.read_only or not tool.effects.destructive:
        return False
    return _deletes(tool) or bool(stems(" ".join(split_name(tool.name)[:1])) & _OVERWRITING)


def _deletes(tool: Tool) -> bool:
    return bool(stems(_own_words(tool)) & _RUIN)


def destroys_by_its_own_words(tool: Tool) -> bool:
    """Whether a tool that may destroy says that it does, whatever its source declares."""
    return _dangerous(tool)


def _wishes(tool: Tool) -> frozenset[str]:
    """The words by which a request asks for what this tool does."""
    asking = _REQUESTS if _deletes(tool) else _REQUESTS | _CHANGES
    return asking - _subject(tool)  # "the note" is no wish to note something


def _subject(tool: Tool) -> frozenset[str]:
    """What a tool is about: the words of its name and of the first sentence of its description,
    without verbs.
    """
    return stems(_own_words(tool)) - ACTIONS


def _own_words(tool: Tool) -> str:
    return " ".join([*split_name(tool.name), tool.description.split(". ")[0]])


_RUIN = frozenset(stem(verb) for verb in _DESTROYING)
_OVERWRITING = frozenset(stem(verb) for verb in _CHANGING)
_CHANGES = frozenset(stem(verb) for verb in _ASKING_TO_CHANGE)
_REQUESTS = _RUIN | {stem(verb) for verb in _ASKING}
