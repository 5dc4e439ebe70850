"""JSON and Python that is a call by its shape alone: it counts where it names an offered tool, else
it is prose.
"""

from __future__ import annotations

import re

from callwright.parsing import names
from callwright.parsing.formats import pythonic
from callwright.parsing.formats.objects import ARGUMENT_KEYS, LABELS, LISTS, NAME_KEYS, REASONS
from callwright.parsing.formats.registered import labelled_dialect
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import DATA, Block, Data, Meant, Reading, Steps
from callwright.parsing.scanner import GLANCE, Scanner
from callwright.parsing.tool_vocabulary import MAX_NAME, NAME, ToolVocabulary, named_tool
from callwright.parsing.values import read_value, unquote_text

MAX_UNDECIDED = 65_536  # characters that may be held before a name says whether this is a call
_MAX_KEY, _MAX_NEUTRAL, _MAX_MEMBERS = 64, 512, 8
_NEUTRAL = frozenset(
    (
        "id",
        "type",
        "index",
        "call_id",
        "tool_call_id",
        "thought",
        "thoughts",
        "reasoning",
        *LABELS,
        *REASONS,
    )
)
_KEYS = _NEUTRAL.union(NAME_KEYS, ARGUMENT_KEYS, LISTS)
_QUOTES = frozenset("\"'")
_SPACES = re.compile(r"\s*")
_STOPS = MarkerSet(["<tool_call>", "</tool_call>"])
_STRAY = MarkerSet(["</tool_call>", "</function_call>", "<|eom_id|>", "<|eot_id|>"])


def may_begin(text: str, at: int, ended: bool, offer: ToolVocabulary) -> bool | None:
    """Return True if a call can begin with the bracket at this position, so that a reader must
    decide. None: more text is needed. This gives the result of the first steps of ``bare``, without
    the cost of starting a reader.
    """
    found = _SPACES.match(text, at + 1, at + 1 + GLANCE)
    assert found is not None
    i = found.end()
    if i - at > GLANCE:
        return True
    if i == len(text):
        return True if ended else None
    char = text[i]
    if text[at] == "{":
        return char in _QUOTES
    worded = i > at + 1 or char.isalnum() or char == "_"
    if offer.odd is not None:
        return worded or char == "{" or offer.odd.begins(char)
    if char == "{":
        return may_begin(text, i, ended, offer)
    if not worded or not _may_stand(text, at):
        return False
    name = NAME.match(text, i, i + MAX_NAME)
    assert name is not None
    end = name.end()
    if end - i == MAX_NAME:
        return True
    if end == len(text) and not ended:
        return None
    return text[end : end + 1] == "("


def read_bare_json(tape: Scanner, offer: ToolVocabulary, _marker: str) -> Reading:
    """A reader for ``{`` and ``[``: one value, or several joined by semicolons (Llama) or
    commas.
    """
    block = Block("json")
    while True:
        if not (yield from take_value(tape, offer, block)):
            return block if block.calls else _detect_data(tape.raw())
        if not block.calls or block.calls[-1].truncated:
            return block
        ahead = yield from tape.glance()
        joint = tape.text[tape.at + ahead] if ahead >= 0 else ""
        if not joint or joint not in ";,":
            break
        after = yield from tape.glance(ahead + 1)
        if after < 0 or tape.text[tape.at + ahead + 1 + after] != "{":
            break
        tape.at += ahead + 1 + after
        block.dialect = "llama_json" if joint == ";" else block.dialect
    if (yield from tape.closing(_STRAY)):
        block.calls[-1].problems.append("a closing tag that nothing opened")
    return block


def _detect_data(taken: str) -> Data | None:
    """Return DATA if a text that is no call is JSON: an object with a quoted key, or a list of such
    objects.
    """
    return DATA if taken[1:].lstrip(" \t\r\n{")[:1] == '"' and "{" in taken else None


def take_value(tape: Scanner, offer: ToolVocabulary, block: Block) -> Steps[bool]:
    """Reads the value that begins here into the block. False: it cannot be a call, and little of it
    was taken; True without calls: all of it was taken and is text.
    """
    if tape.text[tape.at] == "{":
        return (yield from _take_object(tape, offer, block, "", ""))
    python = _may_stand(tape.text, tape.at)
    tape.at += 1
    char = yield from tape.space()
    odd = (yield from names.find_name(tape, offer, pythonic.OPENS)) if char else ""
    if char == "{" and not odd:
        return (yield from _take_object(tape, offer, block, "[", "]"))
    if not python or not char:
        return False
    return (yield from _take_python_list(tape, offer, block))


def _may_stand(text: str, at: int) -> bool:
    """A Python list of calls begins a line, or follows a tag, a colon or a sentence: within
    a sentence it is a mention.
    """
    before = text[max(0, at - 16) : at].rstrip(" \t")
    return before[-1:] in ("\n", ">", ":", "]", "`", "", ".", "!", "?")


def _take_python_list(tape: Scanner, offer: ToolVocabulary, block: Block) -> Steps[bool]:
    name = yield from names.take_name(tape, offer, pythonic.OPENS)
    if not name or (yield from tape.char()) != "(" or not offer.calls(name):
        return False
    calls, closed = yield from pythonic.take_calls(tape, name, offer)
    if not offer.tools and not (closed and all(_has_keyword_arguments(c) for c in calls)):
        return True
    if not closed and not calls[-1].truncated:
        calls[-1].problems.append("the closing bracket of the list is missing")
    block.calls += calls
    block.dialect = "pythonic"
    return True


def read_script(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """``f(a='x')`` where the reply begins, one or several: calls only if nothing but calls stands
    on their lines.
    """
    block = Block("pythonic")
    name = marker[:-1]
    tape.at += len(name)
    while True:
        call = yield from pythonic.take_call(tape, name, offer)
        if not call.truncated and not _has_keyword_arguments(call):
            return None
        block.calls.append(call)
        if call.truncated:
            return block
        ahead = yield from tape.glance()
        char = tape.text[tape.at + ahead] if ahead >= 0 else ""
        if char and char not in ",;" and "\n" not in tape.text[tape.at : tape.at + ahead]:
            return None
        if char and char in ",;":
            more = yield from tape.glance(ahead + 1)
            ahead += 1 + max(more, 0)
        name = yield from _next_name(tape, offer, ahead)
        if not name:
            return block


def _next_name(tape: Scanner, offer: ToolVocabulary, ahead: int) -> Steps[str]:
    """Takes the offered name that stands this far on, if a ``(`` follows it."""
    if ahead < 0 or offer.scripts is None:
        return ""
    found = yield from tape.marker(offer.scripts, ahead)
    if not found:
        return ""
    tape.at += ahead + len(found) - 1
    return found[:-1]


def _has_keyword_arguments(call: Meant) -> bool:
    return isinstance(call.arguments, dict) and not call.problems


def _take_object(
    tape: Scanner, offer: ToolVocabulary, block: Block, before: str, after: str
) -> Steps[bool]:
    head, named = yield from _take_deciding_members(tape, offer)
    if not head:
        return False
    rest, closed = yield from tape.value(
        _STOPS, opened=after + "}", limit=0 if named else MAX_UNDECIDED
    )
    at_end = not closed and tape.ended and tape.at >= len(tape.text)
    if not closed and not named:
        return True
    found = read_value(before + head + rest, closed, offer, at_end=at_end)
    if found is None or not all(offer.calls(c.tool) for c in found.calls):
        return True
    block.calls += found.calls
    block.reason = block.reason or found.reason
    if any(c.slot for c in found.calls):
        block.dialect = labelled_dialect()
    return True


def _take_deciding_members(tape: Scanner, offer: ToolVocabulary) -> Steps[tuple[str, bool]]:
    """Takes members of the object that begins here until they say that it can be a call: (what was
    taken, whether a name said so). ("", False) as soon as they say that it cannot.
    """
    parts = ["{"]
    tape.at += 1
    for _ in range(_MAX_MEMBERS):
        if (yield from tape.space()) not in _QUOTES:
            break
        quoted, closed = yield from tape.string(_MAX_KEY + 2 * offer.longest)
        key = unquote_text(quoted)
        if not closed or not _may_be(key, offer) or (yield from tape.space()) != ":":
            break
        tape.at += 1
        parts += [quoted, ":"]
        char = yield from tape.space()
        verdict, text = yield from _judge_member(tape, offer, key, char)
        parts.append(text)
        if verdict != "on":
            return ("".join(parts), verdict == "named") if verdict else ("", False)
        char = yield from tape.space()
        if char == "}":
            return "".join(parts), False
        if char != ",":
            break
        tape.at += 1
        parts.append(",")
    return "", False


def _may_be(key: str, offer: ToolVocabulary) -> bool:
    return key in _KEYS or key in offer.tools


def _judge_member(
    tape: Scanner, offer: ToolVocabulary, key: str, char: str
) -> Steps[tuple[str, str]]:
    """("named" | "shape" | "on" to the next member | "" for no call, what was taken)."""
    if key in NAME_KEYS and char in _QUOTES:
        name, closed = yield from tape.string(2 * offer.longest + 32)
        return (
            "named" if closed and offer.calls(named_tool(unquote_text(name), offer.tools)) else ""
        ), name
    if key == "function" and char == "{":
        return "shape", ""
    if key in LISTS:
        return ("shape" if char == "[" else ""), ""
    if key in ARGUMENT_KEYS:
        return "shape", ""
    if key in offer.tools and char == "{":
        return "named", ""
    if key not in _NEUTRAL or char in "{[":
        return "", ""
    if char in _QUOTES:
        text, closed = yield from tape.string(_MAX_NEUTRAL)
        return ("on" if closed else ""), text
    return "on", (yield from tape.scalar(_MAX_KEY))
