"""RFC 8259, nothing more: what every parser must refuse is refused, and no number is changed on the
way.

orjson does the work. Where it differs from what the project needs, this module makes it right: an
integer of more than 64 bits keeps every digit (orjson would round it to a float, and an identifier
would become another one).
"""

from __future__ import annotations

import json

import orjson

from callwright.nouns.types import Json, JsonObject, to_canonical_json

# arrays and objects inside each other; RFC 8259 section 9 lets a parser set a limit
MAX_DEPTH = 1024
_LONG = b"0" * 19  # from so many digits on, an integer may need more than 64 bits
_ZEROS = bytes(
    0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256)
)  # digits made zeros: found 10x faster
_MAX_BITS = 14_000  # of an integer that Python writes in digits: fewer than 4,300
_CONTAINERS = (dict, list, tuple)
_OWN_KINDS_ONLY = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_EXACT = json.JSONDecoder()  # used only on documents that orjson has found correct


class JsonError(ValueError):
    """The text is not a JSON document. ``position`` counts characters from 0, in bytes too
    (0 where they are not UTF-8)."""

    def __init__(self, reason: str, position: int = 0, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{reason} at line {line}, column {column}")
        self.reason = reason
        self.position = position
        self.line = line
        self.column = column


def parse(text: str | bytes) -> Json:
    """The value of one JSON document (RFC 8259, UTF-8). Raises JsonError saying what is wrong and
    where.

    The last of two equal keys wins. Refused although a parser may accept them: a byte order mark,
    lone surrogates, numbers beyond a double's range, more than MAX_DEPTH levels. Integers keep all
    their digits.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise JsonError(exc.msg or "not JSON", exc.pos, exc.lineno, exc.colno) from None
    if _LONG in (text if isinstance(text, bytes) else text.encode()).translate(_ZEROS):
        return _parse_exact(text if isinstance(text, str) else text.decode("utf-8"))
    return value


def parse_object(text: str) -> JsonObject | str:
    """The object that a text is; where it is none, the text, for the gate to judge."""
    try:
        value = parse(text)
    except JsonError:
        return text
    return value if isinstance(value, dict) else text


def write(value: Json) -> bytes:
    """A value as JSON in UTF-8: no spaces, keys sorted, so that equal values give equal bytes.

    Several times faster than :func:`callwright.nouns.types.to_canonical_json`, which digests are taken of:
    some floats are spelled differently.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (
        TypeError
    ):  # integers beyond 64 bits, lone surrogates, keys that are no texts, what is no JSON
        return to_canonical_json(value).encode("utf-8", "surrogatepass")


def explain_unwritable(value: Json, deepest: int = 200) -> str:
    """Return the reason why JSON cannot express a value, or why it is nested too deep; "" if it is
    fine.

    Integers may be beyond 64 bits and texts may hold halves of characters. Nothing else that JSON
    lacks passes, in lists and objects of Python's own kinds. Values of more than ``deepest`` levels
    do not pass (a few more levels if plain).
    """
    return "" if write_as_it_stands(value) is not None else _why_unwritable(value, deepest)


def write_as_it_stands(value: Json) -> bytes | None:
    """A value as JSON, keys in the order that they have; None for the values of which
    :func:`explain_unwritable` has to look at every part.
    """
    try:
        return orjson.dumps(value, option=_OWN_KINDS_ONLY)
    except TypeError:
        return None


def _why_unwritable(value: Json, deepest: int) -> str:
    level, depth = [value], -1
    while level and depth < deepest:
        depth += 1
        for one in level:
            if isinstance(one, dict) and not all(isinstance(key, str) for key in one):
                return "an object has a key that is no text"
            if isinstance(one, int) and one.bit_length() > _MAX_BITS:
                return "a number has too many digits"
            if one is not None and not isinstance(one, dict | list | tuple | str | int | float):
                return f"{type(one).__name__} is not JSON"
        inside = (
            one.values() if isinstance(one, dict) else one
            for one in level
            if isinstance(one, _CONTAINERS)
        )
        level = [member for one in inside for member in one]
    return f"it is nested more than {deepest} levels deep" if level else ""


def _parse_exact(text: str) -> Json:
    try:
        return _EXACT.decode(text)
    except (ValueError, RecursionError) as exc:
        raise JsonError(
            f"a number too long, or too deep a document around it ({type(exc).__name__})"
        ) from None
