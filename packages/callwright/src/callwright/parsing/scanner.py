"""The text of a reply while it arrives, and what readers take from it: each character once,
wherever it is cut.

Readers are generators: they take, and stop (``yield``) where the next decision needs text that is
not there yet. A decision never depends on where a piece of text happened to end, so whole and
streamed reading are the same.
"""

from __future__ import annotations

import re
import sys

from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Steps

CONTEXT = 32  # characters before the place of reading that stay visible
GLANCE = 64  # white space that may stand between a call and its closing marker
_SPACE = re.compile(r"\s*")
_BRACKETS = re.compile(r"[\"'{}\[\]<]")
_ROUND = re.compile(r"[\"'{}\[\]()<]")
_QUOTED = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_CLOSER = {"{": "}", "[": "]", "(": ")"}
_SCALAR_ENDS = MarkerSet([",", "}", "]", "\n"])
_MAY_END = frozenset(",:;}])")


class Scanner:
    """``text[at:]`` is what has arrived and is not read. Everything since ``mark()`` can be had
    again or put back.
    """

    __slots__ = ("_before", "_kept", "_mark", "at", "ended", "text")

    def __init__(self, text: str = "", *, ended: bool = False) -> None:
        self.text = "\n" + text  # a reply begins like a line
        self.at = 1
        self.ended = ended
        self._mark = -1
        self._before = ""
        self._kept: list[str] = []

    def add(self, more: str) -> None:
        """More has arrived. What was read long ago is let go, so that the cost does not grow with
        the reply.
        """
        drop = self.at - CONTEXT
        if drop > 0:
            if self._mark >= 0:
                self._kept.append(self.text[self._mark : drop] if self._mark < drop else "")
                self._mark = max(self._mark - drop, 0)
            self.text = self.text[drop:] + more
            self.at = CONTEXT
        else:
            self.text += more

    def mark(self) -> None:
        self._mark = self.at
        self._before = self.text[max(0, self.at - CONTEXT) : self.at]
        self._kept.clear()

    def raw(self) -> str:
        """All that was read since the mark."""
        return "".join([*self._kept, self.text[self._mark : self.at]])

    def release(self) -> None:
        self._mark = -1
        self._kept.clear()

    def back(self) -> int:
        """Everything read since the mark is unread again; where it begins."""
        if self._kept:
            self.text = "".join([self._before, *self._kept, self.text[self._mark :]])
            self.at = len(self._before)
        else:
            self.at = self._mark
        self.release()
        return self.at

    def char(self) -> Steps[str]:
        """The next character, not taken; "" at the end."""
        while self.at >= len(self.text):
            if self.ended:
                return ""
            yield
        return self.text[self.at]

    def space(self) -> Steps[str]:
        """Takes white space; returns the character after it, not taken, "" at the end."""
        while True:
            found = _SPACE.match(self.text, self.at)
            assert found is not None
            self.at = found.end()
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                return ""
            yield

    def glance(self, ahead: int = 0) -> Steps[int]:
        """Return the number of spaces ``ahead`` characters on, without consuming them. -1 if the
        text ends or there are too many.
        """
        while True:
            start = self.at + ahead
            found = _SPACE.match(self.text, start, start + GLANCE + 1)
            end = found.end() if found else len(self.text)
            if end - start > GLANCE:
                return -1
            if end < len(self.text):
                return end - start
            if self.ended:
                return -1
            yield

    def ends(self, ahead: int = 0) -> bool:
        """Return True if the reply ends ``ahead`` characters on. White space is ignored up to the
        limit of ``glance``.
        """
        rest = self.text[self.at + ahead : self.at + ahead + GLANCE + 1]
        return self.ended and len(rest) <= GLANCE and not rest.strip()

    def marker(self, marks: MarkerSet, ahead: int = 0) -> Steps[str]:
        """The marker that stands ``ahead`` characters on, not taken; "" where none does."""
        while True:
            found = marks.match(self.text, self.at + ahead, self.ended)
            if found:
                return found
            if self.ended or (found is None and self.at + ahead < len(self.text)):
                return ""
            yield

    def closing(self, marks: MarkerSet) -> Steps[str]:
        """Takes one of these markers if it comes next, white space before it included; else takes
        nothing.
        """
        ahead = yield from self.glance()
        found = "" if ahead < 0 else (yield from self.marker(marks, ahead))
        if found:
            self.at += ahead + len(found)
        return found

    def take(self, pattern: re.Pattern[str], limit: int = 256) -> Steps[str]:
        """Takes characters of one kind (``pattern`` is a starred character class), at most
        ``limit`` of them.
        """
        while True:
            found = pattern.match(self.text, self.at, self.at + limit)
            assert found is not None
            if self.ended or found.end() < len(self.text) or found.end() - self.at >= limit:
                self.at = found.end()
                return found[0]
            yield

    def ahead(self, marks: MarkerSet, limit: int = 256) -> Steps[str]:
        """The text up to and with the first of these markers, none taken; "" where none begins
        within ``limit``.
        """
        while True:
            stop, word = marks.search(self.text, self.at, self.ended)
            if stop - self.at > limit:
                return ""
            if word or self.ended:
                return self.text[self.at : stop + len(word)] if word else ""
            yield

    def until(self, marks: MarkerSet, limit: int = 0) -> Steps[tuple[str, str]]:
        """Takes everything before the first of these markers; (what was taken, the marker, which is
        not taken).

        The marker is "" where the text ends, or after ``limit`` characters, without one.
        """
        parts: list[str] = []
        left = limit or sys.maxsize
        while True:
            stop, word = marks.search(self.text, self.at, self.ended)
            over = stop - self.at > left
            stop = self.at + left if over else stop
            parts.append(self.text[self.at : stop])
            left -= stop - self.at
            self.at = stop
            if word or over or self.ended:
                return "".join(parts), "" if over else word
            yield

    def value(
        self, stops: MarkerSet | None = None, opened: str = "", round_: bool = False, limit: int = 0
    ) -> Steps[tuple[str, bool]]:
        """Takes one bracketed value; (its text, whether its last bracket was seen).

        Brackets inside strings do not count. A quote ends a string only where the next character
        that is no space could follow a value, so that an unescaped inner quote does not derail the
        count. ``opened``: closers that are due already, outermost first. ``stops`` end the value
        outside of strings; so does ``limit`` (characters).
        """
        scan = _Scan(opened, _ROUND if round_ else _BRACKETS)
        return (yield from self._scanned(scan, "", stops, limit))

    def string(self, limit: int = 0) -> Steps[tuple[str, bool]]:
        """Takes the quoted string that begins here and the white space after it; (both, whether it
        ends).
        """
        scan = _Scan("", _BRACKETS)
        scan.quote, scan.alone = self.text[self.at], True
        self.at += 1
        return (yield from self._scanned(scan, scan.quote, None, limit))

    def _scanned(
        self, scan: _Scan, before: str, stops: MarkerSet | None, limit: int
    ) -> Steps[tuple[str, bool]]:
        """Takes what a scan goes over; (``before`` and that, whether it came to its end)."""
        parts = [before]
        left = limit or sys.maxsize
        while True:
            size = len(self.text)
            enough = (
                size if size - self.at <= left else self.at + left + 1
            )  # a limit spares reading on for nothing
            stop, state = scan.run(self.text, self.at, self.ended, stops, enough)
            over = stop - self.at > left or (not state and size - self.at > left)
            stop = self.at + left if over else stop
            parts.append(self.text[self.at : stop])
            left -= stop - self.at
            self.at = stop
            if state or over or self.ended:
                return "".join(parts), not over and (
                    state == "closed" or (scan.alone and scan.after)
                )
            yield

    def scalar(self, limit: int = 0) -> Steps[str]:
        """Takes what stands before the next comma, bracket that closes, or line end."""
        return (yield from self.until(_SCALAR_ENDS, limit))[0]


class _Scan:
    """Incremental search for the end of a bracketed value. It keeps counts per bracket, so that a
    closer costs the same at any depth.
    """

    __slots__ = ("after", "alone", "counts", "look", "quote", "stack")

    def __init__(self, opened: str, look: re.Pattern[str]) -> None:
        self.stack = list(opened)
        self.counts = {c: opened.count(c) for c in "}])"}
        self.look = look
        self.quote = ""
        self.alone = False  # one string is read, not a bracketed value
        self.after = False  # a quote was seen that may have ended the string

    def run(
        self, text: str, i: int, ended: bool, stops: MarkerSet | None, size: int
    ) -> tuple[int, str]:
        """(how far it read, "closed" | "stopped" | "" for more). It reads up to ``size``."""
        while i < size:
            if self.after:
                found = _SPACE.match(text, i, size)
                assert found is not None
                i = found.end()
                if i >= size:
                    break
                word = stops.match(text, i, ended) if stops and text[i] in "<[" else None
                if word == "":
                    return i, ""
                self.after = False
                if word or text[i] in _MAY_END:
                    self.quote = ""
                    if self.alone:
                        return i, "closed"
            elif self.quote:
                inner = _QUOTED[self.quote].search(text, i, size)
                if inner is None:
                    return size, ""
                i = inner.start()
                if text[i] == "\\":
                    if i + 2 > size:
                        return (size if ended else i), ""
                    i += 2
                else:
                    i += 1
                    self.after = True
            else:
                outer = self.look.search(text, i, size)
                if outer is None:
                    return size, ""
                i = outer.start()
                char = text[i]
                word = stops.match(text, i, ended) if stops and char in "<[" else None
                if word is not None:
                    return i, "stopped" if word else ""
                if char in _CLOSER:
                    self.stack.append(_CLOSER[char])
                    self.counts[_CLOSER[char]] += 1
                elif char in "\"'":
                    if char == '"' or not text[i - 1].isalnum():
                        self.quote = char
                elif char != "<" and self.counts[char]:
                    self._close(char)
                    if not self.stack:
                        return i + 1, "closed"
                i += 1
        return size, ""

    def _close(self, char: str) -> None:
        while True:
            last = self.stack.pop()
            self.counts[last] -= 1
            if last == char:
                return
