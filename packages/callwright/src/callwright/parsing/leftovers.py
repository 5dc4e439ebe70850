"""Leftovers of a chat template in an answer's text: control tokens that the server passed on as
text, and the turns of others that a model writes after its own.

A token is a leftover where nothing speaks for its being meant. It is left alone in code (a fence or
a code span), in quotation marks or brackets of its own, as a word amid a sentence, and where
``is_named`` says that the conversation names it. Pure; the result does not depend on how the text
was cut into pieces. Only what may begin a token waits, and a token until it is clear what follows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from callwright.parsing.template_tokens import load_template_tokens

_FENCE = re.compile(r"[\0 \t>*+\-]{0,16}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_BLANKS = re.compile(r"[ \t]{0,64}")  # that are looked through for what follows a token
_SPACE = re.compile(r"\s{0,64}")
_HEAD, _TAIL = 40, 80  # characters of a line that are kept
_REMOVED = "\0"  # stands in the line so far where something was removed, or is no text
_ENCLOSED = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“”",
    "‘": "’",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "(": ")",
    "（": "）",
}


class Part(NamedTuple):
    """A part of the text, in its order; joined, the parts are the text."""

    text: str
    is_removed: bool = False


class _Line:
    """The line that is being written, as far as it says where code is: its beginning, its end, and
    whether a code span is open.
    """

    def __init__(self) -> None:
        self.head = self.tail = ""
        self._opened = self._ticks = ""

    def extend(self, text: str) -> None:
        """More of the line."""
        if len(self.head) < _HEAD:
            self.head += text[: _HEAD - len(self.head)]
        self.tail = (self.tail + text[-_TAIL:])[-_TAIL:]
        if not text or not (self._ticks or "`" in text):
            return
        text, self._ticks = self._ticks + text, ""
        for ticks in _TICKS.finditer(text):
            if ticks.end() == len(text):
                self._ticks = ticks[0]
            else:
                self._opened = _follow_ticks(self._opened, ticks[0])

    @property
    def is_in_span(self) -> bool:
        return bool(_follow_ticks(self._opened, self._ticks))


def _follow_ticks(opened: str, ticks: str) -> str:
    """The marks that hold a code span open, after more marks."""
    if not opened:
        return ticks
    return "" if ticks == opened else opened


class LeftoverFilter:
    """Feed it an answer's text; it says what of it is shown and what is removed. ``is_named``: the
    conversation itself speaks of this token.
    """

    def __init__(self, is_named: Callable[[str], bool]) -> None:
        self._tokens = load_template_tokens()
        self._is_named = cache(is_named)
        self._text = ""  # what is not decided yet
        self._line = _Line()  # the line so far, as it is shown
        self._fence = ""  # the marks that opened the fence in which the text stands
        self._is_foreign = False  # in a turn of somebody else
        self._has_said = self._has_removed = False
        self._parts: list[Part] = []

    def feed(self, text: str) -> list[Part]:
        """More text; the parts that are now decided."""
        self._text += text
        self._run(ended=False)
        return self._take_parts()

    def flush(self) -> list[Part]:
        """Return what still waits: the text has ended, or something else than text follows."""
        self._run(ended=True)
        self._break_line()
        return self._take_parts()

    def _take_parts(self) -> list[Part]:
        parts, self._parts = self._parts, []
        return parts

    def _run(self, *, ended: bool) -> None:
        text, at = self._text, 0
        while at < len(text):
            marks = self._tokens.own_marks if self._is_foreign else self._tokens.marks
            place, word = marks.search(text, at, ended)
            self._pass(text[at:place])
            at = place
            if not word:
                break
            is_leftover = self._is_foreign or self._is_leftover(word, text, place, ended)
            if is_leftover is None:
                break
            at += len(word)
            if is_leftover:
                self._remove_token(word)
            else:
                self._show(word)
        self._text = text[at:]

    def _pass(self, text: str) -> None:
        if self._is_foreign:
            self._remove(text)
            return
        if self._has_removed and not self._has_said:
            shown = text.lstrip()
            self._remove(text[: len(text) - len(shown)])
            text = shown
        self._show(text)

    def _show(self, text: str) -> None:
        if not text:
            return
        self._has_said = self._has_said or not text.isspace()
        self._parts.append(Part(text))
        first, *others = text.split("\n")
        self._line.extend(first)
        for line in others:
            if found := _FENCE.match(self._line.head):
                self._see_fence(found[1])
            self._line = _Line()
            self._line.extend(line)

    def _see_fence(self, marks: str) -> None:
        if not self._fence:
            self._fence = marks
        elif marks.startswith(self._fence):
            self._fence = ""

    def _remove_token(self, word: str) -> None:
        if word in self._tokens.own_turn:
            self._is_foreign = False
        elif word in self._tokens.other_turn:
            self._is_foreign = self._has_said
        self._remove(word)

    def _remove(self, text: str) -> None:
        if not text:
            return
        self._has_removed = True
        if self._parts and self._parts[-1].is_removed:
            self._parts[-1] = Part(self._parts[-1].text + text, is_removed=True)
        else:
            self._parts.append(Part(text, is_removed=True))
        self._break_line()

    def _break_line(self) -> None:
        if not self._line.tail.endswith(_REMOVED):
            self._line.extend(_REMOVED)

    def _is_leftover(self, word: str, text: str, place: int, ended: bool) -> bool | None:
        """Return True if nothing speaks for a token being meant; None where what follows decides
        and has not come.
        """
        end = place + len(word)
        if self._fence or _FENCE.match(self._line.head) or self._line.is_in_span:
            return False
        blanks = _SPACE if word in self._tokens.at_end else _BLANKS
        after = blanks.match(text, end)
        follows = after.end() if after else end
        if follows == len(text) and not ended:
            return None
        if word in self._tokens.at_end and follows < len(text):
            return False
        if _is_meant(self._line.tail, text[end:follows], text[follows : follows + 1]):
            return False
        return not self._is_named(word)


def _is_meant(before: str, blanks: str, after: str) -> bool:
    """Return True if a token is enclosed in marks of its own, or a word amid a sentence."""
    if not after:
        return False
    if not blanks and after in _ENCLOSED.get(before[-1:], ()):
        return True
    said = before.rstrip(" \t")
    if not said or not (said[-1].isalnum() and after.isalnum()):
        return False
    is_apart_before = len(said) < len(before) or _joins_words(said[-1])
    return is_apart_before and (bool(blanks) or _joins_words(after))


def _joins_words(char: str) -> bool:
    """Return True if this letter is of a script that writes words without spaces between them."""
    return unicodedata.category(char) == "Lo"


def remove_leftovers(text: str, is_named: Callable[[str], bool]) -> tuple[str, tuple[str, ...]]:
    """A whole text without leftovers, and what was removed."""
    made = LeftoverFilter(is_named)
    parts = [*made.feed(text), *made.flush()]
    shown = "".join(part.text for part in parts if not part.is_removed)
    return shown, join_removed(parts)


def join_removed(parts: list[Part]) -> tuple[str, ...]:
    """The removed texts, neighbours as one."""
    removed: list[str] = []
    was_removed = False
    for part in parts:
        if part.is_removed and was_removed:
            removed[-1] += part.text
        elif part.is_removed:
            removed.append(part.text)
        was_removed = part.is_removed
    return tuple(removed)
