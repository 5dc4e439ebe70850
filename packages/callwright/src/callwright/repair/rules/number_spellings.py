"""Numbers that become texts, as they were said: "01234", "3.10" and "+49170" are other texts than the
numbers 1234, 3.1 and 49170.

A model that writes a code or a version as a number loses what a number does not hold. Only what was
said can tell it: where that holds the number in one spelling, and not in its own, this one is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from callwright.nouns.types import Json, JsonObject, is_number
from callwright.nouns.wire_names import EditRules
from callwright.schema.value_edits import Pointer, ValueEdit

# none that is a part of a code, a date, a time or a longer number
_FIGURE = re.compile(r"(?<![\w.,:/+-])\+?[0-9]+(?:\.[0-9]+)?(?![\w:/-]|[.,][0-9])")
_LONGEST = 60  # digits of a number


def read_spellings(said: Iterable[str]) -> dict[Decimal, str]:
    """The numbers that texts hold in one spelling only, with this spelling."""
    found: dict[Decimal, set[str]] = {}
    for figure in (figure for text in said for figure in _FIGURE.findall(text)):
        if len(figure) <= _LONGEST:
            found.setdefault(Decimal(figure), set()).add(figure)
    return {number: min(ways) for number, ways in found.items() if len(ways) == 1}


def spell_as_said(
    arguments: JsonObject,
    edits: Sequence[ValueEdit],
    said: Sequence[str],
    accepts: Callable[[JsonObject], bool],
) -> tuple[JsonObject, tuple[ValueEdit, ...]]:
    """The arguments after these edits, and the edits, with each number that became a text in the
    spelling in which it was said. What their schema accepts stays what it accepts.
    """
    if all(edit.rule != EditRules.NUMBER_TO_TEXT for edit in edits):
        return arguments, (*edits,)
    spellings, made = read_spellings(said), [*edits]
    for place, edit in enumerate(edits):
        is_text = edit.rule == EditRules.NUMBER_TO_TEXT and isinstance(edit.after, str)
        spelling = _find_spelling(edit.before, spellings) if is_text else ""
        if not spelling or spelling == edit.after:
            continue
        spelled = _replace(arguments, edit.pointer, spelling)
        if isinstance(spelled, dict) and (accepts(spelled) or not accepts(arguments)):
            arguments, made[place] = spelled, edit._replace(after=spelling)
    return arguments, (*made,)


def _find_spelling(value: Json, spellings: Mapping[Decimal, str]) -> str:
    text = str(value) if is_number(value) else ""
    return spellings.get(Decimal(text), "") if 0 < len(text) <= _LONGEST else ""


def _replace(value: Json, pointer: Pointer, text: str) -> Json:
    """The value with a text at a place that it has."""
    if not pointer:
        return text
    step, rest = pointer[0], pointer[1:]
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        return {**value, step: _replace(value[step], rest, text)}
    if isinstance(value, list) and isinstance(step, int):
        return [_replace(one, rest, text) if n == step else one for n, one in enumerate(value)]
    return value
