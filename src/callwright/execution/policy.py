"""What the model is not even shown: destructive tools that the request does not speak of.

A small model calls what it sees. A tool that destroys is therefore put before it only if the request, or what was
said before it, shares a word with the tool's name or description - or if no tool shares one, since the request is
then in other words or another language and says nothing either way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from callwright.types import Tool

_WORD = re.compile(r"[^\W\d_]{3,}")
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\W\d]+")
_VERBS = frozenset(
    [
        "delete",
        "remove",
        "cancel",
        "drop",
        "erase",
        "clear",
        "wipe",
        "purge",
        "destroy",
        "reset",
        "write",
        "update",
        "set",
        "save",
        "put",
        "post",
        "add",
        "create",
        "insert",
        "get",
        "list",
        "find",
        "search",
        "show",
        "read",
        "make",
        "move",
        "send",
        "book",
        "change",
        "edit",
        "replace",
        "undo",
        "stop",
    ]
)
_EMPTY = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "all",
        "any",
        "are",
        "was",
        "were",
        "has",
        "have",
        "its",
        "his",
        "her",
        "their",
        "your",
        "our",
        "not",
        "but",
        "who",
        "what",
        "when",
        "where",
        "which",
        "how",
        "why",
        "can",
        "will",
        "would",
        "should",
        "please",
        "tool",
        "tools",
        "use",
        "used",
        "using",
        "one",
        "two",
        "into",
        "about",
        "than",
        "then",
        "them",
        "they",
        "you",
        "did",
        "does",
        "been",
        "also",
        "there",
        "here",
        "good",
        "gone",
    ]
)


def withheld(query: str, earlier: Iterable[str], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The destructive tools that nothing said so far speaks of."""
    said = _stems(" ".join([query, *earlier]))
    if not any(said & _subject(tool) for tool in tools):
        return ()
    return tuple(t for t in tools if t.effects.may_write and t.effects.destructive and not said & _subject(t))


def _subject(tool: Tool) -> frozenset[str]:
    """What a tool is about: the words of its name and of the first sentence of its description, without verbs."""
    first = tool.description.split(". ")[0]
    return _stems(" ".join([*_SPLIT.split(tool.name), first])) - _ACTIONS


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _EMPTY)


def _stem(word: str) -> str:
    """Rough, and the same for "expense" and "expenses", "delete" and "deleted"."""
    for end in ("ies", "ing", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)] + ("y" if end == "ies" else "")
    return word


_ACTIONS = frozenset(_stem(verb) for verb in _VERBS)
