"""Decides which tools the model is shown: not the destructive ones that nobody could approve.

Declared effects and consent decide, never the words of a request. A destructive tool is shown where
its calls may leave or somebody can be asked; otherwise the run names it as hidden, with the option
that shows it. Words only rank: a small model calls what it sees first, so destructive tools that
the request does not speak of come last. In another language than English the order stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from callwright.agent.words import ACTIONS, FUNCTION_WORDS, WORD, extract_stems, reduce_word
from callwright.language import ENGLISH
from callwright.language.detect import is_foreign
from callwright.language.pack import PACKS, Pack
from callwright.language.tokens import split_name
from callwright.nouns.types import Tool

_DESTROYING = ENGLISH.words("effects.destroying")
_CHANGING = ENGLISH.words("effects.changing")
_ASKING_TO_CHANGE = ENGLISH.words("effects.asking_to_change")
_ASKING = ENGLISH.words("effects.asking_to_destroy")


def select_withheld(
    tools: Sequence[Tool], may_be_called: Callable[[Tool], bool]
) -> tuple[Tool, ...]:
    """The destructive tools that are not shown: their calls would be refused, whatever they say.

    Effects that nobody declared count as destructive. ``may_be_called``: a call of the tool may
    leave, or somebody can approve it.
    """
    return tuple(t for t in tools if is_destructive(t) and not may_be_called(t))


def is_destructive(tool: Tool) -> bool:
    """Return True if a tool may destroy something, by its effects."""
    return tool.effects.may_write and tool.effects.destructive


def explain_withheld(reference: str) -> str:
    """Why a tool is not shown, and what shows it. ``reference``: the name that ``allow`` takes."""
    return f"destructive, and nobody can approve it: not shown; allowing {reference} shows it"


def rank_by_request(query: str, earlier: Iterable[str], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """All of the tools, those last that say of themselves that they destroy and that nothing said
    so far asks for. The order stays where the request cannot be read.
    """
    asked = find_asked(query, earlier, tools)
    return tuple(
        sorted(tools, key=lambda t: asked[t.name] is False and is_described_destructive(t))
    )


def find_asked(query: str, earlier: Iterable[str], tools: Sequence[Tool]) -> dict[str, bool | None]:
    """For each tool, True if the words so far ask for it: it shares a word with its name or its
    description and, where these say that it destroys, asks for something to go or to change. None
    of all tools where the request is in another language than English, or holds neither an English
    function word nor a word of any tool.
    """
    text = " ".join([query, *earlier])
    said = extract_stems(text)
    about = {tool.name: said & _list_subject_words(tool) for tool in tools}
    has_function_words = not FUNCTION_WORDS.isdisjoint(WORD.findall(text.lower()))
    if is_foreign(text) or not (has_function_words or any(about.values())):
        return dict.fromkeys(about)
    return {
        tool.name: bool(about[tool.name])
        and (not is_described_destructive(tool) or not said.isdisjoint(_list_request_words(tool)))
        for tool in tools
    }


def is_described_destructive(tool: Tool) -> bool:
    """Return True if a tool may destroy and its own words say so, in any language with a pack: it
    deletes, or it overwrites something.
    """
    if not is_destructive(tool):
        return False
    return bool(
        extract_stems(_join_own_words(tool)) & (_RUIN | _RUIN_ELSEWHERE)
        or extract_stems(" ".join(split_name(tool.name)[:1])) & _OVERWRITING
    )


def _is_deleting(tool: Tool) -> bool:
    return bool(extract_stems(_join_own_words(tool)) & _RUIN)


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
_RUIN_ELSEWHERE = frozenset(
    reduce_word(verb) for code in PACKS for verb in Pack(code).verbs_of("destroying")
)
_OVERWRITING = frozenset(reduce_word(verb) for verb in _CHANGING)
_CHANGES = frozenset(reduce_word(verb) for verb in _ASKING_TO_CHANGE)
_REQUESTS = _RUIN | {reduce_word(verb) for verb in _ASKING}
