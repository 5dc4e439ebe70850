"""Finds the end of a reply that the model continues: after its first complete answer, before
foreign turns.

Small models play the whole conversation alone (RETO A.11.1): they write the user's next words,
invent tool results, or repeat themselves until the token limit. The same cut is made for every
strategy, and the removed text is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from callwright.jsontext import JsonError, parse_lenient
from callwright.jsontext.scan import first_span
from callwright.language import ENGLISH
from callwright.parsing.formats import hermes, react
from callwright.parsing.formats.objects import read_object

_ROLES = ENGLISH.expression("replies.roles")
_TURN = re.compile(
    rf"(?:(?:^|(?<=\n))[ \t>#*]*|(?<=[}}\])\"'.!?`])\s*\**){_ROLES}\**[ \t]*:"
    r"|<\|(?:im_start|im_end|endoftext|eot_id|start_header_id|user|assistant|observation)\|>|\[INST\]|</?tool_response>"
    r"|<end_of_turn>|<start_of_turn>"
)
_OWN_LABEL = ENGLISH.pattern("replies.own_label")
_THOUGHT = re.compile(r"\s*\**Thought\**\s*:")
_REPEATS = 4  # times that a line or segment stands in a row before it is a loop
_MIN_LINE, _MIN_SEGMENT, _MAX_SEGMENT = 8, 12, 400
_WATCHED = frozenset("}])>:|\n`\"'.!?")
_CHECK_EVERY = 48  # characters between looks for loops inside one line


@dataclass(frozen=True, slots=True)
class Cut:
    """``text`` is the model's own answer, ``discarded`` what followed it, ``why`` it was cut.

    ``why``: "" (nothing cut) | answer (complete; what followed was surplus) | turn (another's turn) | loop.
    """

    text: str
    discarded: str = ""
    why: str = ""


def cut(text: str, *, calls: int | None = 1) -> Cut:
    """Cut a whole reply. ``calls``: how many calls make the answer complete (None: as many as the
    model makes).
    """
    kept, discarded, why = text, len(text), ""
    while (
        found := _first_end(kept, calls)
    ) is not None:  # a cut may lay bare a loop that was not the tail before
        at, reason = found
        if text[at:discarded].strip():
            discarded, why = at, reason
        kept = kept[:at].rstrip()
    return Cut(kept, text[discarded:] if why else "", why)


class Cutter:
    """The same cut while a reply arrives: call it with each piece, True means that the rest need
    not be waited for.

    After the reply, ``cut`` holds what is kept and what is not. Fits ``protocols.Watcher``.
    """

    def __init__(self, *, calls: int | None = 1) -> None:
        self._calls = calls
        self._text = ""
        self._looked = 0
        self.done = False

    def __call__(self, piece: str) -> bool:
        self._text += piece
        if self.done:
            return True
        due = len(self._text) - self._looked >= _CHECK_EVERY
        if not due and _WATCHED.isdisjoint(piece):
            return False
        self._looked = len(self._text)
        found = cut(self._text, calls=self._calls)
        self.done = bool(found.why) or (_find_answer_end(self._text, self._calls)[0] >= 0)
        return self.done

    @property
    def cut(self) -> Cut:
        """Return the text that has arrived so far, cut."""
        return cut(self._text, calls=self._calls)


def _first_end(text: str, calls: int | None) -> tuple[int, str] | None:
    """Return the position and the reason of the first end before the end of the text; None if there
    is none.
    """
    ends = [
        (at, why)
        for at, why in (_find_turn(text), _find_answer_end(text, calls), _find_loop(text))
        if 0 <= at < len(text)
    ]
    return min(ends, default=None)


def _find_turn(text: str) -> tuple[int, str]:
    """Return the position at which another role's turn begins, ignoring values in brackets and
    their quotes; -1 for none.
    """
    own = _OWN_LABEL.match(text)
    at = own.end() if own else 0
    while (found := _TURN.search(text, at)) is not None:
        span = _value_around(text, found.start(), found.end())
        if span is None:
            return found.start(), "turn"
        at = max(span, found.end())
    return -1, ""


def _value_around(text: str, start: int, end: int) -> int | None:
    """The end of the bracketed value that ``text[start:end]`` stands inside; None where it stands
    in the open.
    """
    at = 0
    while (span := first_span(text, at)) is not None and span.start < start:
        if start < span.end:
            own_call = span.closed and end <= span.end
            return span.end if own_call or _is_in_string(text[span.start : start]) else None
        at = span.end
    return None


def _is_in_string(text: str) -> bool:
    """Return True if a value that begins here ends inside a double-quoted string."""
    inside = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            inside = not inside
    return inside


def _find_answer_end(text: str, calls: int | None) -> tuple[int, str]:
    """Return the end of the first complete answer: a value that is the whole reply, or the last of
    ``calls`` calls.
    """
    found = [
        end
        for end in (_hermes_end(text, calls), _react_end(text, calls), _json_end(text, calls))
        if end >= 0
    ]
    return (min(found), "answer") if found else (-1, "")


def _hermes_end(text: str, calls: int | None) -> int:
    closed = [
        b.end
        for b in hermes.iter_blocks(text)
        if b.closed and text[b.end - len(hermes.CLOSE) : b.end] == hermes.CLOSE
    ]
    if not closed:
        return -1
    if calls is not None:
        return closed[calls - 1] if len(closed) >= calls else -1
    after = text[closed[-1] :].lstrip()
    return closed[-1] if after and not hermes.OPEN.startswith(after[: len(hermes.OPEN)]) else -1


def _react_end(text: str, calls: int | None) -> int:
    """After the last action wanted, or where a thought follows a finished action: it would follow a
    result.
    """
    closed = [s for s in react.iter_steps(text) if s.closed]
    if not closed:
        return -1
    if calls is not None:
        return closed[calls - 1].end if len(closed) >= calls else -1
    for step in closed:
        if _THOUGHT.match(text, step.end):
            return step.end
    return -1


def _json_end(text: str, calls: int | None) -> int:
    """After a value that the reply begins with (fenced or not), or a call amid prose.

    Where any number of calls is welcome, values that follow each other belong to the answer; other
    text ends it.
    """
    span = first_span(text)
    if span is None or not span.closed:
        return -1
    before = text[: span.start]
    if hermes.OPEN in before or re.search(r"^[ \t>*]*Action[ \t]*:", before, re.M):
        return -1
    lead = re.sub(r"```[ \t]*\w*", "", before).strip()
    if lead and not _is_call(text[span.start : span.end]):
        return -1
    fence = re.compile(r"\s*```").match(text, span.end) if "```" in before else None
    end = fence.end() if fence else span.end
    if calls is None or calls > 1:
        rest = text[end:].lstrip(" \t\r\n,")
        return -1 if not rest or rest[0] in "{[`" else end
    return end


def _is_call(text: str) -> bool:
    try:
        repaired = parse_lenient(text)
    except JsonError:
        return False
    found = read_object(repaired.value)
    return found is not None and bool(found.calls)


def _find_loop(text: str) -> tuple[int, str]:
    """Return the position from which a line or a segment is repeated."""
    at = _line_loop(text)
    return (at, "loop") if at >= 0 else _segment_loop(text)


def _line_loop(text: str) -> int:
    last, run, first_end, at = "", 0, 0, 0
    for line in text.split("\n"):
        end = at + len(line)
        bare = line.strip()
        if bare:
            run = run + 1 if bare == last else 1
            first_end = end if run == 1 else first_end
            last = bare
            if run >= _REPEATS and len(bare) >= _MIN_LINE:
                return first_end
        at = end + 1
    return -1


def _segment_loop(text: str) -> tuple[int, str]:
    """A segment repeated at the end of the text (a model that loops is still looping when it is
    stopped).
    """
    tail = text.rstrip()
    for period in range(_MIN_SEGMENT, min(_MAX_SEGMENT, len(tail) // _REPEATS) + 1):
        segment = tail[-period:]
        if len(set(segment)) < 4 or not tail.endswith(segment * _REPEATS):
            continue
        start = len(tail) - period * _REPEATS
        while start >= period and tail[start - period : start] == segment:
            start -= period
        return start + period, "loop"
    return -1, ""
