"""JSON values -> annotated Python values on the way into a function, Python values -> JSON on the
way out.
"""

from __future__ import annotations

import base64
import collections.abc as abc
import contextlib
import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import re
import typing
import uuid
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json
from callwright.tools.python.shapes import (
    MAPPINGS,
    SEQUENCES,
    SETS,
    UNIONS,
    fields_of,
    member_value,
    resolve_alias,
)

_MAX_DEPTH = 200
_MAX_DIGITS = 4_200  # of a number: Python writes no whole number of more than 4,300
_TOO_LONG = 10**_MAX_DIGITS
_TEXT_CHARS = 2_000
_LONE_DIGIT = re.compile(r"(?<![\d.,])\d(?!\d)")


class NotConvertible(ValueError):
    """A value does not fit the annotation, or has no JSON form."""


def load_value(annotation: Any, value: Json) -> Any:
    """``value`` as the annotated type. Raises NotConvertible; unknown annotations take the value as
    it is.
    """
    annotation = resolve_alias(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired, typing.Final):
        return load_value(args[0], value)
    if origin is Literal:
        return _load_literal(args, value)
    if origin in UNIONS:
        return _load_union(args, value)
    cls = origin if isinstance(origin, type) else annotation
    if not isinstance(cls, type) or cls is object:
        return value
    if cls in _READERS:
        return _READERS[cls](value)
    return _load_container(annotation, cls, args, value)


def dump_result(value: Any) -> Json:
    """The JSON form of what a function returned. Whatever has none is kept as its text."""
    try:
        return dump_value(value, _write_as_text)
    except NotConvertible:
        return _write_as_text(value)


def _refuse(value: Any) -> Json:
    raise NotConvertible(f"a {type(value).__qualname__} has no JSON form")


def _write_as_text(value: Any) -> Json:
    """The text that a class gives its objects; a note where that is an address, or fails."""
    with contextlib.suppress(Exception):
        text = str(value)[:_TEXT_CHARS]
        if text and " at 0x" not in text:
            return text
    return f"an object of {type(value).__qualname__}, which has no JSON form"


def dump_value(value: Any, otherwise: Callable[[Any], Json] = _refuse, _depth: int = 0) -> Json:
    """The JSON form of a value. ``otherwise`` writes parts that have none; without it they raise
    NotConvertible, as does what is nested too deep.
    """
    if _depth > _MAX_DEPTH:
        raise NotConvertible("the result is nested too deep, or holds itself")
    if isinstance(value, enum.Enum):
        return member_value(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, decimal.Decimal):
        value = _to_plain_number(value)
    if isinstance(value, int):
        return value if abs(value) < _TOO_LONG else otherwise(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    for kind, writer in _WRITERS:
        if isinstance(value, kind):
            return writer(value)
    return _dump_container(value, otherwise, _depth + 1)


def _dump_container(value: Any, otherwise: Callable[[Any], Json], depth: int) -> Json:
    def dump(part: Any) -> Json:
        return dump_value(part, otherwise, depth)

    if isinstance(value, type):
        return otherwise(value)
    if hasattr(value, "model_dump"):
        try:
            plain = value.model_dump(mode="json", by_alias=True)  # the names of its schema
        except ValueError:  # pydantic cannot write one of its fields
            plain = dict(value)
        return dump(plain)
    if dataclasses.is_dataclass(value):
        return {f.name: dump(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return dump(value._asdict())
    if isinstance(value, abc.Mapping):
        return {to_key_text(dump(k)): dump(v) for k, v in value.items()}
    if isinstance(value, abc.Set):
        return sorted(map(dump, value), key=lambda v: (type(v).__name__, str(v)))
    if isinstance(value, abc.Iterable):
        return list(map(dump, value))
    if hasattr(value, "item") and callable(value.item):  # numpy scalars
        return dump(value.item())
    return otherwise(value)


def _to_plain_number(value: decimal.Decimal) -> int | float | decimal.Decimal:
    """A decimal as an int or a float; one with too many digits for either stays as it is."""
    if not value.is_finite():
        return math.nan
    if value.adjusted() > _MAX_DIGITS:
        return value
    return int(value) if value == value.to_integral_value() else float(value)


def to_key_text(plain: Json) -> str:
    """The key of a JSON object for the JSON form of a key of a mapping."""
    if isinstance(plain, str):
        return plain
    return (
        {None: "null", True: "true", False: "false"}[plain]
        if plain is None or isinstance(plain, bool)
        else str(plain)
    )


def _load_container(annotation: Any, cls: type, args: tuple[Any, ...], value: Json) -> Any:
    if issubclass(cls, enum.Enum):
        return _load_enum_member(cls, value)
    if hasattr(annotation, "model_validate"):
        return annotation.model_validate(value)
    if cls is tuple and args and args[-1] is not ...:
        _expect_type(list, "an array", value)
        return tuple(load_value(arg, v) for arg, v in zip(args, value, strict=True))
    if cls in SETS or cls in SEQUENCES:
        _expect_type(list, "an array", value)
        items = [load_value(args[0], v) for v in value] if args else value
        if cls in _COLLECTORS:
            return _COLLECTORS[cls](items)
        if cls in SETS:
            return set(items)
        return items
    if cls in MAPPINGS:
        _expect_type(dict, "an object", value)
        return (
            {_load_key(args[0], k): load_value(args[1], v) for k, v in value.items()}
            if args
            else value
        )
    fields = fields_of(annotation)
    return value if fields is None else _load_object(cls, fields, value)


def _load_key(annotation: Any, key: str) -> Any:
    """Keys of JSON objects are texts. One that the annotation refuses is read as the value that
    :func:`to_key_text` wrote it for.
    """
    try:
        return load_value(annotation, key)
    except NotConvertible:
        try:
            plain = parse(key)
        except JsonError:
            plain = key
        return load_value(annotation, plain)


def _load_object(cls: type, fields: tuple[Any, ...], value: Json) -> Any:
    _expect_type(dict, "an object", value)
    known = {f.name: f for f in fields}
    missing = [f.name for f in fields if f.required and f.name not in value]
    if missing or set(value) - set(known):
        raise NotConvertible(f"missing {missing}, unknown {sorted(set(value) - set(known))}")
    loaded: dict[str, Any] = {}
    for name, item in value.items():
        try:
            loaded[name] = load_value(known[name].annotation, item)
        except ValueError as error:
            raise NotConvertible(f"{name}: {error}") from None
    return loaded if typing.is_typeddict(cls) else cls(**loaded)


def _load_union(args: tuple[Any, ...], value: Json) -> Any:
    """The first alternative that takes the value; one that leaves it as it is comes before one that
    converts.
    """
    found: list[Any] = []
    for arg in args:
        try:
            loaded = load_value(arg, value)
        except (ValueError, TypeError):
            continue
        if type(loaded) is type(value) and loaded == value:
            return _prefer_richer_type(args, value, loaded)
        found.append(loaded)
    if not found:
        raise NotConvertible(f"{value!r} fits none of {', '.join(map(str, args))}")
    return found[0]


def _prefer_richer_type(args: tuple[Any, ...], value: Json, loaded: Any) -> Any:
    """In ``date | str`` a date's text is a date: text is tried as every richer type that stands
    before ``str``."""
    if not isinstance(value, str) or str not in args:
        return loaded
    for arg in args[: args.index(str)]:
        try:
            return load_value(arg, value)
        except (ValueError, TypeError):
            continue
    return loaded


def _load_literal(args: tuple[Any, ...], value: Json) -> Any:
    for arg in args:
        plain = member_value(arg) if isinstance(arg, enum.Enum) else arg
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return arg
    raise NotConvertible(f"{value!r} is none of {list(args)}")


def _load_enum_member(cls: type[enum.Enum], value: Json) -> enum.Enum:
    for member in cls:
        plain = member_value(member)
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return member
    raise NotConvertible(f"{value!r} is none of {[member_value(m) for m in cls]}")


def _expect_type(kind: type, what: str, value: Any) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise NotConvertible(f"{what} is expected, not {value!r}"[:200])


def _make_type_reader(kind: type, what: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        _expect_type(kind, what, value)
        return value

    return read


def _load_int(value: Any) -> int:
    """JSON has one number type: 3.0 is an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    _expect_type(int, "a whole number", value)
    return int(value)


def _load_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotConvertible(f"a number is expected, not {value!r}"[:200])
    return float(value)


def _make_text_reader(make: Callable[[str], Any], what: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        _expect_type(str, what, value)
        try:
            return make(value)
        except ValueError:
            raise NotConvertible(f"{value!r} is not {what}"[:200]) from None

    return read


def _make_iso_reader(kind: Any, what: str) -> Callable[[Any], Any]:
    """Reads ISO 8601, also where a month, a day or an hour has one digit."""

    def read(text: str) -> Any:
        try:
            return kind.fromisoformat(text)
        except ValueError:
            return kind.fromisoformat(_LONE_DIGIT.sub(r"0\g<0>", text))

    return _make_text_reader(read, what)


def _load_decimal(value: Any) -> decimal.Decimal:
    try:
        if isinstance(value, str):
            return decimal.Decimal(value)
        number = _load_float(value) if isinstance(value, float) else _load_int(value)
        return decimal.Decimal(repr(number))
    except decimal.InvalidOperation:
        raise NotConvertible(f"{value!r} is not a number") from None


_COLLECTORS: dict[type, Callable[[Any], Any]] = {tuple: tuple, set: set, frozenset: frozenset}

_READERS: dict[type, Callable[[Any], Any]] = {
    bool: _make_type_reader(bool, "true or false"),
    int: _load_int,
    float: _load_float,
    str: _make_type_reader(str, "text"),
    type(None): _make_type_reader(type(None), "null"),
    decimal.Decimal: _load_decimal,
    bytes: _make_text_reader(lambda v: base64.b64decode(v, validate=True), "base64"),
    bytearray: _make_text_reader(lambda v: bytearray(base64.b64decode(v, validate=True)), "base64"),
    datetime.datetime: _make_iso_reader(datetime.datetime, "a date and time (ISO 8601)"),
    datetime.date: _make_iso_reader(datetime.date, "a date (YYYY-MM-DD)"),
    datetime.time: _make_iso_reader(datetime.time, "a time (HH:MM)"),
    datetime.timedelta: lambda v: datetime.timedelta(seconds=_load_float(v)),
    uuid.UUID: _make_text_reader(uuid.UUID, "a UUID"),
    pathlib.Path: _make_text_reader(pathlib.Path, "a path"),
    pathlib.PurePath: _make_text_reader(pathlib.PurePath, "a path"),
}

_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Json]], ...] = (
    ((datetime.datetime, datetime.date, datetime.time), lambda v: v.isoformat()),
    (datetime.timedelta, lambda v: v.total_seconds()),
    ((bytes, bytearray, memoryview), lambda v: base64.b64encode(v).decode("ascii")),
    ((uuid.UUID, pathlib.PurePath), str),
)
