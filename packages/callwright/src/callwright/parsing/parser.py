"""Text in, calls and text out: the one parser of replies, fed whole or in pieces of any size with
the same result.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from callwright.jsontext import JsonError, parse
from callwright.jsontext.surrogates import HALVES, join_surrogates
from callwright.nouns.types import Tool, ToolCall
from callwright.parsing.formats import untagged
from callwright.parsing.formats.families import Reader, select_readers, select_start_readers
from callwright.parsing.marker_set import MarkerSet, get_marker_set
from callwright.parsing.pieces import Block, CallPiece, Data, Meant, Piece, Reading, TextPiece
from callwright.parsing.scanner import Scanner
from callwright.parsing.strict import ATTEMPTS, Strict
from callwright.parsing.tool_vocabulary import ToolVocabulary

THOUGHT_TAGS = {  # what begins and ends reasoning; the tags themselves count as reasoning
    "<think>": True,
    "</think>": False,
    "<thinking>": True,
    "</thinking>": False,
    "<thought>": True,
    "</thought>": False,
    "[THINK]": True,
    "[/THINK]": False,
    "<|channel|>analysis<|message|>": True,
    "<|channel|>final<|message|>": False,
    "<|channel|>commentary<|message|>": False,
    "<|end|>": False,
    "<|channel>thought": True,
    "<channel|>": False,
    "<|eom|>": False,
}
_CLOSERS = frozenset(
    {"</think>", "</thinking>", "</thought>", "[/THINK]"}
)  # of what a template may open in the prompt, so that a reply only closes it
_SELF = " to=self<|message|>"  # Glimmer's reasoning, where a reply begins with it
MAX_AGAIN = 262_144  # characters of a reply that are looked at again after a reader gave up; then they stay text
_TAGS_BEGIN = frozenset("<[{`")  # what most replies begin with that begin with a call
_HALVED = re.compile("[\ud800-\udfff]|\\\\u[dD][89a-fA-F]")
_IN_TAG = re.compile(r"<[^<>\n]*\Z")
_BRACKETS = frozenset("{[")
_QUOTE_END = re.compile(r"[`\n]")
_OUTSIDE = re.compile(r"[\"{}\[\]<]")
_INSIDE = re.compile(r"[\"\\\n]")
_LINE = re.compile(r"(?:^|\n)[ \t>*#]{0,16}\Z")


class Parser:
    """Reads one reply while it arrives. See docs/dialects.md for what is guaranteed.

    ``dialects`` limits what is read to these families (``DIALECTS``; None: all). ``unknown``: calls
    that are calls by shape alone count whatever they name; otherwise they must name an offered
    tool, or one that nearly is one. An ``Offer`` in place of the tools spares making it for each of
    many replies.
    """

    def __init__(
        self,
        tools: Iterable[Tool] | ToolVocabulary = (),
        *,
        dialects: Collection[str] | None = None,
        unknown: bool = False,
    ) -> None:
        self._offer = (
            tools.again()
            if isinstance(tools, ToolVocabulary)
            else ToolVocabulary(tools, unknown=unknown)
        )
        self._tape = Scanner()
        self._tables = build_tables(None if dialects is None else frozenset(dialects))
        self._readers, self._marks = self._tables.readers, self._tables.marks
        self._began = False
        self._reading: Reading | None = None
        self._marker = ""
        self._reasoning = self._has_thought = False
        self._again = self._vain = MAX_AGAIN
        self._quoted = False  # inside a quotation (`` `…` ``) amid a line, which ends with the line at the latest
        self._data: _Data | None = None
        self._count = 0
        self._out = _Pieces()
        self.blocks: list[Block] = []  # those that held no call and said why

    @property
    def pending_length(self) -> int:
        """Characters that have arrived and are not handed out, because they can still begin a
        call.
        """
        tape = self._tape
        return len(tape.text) - tape.at + (len(tape.raw()) if self._reading is not None else 0)

    held = pending_length  # the name that the documentation used; goes with the next version

    def feed(self, text: str) -> list[Piece]:
        """Add text, and return the pieces that are now certain. Text that is no call is returned at
        once, a call when it is complete.
        """
        if self._tape.ended:
            raise ValueError(
                "the reply has ended: close() was called; make a Parser for each reply"
            )
        if not text:
            return []
        if self._flows(text):
            return [TextPiece(text, self._reasoning)]
        self._tape.add(text)
        return self._run()

    def _flows(self, text: str) -> bool:
        """Read the text and return True if the parser holds nothing back and no marker begins in
        it. This is the usual case.
        """
        tape = self._tape
        if (
            not self._began
            or self._reading is not None
            or self._data
            or self._quoted
            or tape.at < len(tape.text)
        ):
            return False
        if self._marks.search(text, 0, False)[0] < len(text):
            return False
        tape.add(text)
        tape.at = len(tape.text)
        return True

    def close(self) -> list[Piece]:
        """The reply has ended: what is still held becomes text, or a call that is ``truncated``."""
        self._tape.ended = True
        return self._run()

    def read(self, text: str) -> list[Piece]:
        """A whole reply: what ``feed`` and ``close`` give for it, sooner."""
        self._tape.ended = True
        self._tape.add(text)
        return self._run()

    def release(self) -> list[Piece]:
        """Hands out what is held as text and reads on after it: for callers who may not wait any
        longer.
        """
        if self._reading is None:
            text = self._tape.text[self._tape.at :]
            self._tape.at = len(self._tape.text)
        else:
            self._reading.close()
            self._reading = None
            self._tape.at = len(self._tape.text)
            text = self._tape.raw()
            self._tape.release()
        self._out.text(text, self._reasoning)
        return self._out.all()

    def _run(self) -> list[Piece]:
        while True:
            if self._reading is None:
                if not self._text():
                    return self._out.all()
            else:
                try:
                    next(self._reading)
                except StopIteration as done:
                    self._reading = None
                    self._took(done.value)
                else:
                    return self._out.all()

    def _text(self) -> bool:
        """Hands out text up to where a call may begin. True: a reader is at work; False: more text
        is needed.
        """
        tape = self._tape
        start = at = tape.at
        if not self._began and (opened := self._start()) is not None:
            return opened
        while True:
            if self._quoted or self._data:
                at = self._passed(at)
                if self._quoted or self._data:
                    self._emit(start, at)
                    tape.at = at
                    return False
            at, word = self._marks.search(tape.text, at, tape.ended)
            if word in THOUGHT_TAGS:
                self._emit(start, at)
                self._think(word)
                start = at = at + len(word)
                continue
            if (
                at < len(tape.text)
                and not self._may_open(word, at)
                and (word or tape.text[at - 1] != "`")
            ):
                self._quoted = tape.text[at - 1] == "`"
                at += 1
                continue
            if word in _BRACKETS and not (
                begins := untagged.may_begin(tape.text, at, tape.ended, self._offer)
            ):
                if begins is None:
                    self._emit(start, at)
                    tape.at = at
                    return False
                at += 1
                continue
            if (strict := self._attempt(word, at)) is not None:
                self._emit(start, at)
                start = at = tape.at = self._took_strict(strict, at)
                continue
            self._emit(start, at)
            tape.at = at
            if not word:
                return False
            self._open(self._readers[word], word)
            return True

    def _think(self, word: str) -> None:
        """Hands out what begins or ends reasoning."""
        on = THOUGHT_TAGS[word]
        if word in _CLOSERS and not self._reasoning and not self._has_thought:
            self._out.close(word)
        else:
            self._out.text(word, True if on else self._reasoning)
        self._reasoning, self._has_thought = on, True

    def _start(self) -> bool | None:
        """Process the beginning of a reply, and return True if a marker opens that counts only
        there. False: not known yet; None: there is none.
        """
        tape = self._tape
        if tape.at >= len(tape.text):
            return False if not tape.ended else None
        found = None
        if tape.text[tape.at] not in _TAGS_BEGIN:
            scripts = self._offer.scripts if self._tables.scripts else None
            for words, reader in ((self._tables.starts, None), (scripts, untagged.read_script)):
                word = words.match(tape.text, tape.at, tape.ended) if words else None
                if word == "":
                    return False
                if word and found is None:
                    found = (reader, word)
        self._began = True
        if found is None or found[1] == _SELF:
            self._reasoning = found is not None
            return None
        self._open(found[0] or self._tables.begin[found[1]], found[1])
        return True

    def _open(self, reader: Reader, word: str) -> None:
        self._tape.mark()
        self._marker = word
        self._reading = reader(self._tape, self._offer, word)

    def _passed(self, at: int) -> int:
        """Return the end of a quotation or of data, in which nothing is a call."""
        if self._data:
            at, done = self._data.end(self._tape.text, at, self._tape.ended)
            self._data = None if done else self._data
        else:
            found = _QUOTE_END.search(self._tape.text, at)
            self._quoted = found is None
            at = found.end() if found else len(self._tape.text)
        return at

    def _may_open(self, word: str, at: int) -> bool:
        """Some markers count only in their place, and none inside a quotation amid a line (``
        `<tool_call>…` ``).
        """
        text = self._tape.text
        before = text[at - 1]
        if text[at] in "Af":
            return _LINE.search(text, max(0, at - 18), at) is not None
        if text[at] == "=":
            return text[max(0, at - 2) : at] == "to"
        if text[at] == ">":
            if before == "}":  # behind the JSON of another call, whatever brackets that holds
                return True
            return before not in "-=>" and _IN_TAG.search(text, max(0, at - 24), at) is None
        return (
            not word
            or before != "`"
            or word == "```"
            or text[max(0, at - 2) : at - 1] in ("\n", "`", "")
        )

    def _emit(self, start: int, end: int) -> None:
        if start < end:
            self._out.text(self._tape.text[start:end], self._reasoning)

    def _attempt(self, word: str, at: int) -> Strict | None:
        """The strict attempt at what this marker opens, while failures have not looked at too much
        text in vain.
        """
        attempt = ATTEMPTS.get(word) if self._vain > 0 else None
        if attempt is None:
            return None
        found = attempt(self._tape.text, at, self._offer, self._tape.ended)
        if found is None:
            self._vain -= len(self._tape.text) - at
        return found

    def _took_strict(self, strict: Strict, at: int) -> int:
        """Hands out the calls of a strict attempt; where they end."""
        dialect, calls, end = strict
        raw = self._tape.text[at:end]
        for name, given in calls:
            self._count += 1
            call = ToolCall(f"call_{self._count}", name, given)
            self._out.call(CallPiece(call, raw, dialect, reasoning=self._reasoning))
            raw = ""
        return end

    def _took(self, block: Block | Data | None) -> None:
        tape = self._tape
        raw = tape.raw()
        if isinstance(block, Data | None):
            self._again -= len(raw)
            if self._again > 0:
                tape.back()
                if isinstance(block, Data):
                    self._data = _Data(self._tables.tags)
                else:
                    start, tape.at = tape.at, tape.at + len(self._marker)
                    self._emit(start, tape.at)
                return
            block = Block("")
        tape.release()
        if not block.calls:
            block.raw = raw
            self.blocks.append(block)
            self._out.text(raw, self._reasoning)
        halved = bool(block.calls) and _HALVED.search(raw)
        for i, meant in enumerate(block.calls):
            self._count += 1
            if halved:
                _join_argument_surrogates(meant)
            call = ToolCall(f"call_{self._count}", meant.tool, meant.arguments, meant.slot)
            problems, mark = tuple(dict.fromkeys(meant.problems)), "" if i else raw
            self._out.call(
                CallPiece(call, mark, block.dialect, problems, meant.truncated, self._reasoning)
            )


def _join_argument_surrogates(meant: Meant) -> None:
    """Arguments without half characters, which no strict parser takes. Text that stops stays what
    it is.
    """
    arguments, changed = join_surrogates(meant.arguments)
    if not changed or meant.truncated:
        return
    if isinstance(arguments, str):
        try:
            arguments, meant.problems = parse(arguments), []
        except JsonError:
            return
    if isinstance(arguments, dict):
        meant.arguments = arguments
        meant.problems.append(HALVES)


class _Data:
    """JSON that is no call: text up to its last bracket, a tag outside of its strings, or a line
    end inside one.
    """

    def __init__(self, tags: MarkerSet) -> None:
        self._tags = tags
        self._depth = 0
        self._inside = False

    def end(self, text: str, at: int, ended: bool) -> tuple[int, bool]:
        """Return how far the data reaches in the text so far, and whether it ends there."""
        while (found := (_INSIDE if self._inside else _OUTSIDE).search(text, at)) is not None:
            at = found.start()
            char = text[at]
            if char == "\\":
                if at + 2 > len(text) and not ended:
                    return at, False
                at += 2
                continue
            if char == "\n":
                return at, True
            if char == "<" and (word := self._tags.match(text, at, ended)) is not None:
                return at, bool(word)
            if char == '"':
                self._inside = not self._inside
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    return at + 1, True
            at += 1
        return len(text), False


class _Pieces:
    """Pieces in order, text that follows text put together."""

    def __init__(self) -> None:
        self._done: list[Piece] = []
        self._parts: list[str] = []
        self._reasoning = False

    def text(self, text: str, reasoning: bool) -> None:
        if reasoning is not self._reasoning:
            self._flush()
            self._reasoning = reasoning
        if text:
            self._parts.append(text)

    def call(self, piece: CallPiece) -> None:
        self._flush()
        self._done.append(piece)

    def close(self, tag: str) -> None:
        """The end of reasoning that began before the reply."""
        self._flush()
        self._done.append(TextPiece(tag, reasoning=True, closes=True))

    def all(self) -> list[Piece]:
        self._flush()
        done, self._done = self._done, []
        return done

    def _flush(self) -> None:
        if self._parts:
            self._done.append(TextPiece("".join(self._parts), self._reasoning))
            self._parts.clear()


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables that depend on the format families alone: readers by marker, all markers, and the tags
    among them. They also hold the markers that count only at the start of a reply, and whether a
    reply may begin with a Python call.
    """

    readers: Mapping[str, Reader]
    marks: MarkerSet
    tags: MarkerSet
    begin: Mapping[str, Reader]
    starts: MarkerSet
    scripts: bool


@lru_cache(64)
def build_tables(dialects: frozenset[str] | None = None) -> Tables:
    readers, begin = select_readers(dialects), select_start_readers(dialects)
    return Tables(
        readers,
        get_marker_set(frozenset(readers) | frozenset(THOUGHT_TAGS)),
        get_marker_set(frozenset(m for m in readers if m[0] == "<") or frozenset("<")),
        begin,
        get_marker_set(frozenset([*begin, _SELF])),
        dialects is None or "pythonic" in dialects,
    )
