"""Calls written as Python: ``[f(a='x', b=1), g()]``, as Llama 3.2 and 4 and ToolACE write them, or
``f(a='x')``.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Sequence
from itertools import groupby

from callwright.nouns.types import Json, JsonObject, ToolCall
from callwright.parsing import names
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import BROKEN, STOPPED

MAX_CHARS = 1_000_000
OPENS = MarkerSet(["("])
_MAX_EXPRESSIONS = 16
_MARK = "_spared_"
_SPARED = re.compile(  # strings are passed over, whatever they say
    r"""'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
    rf"|(?<![\w.])(?P<word>{'|'.join(keyword.kwlist)})(?=\s*=[^=])",
    re.DOTALL,
)
EXPRESSION = "an expression that is no literal, kept as text"
_JSON_WORDS = {"true": True, "false": False, "null": None}


def take_call(tape: Scanner, name: str, offer: ToolVocabulary) -> Steps[Meant]:
    """The call whose ``(`` comes next."""
    text, closed = yield from tape.value(round_=True)
    if not closed:
        return Meant(name, text, [STOPPED], truncated=True)
    return read_call(name, text, offer)


def take_calls(tape: Scanner, name: str, offer: ToolVocabulary) -> Steps[tuple[list[Meant], bool]]:
    """The calls of a list whose first name is read already; whether its ``]`` came (it is
    taken).
    """
    found = [(yield from take_call(tape, name, offer))]
    while not found[-1].truncated:
        char = yield from tape.space()
        if char == "]":
            tape.at += 1
            return found, True
        if char != ",":
            break
        tape.at += 1
        char = yield from tape.space()
        if char == "]" and not (yield from names.find_name(tape, offer, OPENS)):
            continue
        name = yield from names.take_name(tape, offer, OPENS)
        if not name or (yield from tape.char()) != "(":
            break
        found.append((yield from take_call(tape, name, offer)))
    return found, False


def read_call(name: str, text: str, offer: ToolVocabulary) -> Meant:
    """A call from its name and ``(…)``. Literals only; what is none stays text, and is named as a
    problem.
    """
    problems: list[str] = []
    try:
        if len(text) > MAX_CHARS:
            raise ValueError("too long")
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # an invalid escape in a model's text is not this program's warning
            node, text = _parse_call(text.strip())
        if not isinstance(node, ast.Call):
            raise ValueError("not a call")
        arguments = _read_keywords(node, text, problems)
        _add_positional(node, text, arguments, list(offer.schema(name)), problems)
    except (ValueError, SyntaxError, MemoryError, RecursionError, OverflowError) as exc:
        return Meant(name, text[1:-1], [f"{BROKEN}: {type(exc).__name__}"])
    return Meant(name, arguments, problems)


def _parse_call(text: str) -> tuple[ast.expr, str]:
    """The call as Python reads it, and the text of its arguments as it was read."""
    try:
        return ast.parse("f" + text, mode="eval").body, text
    except SyntaxError:
        text = _mark_python_words(text)
        return ast.parse("f" + text, mode="eval").body, text


def _mark_python_words(text: str) -> str:
    """Parameters that are called like Python's own words (``from=``, ``class=``) get a mark behind
    the name.
    """
    return _SPARED.sub(lambda found: found[0] + _MARK if found["word"] else found[0], text)


def _read_keywords(node: ast.Call, text: str, problems: list[str]) -> JsonObject:
    arguments: JsonObject = {}
    for given in node.keywords:
        value = _read_literal(given.value, text, problems)
        if given.arg is not None:
            name = given.arg.removesuffix(_MARK)
            arguments[name if keyword.iskeyword(name) else given.arg] = value
        elif isinstance(value, dict):
            arguments |= value
        else:
            raise ValueError("** before something that is no dict")
    return arguments


def _add_positional(
    node: ast.Call, text: str, arguments: JsonObject, names: list[str], problems: list[str]
) -> None:
    """Arguments without a name take the schema's names in order; a single dict is the arguments
    themselves.
    """
    values = [_read_literal(given, text, problems) for given in node.args]
    if len(values) == 1 and isinstance(values[0], dict) and not arguments:
        arguments |= values[0]
        return
    free = [n for n in names if n not in arguments]
    if len(values) > len(free):
        raise ValueError("more arguments without a name than the schema has parameters")
    if values:
        problems.append("arguments without a name, named in the schema's order")
    arguments |= dict(zip(free, values, strict=False))


def _read_literal(node: ast.expr, text: str, problems: list[str]) -> Json:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, float) and node.value - node.value != 0:
            raise ValueError("a number that JSON does not have")
        if node.value is None or isinstance(node.value, str | int | float):
            return node.value
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_read_literal(n, text, problems) for n in node.elts]
    elif isinstance(node, ast.Dict):
        return _read_dict(node, text, problems)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _read_literal(node.operand, text, problems)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    elif isinstance(node, ast.Name) and node.id in _JSON_WORDS:
        problems.append("JSON words in a Python call")
        return _JSON_WORDS[node.id]
    if problems.count(EXPRESSION) >= _MAX_EXPRESSIONS:
        raise ValueError("too many expressions")
    source = ast.get_source_segment("f" + text.strip(), node)
    problems.append(EXPRESSION)
    return source or ""


def _read_dict(node: ast.Dict, text: str, problems: list[str]) -> JsonObject:
    found: JsonObject = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = _read_literal(key, text, problems) if key is not None else None
        if not isinstance(name, str):
            raise ValueError("a key that is not text")
        found[name] = _read_literal(value, text, problems)
    return found


def write_value(calls: Sequence[ToolCall]) -> list[str]:
    """Each call as Python. Keys that are no plain names, and arguments that are no object, go
    through ``**``.
    """
    return [f"{c.tool}({_format_arguments(c.arguments)})" for c in calls]


def _format_arguments(given: JsonObject | str) -> str:
    if isinstance(given, str):
        return given
    runs = groupby(given.items(), key=lambda item: _is_plain(item[0]))
    return ", ".join(
        ", ".join(f"{k}={v!r}" for k, v in items) if plain else f"**{dict(items)!r}"
        for plain, items in runs
    )


def _is_plain(key: str) -> bool:
    return (
        key.isascii() and key.isidentifier() and not keyword.iskeyword(key) and key != "__debug__"
    )


def write(calls: Sequence[ToolCall]) -> str:
    return "[" + ", ".join(write_value(calls)) + "]"
