"""Reads the body between the tags of a call, in any format. Models mix the tags of one family with
the body of another.
"""

from __future__ import annotations

import re

from callwright.parsing import names
from callwright.parsing.formats import gemma, pythonic
from callwright.parsing.formats.markup import NAMELESS, OPENS, Markup
from callwright.parsing.marker_set import MarkerSet, get_marker_set
from callwright.parsing.pieces import Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary, named_tool
from callwright.parsing.values import read_arguments, read_value

FENCE = "```"
FENCES = MarkerSet([FENCE])
_INFO = re.compile(r"[\w+\-]*")
_HEADER = MarkerSet(["{", "<tool_call>", "</"])
_AFTER_RECIPIENT = MarkerSet([" ", "\n", "<", "{"])
_MARKUP = MarkerSet(OPENS | NAMELESS)
_PAIR = MarkerSet(["<arg_key>"])
FENCED = "code fence removed"


class Body:
    """Reads calls up to one of ``closes``, which is not taken. ``kind`` says what stood there; ""
    where no call did.

    kinds: json | lines (several values) | list | python | markup | invoke | dsml | function_json | pairs | named
    (name, then JSON) | recipient (``to=functions.N``) | gemma.
    """

    def __init__(self, tape: Scanner, offer: ToolVocabulary, closes: MarkerSet) -> None:
        self._tape, self._offer = tape, offer
        self._closes = closes
        self._stops = get_marker_set(frozenset([*closes.words, "<tool_call>", "<|tool_call"]))
        self._after_name = get_marker_set(frozenset([*closes.words, "(", "{", "\n", "<arg_key>"]))
        self.kind = ""
        self.calls: list[Meant] = []

    def read(self) -> Steps[bool]:
        """Read the body, and return True if it holds calls."""
        char = yield from self._tape.space()
        fence = char == "`" and (yield from self._tape.marker(FENCES))
        if fence:
            self._tape.at += len(FENCE)
            yield from self._tape.take(_INFO)
            char = yield from self._tape.space()
        odd = (
            (yield from names.find_name(self._tape, self._offer, self._after_name)) if char else ""
        )
        if not (yield from (self._named() if odd else self._dispatch(char))):
            return False
        if fence:
            yield from self._tape.closing(FENCES)
            for call in self.calls:
                call.problems.append(FENCED)
        return True

    def _dispatch(self, char: str) -> Steps[bool]:
        if char == "{":
            return (yield from self._values())
        if char == "[":
            return (yield from self._list())
        if char == "<":
            return (yield from self._markup())
        if char.isalnum() or char == "_":
            return (yield from self._named())
        return False

    def _values(self) -> Steps[bool]:
        """JSON values, one after the other: lines, or joined by commas or semicolons."""
        self.kind = "list" if self._tape.text[self._tape.at] == "[" else "json"
        count = 0
        while True:
            text, closed = yield from self._tape.value(self._stops)
            found = read_value(text, closed, self._offer, at_end=not closed and self._at_end())
            if found is None:
                return bool(self.calls)
            self.calls += found.calls
            count += 1
            if count > 1:
                self.kind = "lines"
            if not closed or not (yield from self._another()):
                return bool(self.calls)

    def _another(self) -> Steps[bool]:
        ahead = yield from self._tape.glance()
        if ahead < 0:
            return False
        char = self._tape.text[self._tape.at + ahead]
        if char in ",;":
            after = yield from self._tape.glance(ahead + 1)
            if after < 0:
                return False
            ahead += 1 + after
            char = self._tape.text[self._tape.at + ahead]
        if char not in "{[":
            return False
        if char == "[":  # a list, or a tag in brackets
            after = yield from self._tape.glance(ahead + 1)
            if after < 0 or self._tape.text[self._tape.at + ahead + 1 + after] != "{":
                return False
        self._tape.at += ahead
        return True

    def _at_end(self) -> bool:
        return self._tape.ended and self._tape.at >= len(self._tape.text)

    def _list(self) -> Steps[bool]:
        """``[{…}]`` or ``[f(…)]``; an empty list is no call."""
        ahead = yield from self._tape.glance(1)
        char = self._tape.text[self._tape.at + 1 + ahead] if ahead >= 0 else ""
        if char == "{":
            return (yield from self._values())
        if not char:
            return False
        self._tape.at += 1 + ahead
        name = yield from names.take_name(self._tape, self._offer, pythonic.OPENS)
        if not name or (yield from self._tape.char()) != "(":
            return False
        self.kind = "python"
        self.calls, closed = yield from pythonic.take_calls(self._tape, name, self._offer)
        if not closed and not self.calls[-1].truncated:
            self.calls[-1].problems.append("the closing bracket of the list is missing")
        return True

    def _markup(self) -> Steps[bool]:
        found = yield from self._tape.marker(_MARKUP)
        if not found:
            return False
        markup = Markup(self._tape, self._offer, self._closes)
        self.calls = yield from markup.calls(nameless=found in NAMELESS)
        self.kind = markup.kind
        return bool(self.calls)

    def _named(self) -> Steps[bool]:
        """A name, and what follows it: ``(…)``, ``{…}``, ``<arg_key>``, nothing, or a Harmony or
        Gemma header.
        """
        name = yield from names.take_name(self._tape, self._offer, self._after_name)
        if name.startswith("call:") and name not in self._offer.tools:
            return (yield from self._gemma(name))
        char = yield from self._tape.char()
        if char == "=" and name == "to":
            return (yield from self._recipient())
        if char == "(":
            return (yield from self._python(name))
        char = yield from self._tape.space()
        if char == "{":
            self.kind = "named"
            text, closed = yield from self._tape.value(self._stops)
            self.calls = [read_arguments(name, text, closed, self._offer, at_end=self._at_end())]
            return True
        if char == "<" and (yield from self._tape.marker(_PAIR)):
            markup = Markup(self._tape, self._offer, self._closes)
            self.calls = yield from markup.pairs(name)
            self.kind = markup.kind
            return True
        if char == "<" and (yield from self._tape.marker(self._closes)) and self._offer.calls(name):
            self.kind, self.calls = "pairs", [Meant(name, {})]
            return True
        return False

    def _python(self, name: str) -> Steps[bool]:
        self.kind = "python"
        while True:
            self.calls.append((yield from pythonic.take_call(self._tape, name, self._offer)))
            ahead = yield from self._tape.glance()
            if self.calls[-1].truncated or ahead < 0:
                return True
            odd = yield from names.find_name(self._tape, self._offer, pythonic.OPENS, ahead)
            if not odd and not _begins_name(self._tape.text[self._tape.at + ahead]):
                return True
            self._tape.at += ahead
            name = yield from names.take_name(self._tape, self._offer, pythonic.OPENS)
            if (yield from self._tape.char()) != "(":
                self.calls[-1].problems.append("text after the call dropped")
                return True

    def _gemma(self, name: str) -> Steps[bool]:
        self._tape.at -= len(name) - len("call:")
        self.kind = "gemma"
        call = yield from gemma.take_call(self._tape, self._offer, self._closes)
        self.calls = [call] if call is not None else []
        return call is not None

    def _recipient(self) -> Steps[bool]:
        """``to=functions.N …{…}``: the rest of a Harmony header, then JSON."""
        self._tape.at += 1
        name = named_tool(
            (yield from names.take_name(self._tape, self._offer, _AFTER_RECIPIENT)),
            self._offer.tools,
        )
        _, brace = yield from self._tape.until(_HEADER, 96)
        if brace != "{" or not name:
            return False
        self.kind = "recipient"
        text, closed = yield from self._tape.value(self._stops)
        self.calls = [read_arguments(name, text, closed, self._offer, at_end=self._at_end())]
        return True


def _begins_name(char: str) -> bool:
    return char.isalpha() or char == "_"
