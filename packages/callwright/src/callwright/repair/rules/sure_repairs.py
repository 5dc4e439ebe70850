"""Repairs of a call that is declared to write: only those that leave what the call means beyond
doubt are made. Any other call is refused with the reasons, and its model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier, squash_name
from callwright.nouns.types import Json, JsonObject, Tool
from callwright.nouns.wire_names import EditRules
from callwright.schema.compiled import Node
from callwright.schema.keys import drop_keys
from callwright.schema.value_edits import ValueEdit

_NEUTRAL = ENGLISH.words("keys.neutral")
_WEAK = ENGLISH.words("keys.weak")
_TWO_WAYS = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)  # a thousand, or one
_DOUBLED = re.compile(r"(.)\1+")
_SHORTENED = 3  # letters that a short form has at least
_SWAPPED = 5  # letters of a word in which two may be swapped: "form" is no slip of "from"


def find_lost_keys(arguments: JsonObject, node: Node, tool: Tool) -> list[ValueEdit]:
    """The unknown keys of a write's arguments that may say what it shall do: one that is dropped
    with them may do something else (``dry_run``). A key without a value says nothing, and one that
    holds the tool's own name says it again.
    """
    if not tool.effects.declares_write:
        return []
    edits = drop_keys(arguments, node)[1]
    return [e for e in edits if not _says_nothing(e.before) and e.before != tool.name]


def _says_nothing(value: Json) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def are_sure(edits: Sequence[ValueEdit], tool: Tool, given: Collection[str] = ()) -> bool:
    """Return True if every conversion and rename keeps what a call of this tool means. ``given``:
    the keys that the call has.
    """
    return not tool.effects.declares_write or all(_is_sure(edit, tool, given) for edit in edits)


def _is_sure(edit: ValueEdit, tool: Tool, given: Collection[str]) -> bool:
    if edit.rule == EditRules.RENAME_KEY:
        key, wanted = str(edit.before), str(edit.after)
        is_inner = len(edit.pointer) > 1  # the parameters beside it are not the tool's
        is_only = is_inner or not has_rival(key, wanted, tool, given)
        return is_only and is_same_key(key, wanted, tool)
    is_number = edit.rule.endswith(EditRules.TEXT_TO_NUMBER)
    return not is_number or not reads_two_ways(str(edit.before).strip(" []'\""), is_whole=True)


def reads_two_ways(text: str, *, is_whole: bool) -> bool:
    """Return True if languages read a number differently: "1.000", and "1,000" where it need not be
    a whole one.
    """
    return _TWO_WAYS.fullmatch(text) is not None and not (is_whole and "," in text)


def is_same_key(given: str, wanted: str, tool: Tool) -> bool:
    """Return True if a key surely stands for a parameter: the parameter's name says all that the key
    says. What the key says beyond it must say nothing (``city_name`` for ``city``), stand in the
    parameter's description, or be what the tool acts on (``customer_id`` for the ``id`` of
    ``delete_customer``). ``customer_id`` is no ``order_id``.
    """
    if squash_name(given) and squash_name(given) == squash_name(wanted):
        return True
    from callwright.dataflow.flow import STOP, split_words  # much that few calls need

    ours, theirs = split_words(given), split_words(wanted)
    more = {w for w in ours if not any(is_same_word(w, x) for x in theirs)}
    less = {x for x in theirs if not any(is_same_word(w, x) for w in ours)}
    acts_on = split_words(tool.name)
    if not more:  # a key without words that can be read says nothing
        return bool(ours) and (
            wanted in tool.required or less <= STOP | _NEUTRAL | _WEAK | {*acts_on}
        )
    if less or more <= _NEUTRAL:
        return not less
    if set(theirs) <= _WEAK:
        return more == {*acts_on[-len(more) :]}
    part = tool.properties.get(wanted)
    about = part.get("description") if isinstance(part, dict) else None
    return isinstance(about, str) and more <= {*split_words(about)}


def has_rival(given: str, wanted: str, tool: Tool, present: Collection[str]) -> bool:
    """Return True if a key leaves out the words that tell a parameter from another one which the
    call lacks as well: ``account`` for ``from_account``, where there is a ``to_account``.
    """
    from callwright.dataflow.flow import split_words

    ours = split_words(given)
    less = {x for x in split_words(wanted) if not any(is_same_word(w, x) for w in ours)}
    if not ours or less <= _WEAK:
        return False
    open_ = (key for key in tool.properties if key != wanted and key not in present)
    return any(_holds_words(split_words(key), ours) for key in open_)


def _holds_words(words: Iterable[str], wanted: Iterable[str]) -> bool:
    held = [*words]
    return all(any(is_same_word(one, word) for one in held) for word in wanted)


def says_of_what(key: str) -> bool:
    """Return True if a key names a thing, and is no bare ``id`` or ``name``."""
    return not _WEAK.issuperset(split_identifier(key))


def is_same_word(one: str, other: str) -> bool:
    """Return True if two spellings are surely one word: a short form (``repo``), or letters doubled
    or swapped (``mesage``). A letter more, less or other makes another word (``contact``,
    ``contract``; ``product``, ``project``).
    """
    short, long = sorted((one, other), key=len)
    if one == other or _DOUBLED.sub(r"\1", one) == _DOUBLED.sub(r"\1", other):
        return True
    if len(short) == len(long) >= _SWAPPED:
        pairs = range(len(one) - 1)
        return any(one[:i] + one[i + 1] + one[i] + one[i + 2 :] == other for i in pairs)
    return len(long) >= 2 * len(short) >= 2 * _SHORTENED and long.startswith(short)
