"""Plan: the calls of a tool that can be made of a request and of what other tools replied (GRETEL,
Algorithm 1, 1-4).

Without a model. A planning failure is evidence: :class:`Lacking` names the input that nobody gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from callwright.agent.probing.values import (
    Request,
    Value,
    find_unused_codes,
    is_credential,
    is_derived,
    is_typed,
    list_values,
)
from callwright.dataflow.flow import split_words
from callwright.language import ENGLISH
from callwright.nouns.types import Json, JsonObject, Tool, required_keys

_SEARCHED = ENGLISH.words("parameters.searched")
_DEPTH = 4  # of objects in objects


@dataclass(frozen=True, slots=True)
class Draft:
    """A call that can be made. ``guessed`` are parameters whose value may not be the one that was
    meant; ``given_by`` the tools whose replies gave the others: parameter -> tool. ``is_opinion``:
    a model alone planned it, and may have meant values that nobody did.
    """

    arguments: JsonObject
    guessed: tuple[str, ...] = ()
    given_by: tuple[tuple[str, str], ...] = ()
    is_opinion: bool = False


@dataclass(frozen=True, slots=True)
class Lacking:
    """No call can be made: nothing gives these required inputs.

    ``certain``: it is no matter of reading better. An id, a code, a number, a day or a key was
    wanted, and no number and no code was said that other inputs did not take. Of a request that
    cannot be read only a missing key of the caller is certain.
    """

    missing: tuple[str, ...]
    certain: bool

    @property
    def proof(self) -> str:
        named = ", ".join(map(repr, self.missing))
        if any(is_credential(key) for key in self.missing):
            return f"needs {named}, a key that nobody gave"
        return f"missing mandatory {named}: neither the request nor any candidate provides it"


Provided = Mapping[
    str, Sequence[Value]
]  # parameter -> values that other tools' replies hold for it


def draft_calls(
    tool: Tool,
    request: Request,
    provided: Provided | None = None,
    most: int = 2,
    *,
    chained: bool = False,
) -> list[Draft] | Lacking:
    """At most ``most`` calls, best first; they differ in one guessed value. Or what is missing for
    any.

    What the request says beyond doubt stands before ``provided`` values; with ``chained`` after
    them: the tool did not take what the request says.
    """
    options: dict[str, list[Value]] = {}
    settled: JsonObject = {}
    needed = _list_needed(tool)
    for sure_only in (True, False):  # what is sure is spoken for before anything is guessed
        for key in needed:
            if key in settled or (sure_only and key in options):
                continue
            found = _list_options(key, tool, request, provided or {}, settled, chained)
            if found and (found[0].sure or not sure_only):
                options[key], settled[key] = found, found[0].value
    lacking = [key for key in needed if key not in settled and key in _list_required(tool)]
    if lacking:
        return _build_lacking(lacking, tool, request, list(settled.values()))
    chosen = {key: options[key][0] for key in settled}
    return [
        _build_draft(one, tool, request) for one in islice(_iter_variants(chosen, options), most)
    ]


def _list_required(tool: Tool) -> tuple[str, ...]:
    return tuple(key for key in tool.required if key in tool.properties or not tool.properties)


def _list_needed(tool: Tool) -> tuple[str, ...]:
    """The required parameters; of a tool that requires none, what it searches for."""
    if required := _list_required(tool):
        return required
    return tuple(key for key in tool.properties if set(split_words(key)) & _SEARCHED)[:1]


def _list_options(
    key: str, tool: Tool, request: Request, provided: Provided, settled: JsonObject, chained: bool
) -> list[Value]:
    part = tool.properties.get(key)
    part = part if isinstance(part, dict) else {}
    used = list(settled.values())
    found = _build_object(part, request, tool) if isinstance(part.get("properties"), dict) else None
    said = found if found is not None else _read_from_request(key, part, request, tool, used)
    given = [_fit_to_type(v, part) for v in provided.get(key, ())]
    if not chained and said and said[0].sure and said[0].origin == "said":
        return [*said[:1], *given, *said[1:]]
    return [*given, *said]


def _read_from_request(
    key: str, part: JsonObject, request: Request, tool: Tool, used: Sequence[Json]
) -> list[Value]:
    """Return the values for a parameter, preferably from the part of the request about its tool.
    Values from elsewhere are less sure, since they may be meant for another tool.
    """
    near = request.part_for(tool)
    found = list_values(key, part, near, tool, used)
    if near is request or (found and found[0].sure):
        return found
    elsewhere = list_values(key, part, request, tool, used)
    sure = [replace(v, sure=False) for v in elsewhere if v.sure and v.origin == "said"]
    rest = [replace(v, sure=v.sure and v.origin != "said") for v in elsewhere if v not in found]
    made: dict[str, Value] = {}
    for value in (*sure, *found, *rest):
        made.setdefault(repr(value.value), value)
    return list(made.values())


def _build_object(part: JsonObject, request: Request, tool: Tool, depth: int = 0) -> list[Value]:
    """An object is made of what its own required members may be; none where one of them has
    nothing.
    """
    made: JsonObject = {}
    sure = True
    inner = part["properties"]
    for name in required_keys(part):
        schema = inner.get(name)
        schema = schema if isinstance(schema, dict) else {}
        if isinstance(schema.get("properties"), dict) and depth < _DEPTH:
            found = _build_object(schema, request, tool, depth + 1)
        else:
            found = list_values(name, schema, request, tool, list(made.values()))
        if not found:
            return []
        made[name], sure = found[0].value, sure and found[0].sure
    return [Value(made, sure)]


def _fit_to_type(value: Value, part: JsonObject) -> Value:
    """A reply's value in the type that is wanted: a number as text, one as a list of one."""
    wanted, held = part.get("type"), value.value
    if wanted == "string" and isinstance(held, int | float) and not isinstance(held, bool):
        return Value(str(held), value.sure, value.origin)
    if wanted == "array" and not isinstance(held, list):
        return Value([held], value.sure, value.origin)
    return value


def _build_lacking(
    missing: Sequence[str], tool: Tool, request: Request, used: Sequence[Json]
) -> Lacking:
    """That nobody gave an input is certain where no number and no code was said but what other
    inputs took: else one of them may be it, and was not understood. A key that its caller must own
    is none of these. In a language that is not read a value may have been said in words.
    """
    typed = any(is_wanted(key, tool) for key in missing)
    owned = any(is_credential(key) for key in missing)
    is_read = request.is_readable_for(tool)
    unsaid = is_read and not find_unused_codes(request.part_for(tool).query, used)
    return Lacking(tuple(missing), typed and (owned or unsaid))


def is_wanted(key: str, tool: Tool) -> bool:
    """Return True if a parameter takes only values of its own form. Then no other stated value can
    serve.
    """
    part = tool.properties.get(key)
    return is_typed(key, part if isinstance(part, dict) else {}) and not is_derived(key)


def _iter_variants(
    chosen: Mapping[str, Value], alternatives: Mapping[str, Sequence[Value]]
) -> Iterator[Mapping[str, Value]]:
    """The best of all, then one value changed at a time: second bests first."""
    yield chosen
    most = max(map(len, alternatives.values()), default=0)
    for place in range(1, most):
        for key, found in alternatives.items():
            if place < len(found) and (
                not found[0].sure or found[place].origin not in ("said", "guess")
            ):
                yield {**chosen, key: found[place]}


def _build_draft(chosen: Mapping[str, Value], tool: Tool, request: Request) -> Draft:
    arguments: dict[str, Json] = {key: value.value for key, value in chosen.items()}
    guessed = tuple(key for key, value in chosen.items() if not value.sure)
    plain = ("said", "default", "neutral", "guess")
    given = tuple((key, value.origin) for key, value in chosen.items() if value.origin not in plain)
    arguments |= _read_stated_options(tool, request, arguments)
    return Draft(arguments, guessed, given)


def _read_stated_options(tool: Tool, request: Request, arguments: JsonObject) -> JsonObject:
    """Optional parameters whose value the request states beside their name or in their own form."""
    made: JsonObject = {}
    for key, part in tool.properties.items():
        if key in arguments or key in tool.required or not isinstance(part, dict):
            continue
        used = [*arguments.values(), *made.values()]
        found = list_values(key, part, request, tool, used)[:1]
        if found and found[0].sure and found[0].origin == "said":
            made[key] = found[0].value
    return made
