"""Calls that nothing could repair: which argument is to blame, which result it was taken from, what
else rests on it.

A tool that says "there is no order O-12" blames a value, and the value may be no invention of the
model's: an earlier lookup gave it, and gave it wrong, or gave what has changed since. Then no other
spelling helps; the lookup has to be made again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from callwright.language.tokens import fold_text
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
    to_plain_text,
)
from callwright.repair.diagnose import diagnose
from callwright.repair.gate import Refusal
from callwright.repair.provenance.sources import ProvenanceIndex

_TELLING = 4  # characters of a value that one would hardly meet twice by chance
_FEW = 2  # characters of a value that an error can be said to quote


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that came to nothing although it was repaired as far as that went.

    ``blamed``: the arguments that the diagnosis names. ``final``: changing what is sent cannot help
    (an outage, a missing key). ``empty``: the tool was content, and had nothing to give.
    """

    call: ToolCall
    arguments: JsonObject
    message: str
    blamed: tuple[str, ...] = ()
    final: bool = False
    empty: bool = False


def build_failed_call(result: ToolResult, tool: Tool) -> Failed | None:
    """A failed result as a failed call; None where it may have taken effect, or is no failure at
    all.
    """
    failure = result.failure
    if failure is None or (failure.outcome_unknown and not tool.effects.read_only):
        return None
    diagnosis = diagnose(result, tool)
    call = ToolCall(result.id, result.tool, result.arguments, result.slot)
    keys = (
        _find_blamed_arguments(diagnosis.message, (diagnosis.path,), result.arguments)
        if diagnosis.points_at_arguments
        else ()
    )
    empty = failure.kind == "empty"
    return Failed(
        call, result.arguments, failure.message, keys, not diagnosis.points_at_arguments, empty
    )


def build_refused_call(refusal: Refusal) -> Failed | None:
    """A call that the gate refused; None where its arguments could not even be read."""
    if refusal.tool is None or refusal.arguments is None:
        return None
    keys = _find_blamed_arguments("", [v.path for v in refusal.violations], refusal.arguments)
    return Failed(refusal.call, refusal.arguments, refusal.message, keys)


def _find_blamed_arguments(
    message: str, paths: Collection[str], arguments: JsonObject
) -> tuple[str, ...]:
    """The arguments that a diagnosis points at, or else those that its message names or quotes."""
    pointed = {path.removeprefix("/").split("/")[0] for path in paths}
    said = fold_text(message)
    return tuple(k for k in arguments if k in pointed) or tuple(
        k
        for k, v in arguments.items()
        if _has_whole_word(fold_text(k), said)
        or any(_has_whole_word(q, said) for q in _list_quotable_texts(v))
    )


def _list_quotable_texts(value: Json) -> list[str]:
    return [
        fold_text(text) for text in map(to_plain_text, iter_scalars(value)) if len(text) >= _FEW
    ]


def _has_whole_word(text: str, said: str) -> bool:
    return (
        len(text) >= _FEW
        and re.search(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", said) is not None
    )


def find_origin(
    failed: Failed, sources: ProvenanceIndex, asked: ProvenanceIndex
) -> ToolResult | None:
    """The one result that a blamed argument was taken from; None where it is not sure which.

    ``asked`` is the request with its conversation: what that says itself was taken from there.
    """
    by_id = {result.id: result for result in sources.results}
    for key in failed.blamed:
        for value in iter_scalars(failed.arguments[key]):
            text = to_plain_text(value)
            if value is None or isinstance(value, bool) or asked.holds(value):
                continue
            found = {
                leaf.result
                for leaf in sources.leaves_under(key)
                if to_plain_text(leaf.value) == text
            }
            if not found and len(text) >= _TELLING:
                found = {
                    leaf.result for leaf in sources.leaves if to_plain_text(leaf.value) == text
                }
            if len(found) == 1:
                return by_id[found.pop()]
    return None


@dataclass(slots=True)
class Renewal:
    """Mapping of renewed values: old value -> its new value, or None if that is not clear."""

    values: dict[str, Json]

    @classmethod
    def of(cls, before: Json, after: Json) -> Renewal:
        """Values are matched by their place; lists only where both hold one member."""
        made = cls({})
        made.add(before, after)
        return made

    def add(self, before: Json, after: Json) -> None:
        """Another result that was renewed. ``after=None``: nothing is known in its stead."""
        now, kept = _map_scalars(after), {to_plain_text(v) for v in iter_scalars(after)}
        for place, value in _map_scalars(before).items():
            text = to_plain_text(value)
            if value is None or isinstance(value, bool) or text in kept:
                continue
            new = None if "*" in place else now.get(place)
            self.values[text] = new if self.values.get(text, new) == new else None

    def touches(self, arguments: JsonObject) -> bool:
        """Return True if a call with these arguments uses a value that has changed."""
        return any(to_plain_text(value) in self.values for value in iter_scalars(arguments))

    def applied(self, arguments: JsonObject) -> JsonObject | None:
        """The arguments with the new values; None where one of them is not clear."""
        if any(
            self.values.get(to_plain_text(v), v) is None
            for v in iter_scalars(arguments)
            if v is not None
        ):
            return None
        made: JsonObject = self._new(arguments)
        return made

    def _new(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {key: self._new(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._new(inner) for inner in value]
        return self.values.get(to_plain_text(value), value) if value is not None else None


def has_changed_value(
    result: ToolResult, renewal: Renewal, others: Sequence[ToolResult], asked: ProvenanceIndex
) -> bool:
    """Return True if a result's call uses a changed value that neither the request nor another
    result holds.
    """
    held = {to_plain_text(value) for other in others for value in iter_scalars(other.content)}
    return any(
        to_plain_text(value) in renewal.values
        and to_plain_text(value) not in held
        and not asked.holds(value)
        for value in iter_scalars(result.arguments)
    )


def _map_scalars(value: Json, path: tuple[str, ...] = ()) -> Mapping[tuple[str, ...], Json]:
    """Every scalar by its place. Members of longer lists stand at places that are like no others:
    "*".
    """
    if isinstance(value, dict):
        return {
            k: v
            for key, inner in value.items()
            for k, v in _map_scalars(inner, (*path, str(key))).items()
        }
    if isinstance(value, list):
        many = ("*",) if len(value) > 1 else ()
        return {
            k: v
            for place, inner in enumerate(value)
            for k, v in _map_scalars(inner, (*path, *many, str(place))).items()
        }
    return {path: value}
