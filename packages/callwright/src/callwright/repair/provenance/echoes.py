"""Repetitions: values of a result that only repeat arguments of its own call.

A tool often returns what it was asked for: ``get_order("ORD-1")`` gives ``{"order_id": "ORD-1",
"status": "not found"}``. A value that the model made up would so become one that a result states.
Such a repetition supports nothing by itself. It does where its record also holds a text that
somebody said: ``get_customer("C-1")`` gives ``{"id": "C-1", "name": "Lena Hoff"}``, and the user
spoke of Lena Hoff. Of a failure the text counts, and there every argument is taken out.

Numbers, and texts with a digit or an @, are judged: identifiers, days and addresses. A number is a
repetition only under a name that ends like the argument's. A plain word that comes back tells that
the tool knows it, so it stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from callwright.jsontext import parse_tool_text
from callwright.language.tokens import fold_text, split_identifier, squash_text, with_ascii_digits
from callwright.nouns.types import Json, JsonObject, ToolResult, is_number, iter_scalars

_DEPTH = 60
_ABOUT_VALUES = frozenset({"tool_error", "error_payload"})
_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_LARGEST = 10**300  # of a number that a float can hold
_SHORTEST = 2  # signs of a text that can tell whose record it is, without spaces and punctuation


def strip_echoes(result: ToolResult, is_said: Callable[[str], bool]) -> ToolResult:
    """The result without what only repeats its call's arguments; the same object if it repeats
    nothing. ``is_said``: whether somebody said a text.
    """
    asked = _Asked(*_list_asked(result.arguments))
    if result.failure is not None or not (asked.texts or asked.numbers):
        return result
    content = result.content
    if isinstance(content, str):
        if content.lstrip()[:1] not in ("{", "["):
            kept = _strip_prose(content, asked)
            return result if kept == content else replace(result, content=kept)
        content = parse_tool_text(content)
    stripped, changed = _strip_records(content, asked, is_said)
    return replace(result, content=stripped) if changed else result


def tell_failure(result: ToolResult) -> str:
    """The words of a tool for a call that it did not carry out, less what only repeats the call's
    arguments; "" for a failure that is about no value, such as a timeout.
    """
    failure = result.failure
    if failure is None or failure.kind not in _ABOUT_VALUES:
        return ""
    told = (one for one in iter_scalars(failure.detail) if isinstance(one, str))
    text = fold_text(with_ascii_digits("\n".join(dict.fromkeys((failure.message, *told)))))
    given = [one for one in iter_scalars(result.arguments) if not isinstance(one, bool)]
    numbers = {float(one) for one in given if is_number(one) and abs(one) < _LARGEST}
    text = _FIGURE.sub(lambda m: " " if float(m[0]) in numbers else m[0], text)
    for squashed in (squash_text(one) for one in given if isinstance(one, str)):
        text = spell_pattern(squashed).sub(" ", text) if len(squashed) >= _SHORTEST else text
    return text


def spell_pattern(squashed: str) -> re.Pattern[str]:
    """An expression for a squashed text in a folded one, whatever spaces and punctuation it has
    there. Beside an end that is a digit stands no other digit.
    """
    written = r"[\W_]*".join(map(re.escape, squashed))
    first = r"(?<!\d)" if squashed[0].isdigit() else ""
    return re.compile(first + written + (r"(?!\d)" if squashed[-1].isdigit() else ""))


def fold_arguments(arguments: JsonObject) -> set[Json]:
    """The scalars of a call's arguments, at any depth, without case."""
    return {*map(fold_case, iter_scalars(arguments))}


def has_argument(arguments: JsonObject, value: Json) -> bool:
    """Return True if a scalar is one of a call's arguments, at any depth, but for case."""
    return fold_case(value) in map(fold_case, iter_scalars(arguments))


def fold_case(value: Json) -> Json:
    """A text without case; any other value as it is."""
    return value.casefold() if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class _Asked:
    """The judged scalars of a call's arguments: texts as squashed and as written, and numbers with
    the last words of their names.
    """

    texts: dict[str, str]
    numbers: set[tuple[str, float]]

    def repeats(self, key: str, leaf: Json) -> bool:
        """Return True if a scalar under a name repeats an argument."""
        if isinstance(leaf, bool):
            return False
        if isinstance(leaf, int | float):
            return (_last_word(key), leaf) in self.numbers
        return isinstance(leaf, str) and squash_text(leaf) in self.texts


def _list_asked(arguments: JsonObject) -> tuple[dict[str, str], set[tuple[str, float]]]:
    texts: dict[str, str] = {}
    numbers: set[tuple[str, float]] = set()
    for key, value in _iter_scalars(arguments, "", 0):
        if isinstance(value, str):
            squashed = squash_text(value)
            if squashed and ("@" in value or any(sign.isdigit() for sign in squashed)):
                texts[squashed] = value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.add((_last_word(key), value))
    return texts, numbers


def _iter_scalars(value: Json, key: str, depth: int) -> Iterator[tuple[str, Json]]:
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _iter_scalars(member, name, depth + 1)
    elif isinstance(value, list):
        for member in value:
            yield from _iter_scalars(member, key, depth + 1)
    else:
        yield key, value


def _strip_prose(text: str, asked: _Asked) -> str:
    for written in sorted(asked.texts.values(), key=len, reverse=True):
        text = text.replace(written, " ")
    return text


def _strip_records(
    value: Json, asked: _Asked, is_said: Callable[[str], bool], depth: int = 0
) -> tuple[Json, bool]:
    """The value without the repetitions of records of which nobody spoke, and whether any was taken
    out.
    """
    if isinstance(value, list) and depth < _DEPTH:
        members = [_strip_records(member, asked, is_said, depth + 1) for member in value]
        return [kept for kept, _ in members], any(changed for _, changed in members)
    if any(_tells(leaf, name, asked, is_said) for name, leaf in _iter_scalars(value, "", depth)):
        return value, False
    return _remove_repeated(value, "", asked, depth)


def _remove_repeated(value: Json, key: str, asked: _Asked, depth: int) -> tuple[Json, bool]:
    if depth > _DEPTH:
        return value, False
    if isinstance(value, dict):
        pairs = {k: _remove_repeated(v, k, asked, depth + 1) for k, v in value.items()}
        return {k: kept for k, (kept, _) in pairs.items()}, any(c for _, c in pairs.values())
    if isinstance(value, list):
        members = [_remove_repeated(member, key, asked, depth + 1) for member in value]
        return [kept for kept, _ in members], any(changed for _, changed in members)
    return (None, True) if asked.repeats(key, value) else (value, False)


def _tells(leaf: Json, key: str, asked: _Asked, is_said: Callable[[str], bool]) -> bool:
    """Return True for a text of a record that somebody said and that the call did not."""
    return (
        isinstance(leaf, str)
        and len(squash_text(leaf)) >= _SHORTEST
        and not asked.repeats(key, leaf)
        and is_said(leaf)
    )


def _last_word(key: str) -> str:
    return "".join(split_identifier(key)[-1:])
