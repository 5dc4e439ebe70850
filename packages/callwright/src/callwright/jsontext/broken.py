"""JSON as models write it when they miss: read only after the strict parser refused, every change
named.

A document that stops in the middle is *reported* as truncated. What a library would close for us is
a guess about text that nobody wrote, and a guess may become a call that changes the world.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter
from dataclasses import dataclass

from callwright.jsontext.commas import Complete, parse_adding_commas
from callwright.jsontext.scan import Span, first_span
from callwright.jsontext.strict import JsonError, parse
from callwright.nouns.types import Json, to_canonical_json

MAX_CHARS = 262_144  # longer broken documents are refused: repairing is not linear, refusing is
_LIBRARY_CHARS = 16_384  # the library takes a minute on 60,000 characters of the worst kind …
_LIBRARY_WORK = 120_000  # … and its time grows with depth times length
_FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\r?\n?(.*?)(```|\Z)", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_PYTHON_WORD = re.compile(r"\b(True|False|None)\b|'")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
# a string that ends where a value may, and the slips outside of strings; linear: nothing is retried
_TOKEN = re.compile(
    r"""(?P<text>"(?>[^"\\]|\\.|"(?!\s*+(?:[,:}\])]|/[/*]|\Z)))*+(?:"|\Z))"""
    r"|(?<![\w'])(?P<single>'(?>[^'\\]|\\.|'(?!\s*+(?:[,:}\])]|/[/*]|\Z)))*+(?:'|\Z))"
    r"|(?P<comma>,)(?=\s*+[}\]])|(?P<comment>//[^\n]*+|/\*(?>[^*]|\*(?!/))*+\*/)"
    r"|(?<![\w.$-])(?P<amount>[-+]?\d+(?:\.\d+)?\s?(?:%|[€$£¥°][A-Z]?|[^\W\d_]+)"
    r"|[€$£¥]\s?\d+(?:\.\d+)?)(?=\s*+(?:[,}\]]|/[/*]))"
    r"|(?<![\w.$-])(?P<word>[A-Za-z_$][\w$-]*+)(?P<key>\s*+:)?",
    re.DOTALL,
)
# … behind strings in three quotes, of which one without an end is everything that is left
_TRIPLE = re.compile(
    r'''(?P<triple>"""(?>[^"\\]|\\.|"(?!""\s*+[,}\]]))*+(?:"""|\Z)'''
    r"""|'{3}(?>[^'\\]|\\.|'(?!''\s*+[,}\]]))*+(?:'{3}|\Z))|""" + _TOKEN.pattern,
    re.DOTALL,
)
_INNER = re.compile(r'\\x[0-9a-fA-F]{2}|\\U000[0-9a-fA-F]{5}|\\.|"|[\x00-\x1f]', re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:\\[^\\\"']")  # "C:\Users\new", which no strict parser has read
_BACKSLASH = re.compile(r"\\{1,2}(?![\"']|u[\da-fA-F]{4})")
# digits that say nothing: those of escapes, and zeros behind a decimal point
_IDLE = re.compile(r"\\(?:u[\da-fA-F]{4}|U[\da-fA-F]{8}|x[\da-fA-F]{2})|(\.\d*?)0+(?!\d)")
_UNIT_SIGNS = frozenset("%€£¥°")
_JSON_ESCAPES = frozenset('"\\/bfnrtu')
_SURPLUS = "]}) \t\r\n;,"
_BESIDE = tuple(
    f"text {where} dropped" for where in ("before the value", "after the value", "around the fence")
)
_BOM = "\ufeff"
_TICK = (  # stands for a backtick while the library works, which would take fences out of strings
    "\ue000"
)


@dataclass(frozen=True, slots=True)
class LenientResult:
    """Value read from a broken document, and all problems found in it.

    ``truncated``: the text stops before its value ends. ``value`` then holds the part that was
    there, closed where it stopped (None if nothing could be read). It may be shown, but must never
    be acted upon.
    """

    value: Json
    problems: tuple[str, ...] = ()
    truncated: bool = False

    @property
    def is_mark(self) -> bool:
        """Return True if the value is a list with text beside it, as in "[FILE] a.txt". This is a
        mark in brackets, and no list.
        """
        return isinstance(self.value, list) and any(problem in _BESIDE for problem in self.problems)


def parse_tool_text(content: Json) -> Json:
    """The value that a tool's text is, or the text itself where it is none.

    A text that only begins with a mark in brackets is no value: of "[FILE] a.txt" nothing may be
    left out.
    """
    if not isinstance(content, str) or content.lstrip()[:1] not in ("{", "["):
        return content
    try:
        found = parse_lenient(content)
    except JsonError:
        return content
    return content if found.is_mark else found.value


def parse_complete(text: str | bytes) -> Json:
    """The value of a document as :func:`parse_lenient` reads it, for what is acted upon: JsonError too where
    it is cut off.
    """
    found = parse_lenient(text)
    if found.truncated:
        raise JsonError("the document stops before it ends", len(text))
    return found.value


def parse_lenient(text: str | bytes) -> LenientResult:
    """Read a document that may be fenced, surrounded by prose, Python-like or slightly malformed.

    Strict JSON comes back with no problems. Raises JsonError where there is no object or array to
    be read, where two different ones stand side by side, or where the text is longer than
    MAX_CHARS.
    """
    try:
        return LenientResult(parse(text))
    except JsonError as exc:
        refused = exc
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if len(plain) > MAX_CHARS:
        raise JsonError(
            f"not JSON ({refused.reason}), and too long to repair: {len(plain)} characters",
            MAX_CHARS,
        )
    problems: list[str] = []
    if isinstance(text, bytes) and "\ufffd" in plain:
        problems.append("bytes that are not UTF-8 replaced")
    body = _strip_code_fence(plain.replace(_BOM, ""), problems)
    if body != plain:
        try:
            return LenientResult(
                parse(body), tuple(problems) or ("byte order mark or fence removed",)
            )
        except JsonError as exc:
            refused = exc
    opened = _OPENING.search(body)
    if opened is None:
        raise refused
    start = opened.start()
    whole = parse_adding_commas(body[start:], None if start else refused)
    if not start and (whole is None or body[whole.end :].strip(_SURPLUS)):
        found = list(problems)
        try:
            return LenientResult(parse(_fix_common_slips(body, found)), tuple(found))
        except JsonError:
            pass
    if whole:
        return _accept_complete(body, start, whole, problems)
    return _from_span(body, start, problems)


def _accept_complete(body: str, start: int, whole: Complete, problems: list[str]) -> LenientResult:
    """A value that needs nothing but commas, without what stands around it."""
    _note_around(body, Span(start, start + whole.end, True), problems)
    if whole.commas:
        problems.append("a missing comma put in")
    return LenientResult(whole.value, tuple(problems))


def _strip_code_fence(text: str, problems: list[str]) -> str:
    """The inside of the first code fence, unless the fence stands inside the value itself."""
    found = _FENCE.search(text) if "```" in text else None
    if not found or _OPENING.search(text, 0, found.start()):
        return text.strip()
    problems.append("code fence removed")
    if text[: found.start()].strip() or text[found.end() :].strip():
        problems.append("text around the fence dropped")
    return found[2].strip()


def _from_span(body: str, start: int, problems: list[str]) -> LenientResult:
    span = first_span(body, start)
    assert span is not None  # a bracket opens there
    inside = body[span.start : span.end]
    _note_around(body, span, problems)
    try:
        return LenientResult(
            _parse_with_fallbacks(inside, span, problems, inside == body),
            tuple(problems),
            truncated=not span.closed,
        )
    except JsonError:
        if span.closed:
            raise
        return LenientResult(
            None,
            (*problems, "nothing could be read of a value that stops in the middle"),
            truncated=True,
        )


def _note_around(body: str, span: Span, problems: list[str]) -> None:
    """Record the problems around a value: prose and surplus closing brackets are dropped. Raises
    JsonError if a different second value stands beside it.
    """
    if body[: span.start].strip():
        problems.append("text before the value dropped")
    tail = body[span.end :].strip()
    if not tail:
        return
    if not tail.strip(_SURPLUS):
        problems.append("surplus closing brackets dropped")
        return
    other = first_span(tail)
    if other is not None and tail[other.start : other.end] != body[span.start : span.end]:
        raise JsonError("two different values stand side by side", span.end + other.start)
    problems.append("text after the value dropped")


def _parse_with_fallbacks(text: str, span: Span, problems: list[str], tidied: bool) -> Json:
    try:
        return parse(text)
    except JsonError as exc:
        refused = exc
    if span.closed and not tidied:
        found: list[str] = []
        try:
            value = parse(_fix_common_slips(text, found))
        except JsonError:
            pass
        else:
            problems += found
            return value
    if span.closed and _PYTHON_WORD.search(text):
        try:
            return _parse_python(text, problems)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            pass
    if len(text) > _LIBRARY_CHARS or _measure_depth(text) * len(text) > _LIBRARY_WORK:
        raise JsonError(
            f"not JSON ({refused.reason}), and too long or too deep to repair", span.start
        )
    value = _repair_with_library(text, refused, problems)
    if span.closed and _loses_digits(text, value):
        reason = f"{refused.reason}; a number in it is not written in digits alone"
        raise JsonError(reason, refused.position, refused.line, refused.column)
    return value


def _loses_digits(text: str, value: Json) -> bool:
    """Return True if a text has digits or signs of units that its value lacks: ``5 000`` and ``5%``
    are no 5.
    """
    given, kept = (Counter(_IDLE.sub(r"\1", t)) for t in (text, to_canonical_json(value)))
    return any(count > kept[c] for c, count in given.items() if c.isdecimal() or c in _UNIT_SIGNS)


def _fix_common_slips(text: str, problems: list[str]) -> str:
    """The commonest slips repaired without touching what strings say: everything else stays as it
    is.
    """
    made: set[str] = set()

    def repaired(found: re.Match[str]) -> str:
        kind, token = found.lastgroup, found[0]
        if kind == "text":
            return token if _is_sound(token) else _requote_string(token, made)
        if kind == "triple" and not (len(token) > 5 and token.endswith(token[:3])):
            return _TOKEN.sub(repaired, token)
        if kind in ("single", "triple"):
            made.add(f"{'single' if kind == 'single' else 'three'} quotes for double ones")
            return _requote_string(token if kind == "single" else token[2:-2], made)
        if kind == "amount":  # 10% of one number is 0.1 of another: the schema tells which
            made.add("a number with its unit read as text")
            return f'"{token}"'
        if kind in ("comma", "comment"):
            made.add("trailing comma dropped" if kind == "comma" else "comment dropped")
            return ""
        if kind == "key":
            made.add("a key without quotes")
            return f'"{found["word"]}"{found["key"]}'
        if token in _PYTHON_WORDS:
            made.add("Python words for JSON's")
        return _PYTHON_WORDS.get(token, token)

    tidy = _TRIPLE.sub(repaired, text)
    problems += sorted(made)
    return tidy


def _is_sound(token: str) -> bool:
    """Return True if a double-quoted string needs no further inspection."""
    return token.isprintable() and token.find('"', 1) in (-1, len(token) - 1) and "\\" not in token


def _requote_string(token: str, made: set[str]) -> str:
    """A string of JSON: quotes inside escaped, control characters too, escapes that JSON does not
    have undone. In a path of Windows no backslash begins one.
    """
    closed = len(token) > 1 and token[-1] == token[0]
    inner = token[1:-1] if closed else token[1:]
    if _DRIVE.match(inner):
        made.add("an escape that JSON does not have")
        inner = _BACKSLASH.sub(r"\\\\", inner)
    inner = _INNER.sub(lambda found: _escape_match(found[0], made), inner)
    return f'"{inner}"' if closed else f'"{inner}'


def _escape_match(char: str, made: set[str]) -> str:
    if char == '"':
        made.add("a quote inside a string")
        return '\\"'
    if char[0] != "\\":
        made.add("a raw control character")
        return f"\\u{ord(char):04x}"
    if char[1] in _JSON_ESCAPES:
        return char
    made.add("an escape that JSON does not have")
    if len(char) > 2:  # Python's \\x1b and \\U0001f600
        return json.dumps(chr(int(char[2:], 16)))[1:-1]
    return "'" if char[1] == "'" else f"\\\\{char[1]}"


def parse_literal(text: str) -> Json:
    """The value of a text that is JSON or a Python literal, as programs print it. JsonError where
    it is neither.
    """
    try:
        return parse(text)
    except JsonError as refused:
        try:
            return _parse_python(text, [])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise refused from None


def _parse_python(text: str, problems: list[str]) -> Json:
    """A Python literal. Raises what ``ast.literal_eval`` raises, or ValueError for what JSON cannot
    say.
    """
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # an invalid escape in a model's text is not this program's warning
        value = _to_json_value(ast.literal_eval(text))
    problems.append("Python literal read as JSON")
    return value


def _to_json_value(value: object) -> Json:
    if isinstance(value, dict):
        if not all(isinstance(k, str) for k in value):
            raise ValueError("a key that is not text")
        return {k.replace(_TICK, "`"): _to_json_value(v) for k, v in value.items()}
    if isinstance(value, str):
        return value.replace(_TICK, "`")
    if isinstance(value, list | tuple):
        return [_to_json_value(v) for v in value]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and value - value == 0:  # neither infinite nor NaN
        return value
    raise ValueError(f"{type(value).__name__} is not JSON")


def _repair_with_library(text: str, refused: JsonError, problems: list[str]) -> Json:
    import json_repair  # 20 ms to import, and most processes never need it

    try:
        found = json_repair.repair_json(
            text.replace("`", _TICK), return_objects=True, skip_json_loads=True, logging=True
        )
        value, log = found if isinstance(found, tuple) else (found, [])
        value = _to_json_value(value)
    except (
        Exception
    ) as exc:  # a library for broken input may break on it: then the document stays refused
        raise JsonError(
            f"{refused.reason}; not repairable either ({type(exc).__name__})", refused.position
        ) from None
    if type(value) is not ({"{": dict, "[": list}[text[0]]):
        raise refused
    problems += [str(entry.get("text", "repaired")) for entry in log] or ["syntax repaired"]
    return value


def _measure_depth(text: str) -> int:
    deepest = depth = 0
    for char in text:
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest
