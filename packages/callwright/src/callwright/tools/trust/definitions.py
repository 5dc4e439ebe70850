"""Describes changes of a tool's definition as lines that a person can read on any terminal.
Pure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite

from callwright.nouns.control_characters import escape_controls
from callwright.nouns.types import Json, JsonObject, to_canonical_json

WIDTH = 76  # of one line: two columns stay free for whoever indents it, of eighty
_CONTEXT = 24  # characters that stay in front of the first difference of two texts
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One tool that is not what it was. ``before`` and ``after`` are what its source says of it."""

    tool: str
    before: JsonObject
    after: JsonObject


def find_changes(
    pinned: Mapping[str, JsonObject], offered: Mapping[str, JsonObject]
) -> tuple[Change, ...]:
    """The tools that stand on both sides with different definitions. New and missing tools are no
    change.
    """
    return tuple(
        Change(name, pinned[name], now)
        for name, now in offered.items()
        if name in pinned and to_canonical_json(pinned[name]) != to_canonical_json(now)
    )


def render_changes(found: Sequence[Change], most: int = 40) -> list[str]:
    """The differences as lines of at most ``WIDTH`` columns, ``most`` lines and one that says how
    many are left out.

    A value is shown from shortly before its first difference. Characters that would steer a
    terminal are escaped.
    """
    lines = [line for change in found for line in _iter_change_lines(change)]
    left = len(lines) - most
    return lines if left <= 0 else [*lines[:most], f"… {left} more lines"]


def plain_json(value: Json) -> Json:
    """A value as strict JSON can hold it, so that it is read back as it was kept: half a surrogate
    pair is escaped, a number that is none is null.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {plain_json(str(key)): plain_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def escape_terminal_text(text: str) -> str:
    """A text on one line that steers no terminal; blanks stay as they are, so that a path is still
    one.
    """
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def _iter_change_lines(change: Change) -> Iterator[str]:
    yield _cut_line(escape_terminal_text(change.tool))
    before, after = dict(_iter_leaves(change.before, "")), dict(_iter_leaves(change.after, ""))
    if to_canonical_json(before) == to_canonical_json(
        after
    ):  # an array became an object with its numbers as keys
        before, after = {"": change.before}, {"": change.after}
    for path in dict.fromkeys((*before, *after)):
        old, new = before.get(path, _ABSENT), after.get(path, _ABSENT)
        if old is _ABSENT or new is _ABSENT or to_canonical_json(old) != to_canonical_json(new):
            yield _cut_line(f"  {escape_terminal_text(path) or 'the whole definition'}")
            start = _first_difference(old, new)
            yield from _iter_side_lines("-", old, start)
            yield from _iter_side_lines("+", new, start)


def _iter_leaves(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    """(JSON Pointer, value) of every leaf; an empty object or array is one."""
    inner: Collection[tuple[str | int, Json]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = list(enumerate(value))
    if not inner:
        yield path, value
    for key, part in inner:
        yield from _iter_leaves(part, f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}")


def _first_difference(old: object, new: object) -> int:
    """Return the position from which to show the first difference of two texts; 0 if either is no
    text.
    """
    if not (isinstance(old, str) and isinstance(new, str)):
        return 0
    same = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    return max(0, same - _CONTEXT)


def _iter_side_lines(sign: str, value: object, start: int) -> Iterator[str]:
    if value is _ABSENT:
        return
    text = value if isinstance(value, str) else to_canonical_json(value)
    shown = ("…" if start else "") + escape_terminal_text(text[start:])
    wrapped = textwrap.wrap(shown, WIDTH - 6) or ['""']
    yield f"    {sign} {wrapped[0]}"
    yield from (f"      {line}" for line in islice(wrapped, 1, None))


def _cut_line(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
