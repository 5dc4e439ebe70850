"""JSON Schema for decoders: any schema in, one out that constrained decoding can follow.

Decoders understand part of JSON Schema, and what they do with the rest differs: llguidance (built
into xllamacpp's llama.cpp) drops the whole constraint without a word, llama.cpp's own GBNF
converter refuses the request or ignores the keyword, hosted services answer 400. :func:`reduce_schema`
keeps what all of them follow: types, properties in order, required, enums, nested and recursive
shapes, alternatives, simple patterns, known formats, small bounds. What cannot be followed becomes
a wider type, never a narrower one, with one exception that is meant: an object that lists its
properties and does not say ``additionalProperties`` is closed, because a decoder should not invent
keys. The gate checks the full schema afterwards.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from callwright.jsontext.pointer import resolve_reference
from callwright.models.patterns import plain_pattern
from callwright.nouns.types import Json, JsonObject

MAX_DEPTH = 24  # containers inside each other; deeper is open
MAX_NODES = 5_000  # schemas in all; later ones are open
MAX_ENUM = 1_000  # values; a longer list becomes their types
MAX_BRANCHES = 64
MAX_LENGTH = 512  # of strings and arrays: grammars write counted repetitions out
FORMATS = (
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
    "uri",
)

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_SHAPE = frozenset(
    {
        "type",
        "properties",
        "items",
        "prefixItems",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "pattern",
    }
    | {"additionalProperties", "patternProperties", "format"}
)
_DEFS = "#/$defs/"
_EXACT = 2**53  # integers beyond it are not read alike everywhere


def reduce_schema(schema: Json) -> JsonObject:
    """The schema reduced to what decoders follow. Takes anything; ``{}`` means "any JSON value"."""
    reduction = _Reduction(schema)
    made = reduction.schema(schema, 0)
    _break_cycles(reduction.defs)
    if "$ref" in made:  # the root says what it is: hosted services want an object there
        made = reduction.defs[made["$ref"].removeprefix(_DEFS)]
    return {**made, "$defs": reduction.defs} if _DEFS in json.dumps(made) else made


def build_grammar(schema: Json, *, short_numbers: bool = False) -> str:
    """A grammar for llama.cpp built with llguidance: the decodable schema, with one space after
    comma and colon.

    Fixed, so that there is no white space to loop in. Written without any space, a 1.5B model
    answers an open list with ``[]`` nearly always (docs/lab.md): one token holds ``[]}``, and none
    of its training text looks like that.

    With ``short_numbers``, numbers end: fifteen digits before the point and nine behind it, no
    exponent, integers of eighteen digits. That is narrower than the schema, for a reply whose
    number went on for ever without it.
    """
    layout = {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": True,
    }
    reduced = reduce_schema(schema)
    if short_numbers:
        reduced = _with_short_numbers(reduced)
    return "%llguidance {}\nstart: %json " + json.dumps({**reduced, "x-guidance": layout})


_SHORT: Mapping[str, JsonObject] = {
    "number": {"minimum": -1e15, "maximum": 1e15, "multipleOf": 1e-9},
    "integer": {"minimum": -(10**18), "maximum": 10**18},
}


def _with_short_numbers(reduced: JsonObject) -> JsonObject:
    """A decodable schema in which every number ends; "any value" is written out for that."""
    anything = {"$ref": _DEFS + "any"}
    kinds: list[JsonObject] = [
        {"type": t} for t in ("object", "array", "string", "number", "boolean", "null")
    ]

    def short(made: JsonObject) -> JsonObject:
        if not made.keys() - {"description"}:
            return anything
        out = {**_SHORT.get(str(made.get("type")), {}), **made}
        for key in ("anyOf", "prefixItems"):
            if key in made:
                out[key] = [short(one) for one in made[key]]
        if "properties" in made:
            out["properties"] = {name: short(one) for name, one in made["properties"].items()}
        if made.get("type") == "array":
            out["items"] = short(made.get("items") or {})
        if (
            made.get("type") == "object"
            and (more := made.get("additionalProperties", True)) is not False
        ):
            out["additionalProperties"] = short({} if more is True else more)
        return out

    defs = {name: short(one) for name, one in reduced.get("$defs", {}).items()}
    return {**short(reduced), "$defs": {**defs, "any": short({"anyOf": kinds})}}


class _Reduction:
    """One schema document being reduced: its references, what they became, and how much was
    made.
    """

    def __init__(self, root: Json) -> None:
        self.root = root
        self.defs: dict[str, JsonObject] = {}
        self._names: dict[str, str] = {}
        self._nodes = 0

    def schema(self, raw: Json, depth: int) -> JsonObject:
        self._nodes += 1
        if not isinstance(raw, Mapping) or depth > MAX_DEPTH or self._nodes > MAX_NODES:
            return {}
        if (ref := _only_reference(raw)) is not None:
            return self._reference(ref, depth)
        merged = self._merged(raw)
        branches = merged.get("anyOf") or merged.get("oneOf")
        if isinstance(branches, list) and branches:
            made = self._branches(merged, branches, depth)
        else:
            made = self._plain(merged, depth)
        if made and _is_text(about := raw.get("description")):
            made = {**made, "description": about}
        return made

    def _reference(self, ref: str, depth: int) -> JsonObject:
        """References stay references, under names of our own, so that recursion is kept."""
        target = resolve_reference(ref, self.root)
        if target is None:
            return {}
        if ref not in self._names:
            name = self._names[ref] = f"d{len(self._names)}"
            self.defs[name] = {}
            self.defs[name] = self.schema(target, depth)
        return {"$ref": _DEFS + self._names[ref]}

    def _merged(self, raw: Mapping[str, Any]) -> JsonObject:
        """``raw`` with ``allOf`` and a ``$ref`` beside other keywords folded in. Earlier statements
        win.
        """
        merged: JsonObject = {}
        seen: set[str] = set()
        parts: list[Json] = [raw]
        while parts and self._nodes <= MAX_NODES:
            self._nodes += 1
            part = parts.pop(0)
            if not isinstance(part, Mapping):
                continue
            inner = list(part["allOf"]) if isinstance(part.get("allOf"), list) else []
            ref = part.get("$ref")
            if isinstance(ref, str) and ref not in seen:
                seen.add(ref)
                inner.insert(0, resolve_reference(ref, self.root))
            parts = [*inner, *parts]
            _merge_keywords(merged, {k: v for k, v in part.items() if k not in ("allOf", "$ref")})
        return merged

    def _branches(self, merged: JsonObject, branches: list[Json], depth: int) -> JsonObject:
        base = {k: v for k, v in merged.items() if k not in ("anyOf", "oneOf", "description")}
        shaped: list[Json] = [b for b in branches if isinstance(b, Mapping) and _SHAPE & b.keys()]
        if len(shaped) > MAX_BRANCHES or (len(shaped) < len(branches) and not _SHAPE & base.keys()):
            return {}
        if not shaped:  # the branches only say which keys are required together
            return self._plain(base, depth)
        if _SHAPE & base.keys():
            shaped = [{"allOf": [b, base]} for b in shaped]
        made: list[JsonObject] = []
        for branch in shaped:
            one = self.schema(branch, depth)
            if one not in made:
                made.append(one)
        return _any_of(made)

    def _plain(self, raw: JsonObject, depth: int) -> JsonObject:
        """A schema without alternatives, references or allOf."""
        types = _list_types(raw)
        values = [raw["const"]] if "const" in raw else raw.get("enum")
        if isinstance(values, list):
            kept = {
                json.dumps(v): v
                for v in values
                if _is_clean(v) and (not types or _is_one_of(v, types))
            }
            if kept and len(kept) <= MAX_ENUM:
                return {"enum": list(kept.values())}
            types = list(dict.fromkeys(_type_of(v) for v in kept.values())) or types
        return _any_of([self._typed(t, raw, depth) for t in _drop_redundant_integer(types)])

    def _typed(self, kind: str, raw: JsonObject, depth: int) -> JsonObject:
        if kind == "object":
            return self._object(raw, depth)
        if kind == "array":
            return self._array(raw, depth)
        if kind == "string":
            return _reduce_string(raw)
        return _reduce_number(kind, raw) if kind in ("integer", "number") else {"type": kind}

    def _object(self, raw: JsonObject, depth: int) -> JsonObject:
        listed = raw.get("properties")
        properties = {
            k: self.schema(v, depth + 1)
            for k, v in (listed.items() if isinstance(listed, Mapping) else ())
            if _is_text(k) and v is not False
        }
        names = [k for k in dict.fromkeys(_keep_strings(raw.get("required"))) if _is_text(k)]
        made: JsonObject = {"type": "object"}
        if properties or names:
            made["properties"] = {**properties, **{k: {} for k in names if k not in properties}}
        if names:
            made["required"] = names
        made["additionalProperties"] = self._additional(raw, bool(properties), depth)
        return made

    def _additional(self, raw: JsonObject, closed: bool, depth: int) -> bool | JsonObject:
        said = raw.get("additionalProperties")
        patterns = raw.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            only = next(iter(patterns.values())) if len(patterns) == 1 and said is False else True
            said = only if only is not False else True
        if isinstance(said, Mapping):
            return self.schema(said, depth + 1) or True
        return said if isinstance(said, bool) else not closed

    def _array(self, raw: JsonObject, depth: int) -> JsonObject:
        items, first = raw.get("items"), raw.get("prefixItems")
        if isinstance(items, list):  # drafts before 2020-12
            items, first = raw.get("additionalItems"), items
        leading = [self.schema(i, depth + 1) for i in first] if isinstance(first, list) else []
        low, high = _read_length_bounds(raw.get("minItems"), raw.get("maxItems"))
        if leading and len(leading) <= MAX_BRANCHES and (items is False or high == len(leading)):
            size = len(leading)
            return {"type": "array", "prefixItems": leading, "minItems": size, "maxItems": size}
        made: JsonObject = {
            "type": "array",
            "items": {} if leading else self.schema(items, depth + 1),
        }
        if low:
            made["minItems"] = low
        if high is not None:
            made["maxItems"] = high
        return made


def _only_reference(raw: Mapping[str, Any]) -> str | None:
    """The reference, if the schema is nothing else; OpenAPI 3.0 writes it as an allOf of one to
    describe it.
    """
    ref, parts = raw.get("$ref"), raw.get("allOf")
    if isinstance(ref, str) and not (_SHAPE - {"$ref"}) & raw.keys():
        return ref
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], Mapping):
        return None if (_SHAPE - {"allOf"}) & raw.keys() else _only_reference(parts[0])
    return None


def _break_cycles(defs: dict[str, JsonObject]) -> None:
    """A definition that is, with no container in between, itself again becomes open: nothing could
    be decoded.
    """
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            defs[name] = {}
        elif name not in done:
            for other in _list_direct_refs(defs[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in list(defs):
        visit(name, ())


def _list_direct_refs(made: JsonObject) -> list[str]:
    """Definitions that a schema may start with: itself or an alternative, not inside an object or
    array.
    """
    found = [made["$ref"].removeprefix(_DEFS)] if "$ref" in made else []
    return found + [name for branch in made.get("anyOf", ()) for name in _list_direct_refs(branch)]


def _merge_keywords(merged: JsonObject, part: Mapping[str, Any]) -> None:
    """Add what ``part`` says; where both speak, join what joins (properties, required) and keep the
    earlier rest.
    """
    for key, value in part.items():
        old = merged.get(key)
        if key == "properties" and isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = {**value, **old}
        elif key == "required":
            merged[key] = [*_keep_strings(old), *_keep_strings(value)]
        elif key == "type" and old is not None:
            common = [t for t in _as_list(old) if t in _as_list(value)]
            merged[key] = common or old
        elif key not in merged:
            merged[key] = value


def _list_types(raw: Mapping[str, Any]) -> list[str]:
    """The types that are allowed, as said or as the keywords imply; empty for any."""
    said = [t for t in _as_list(raw.get("type")) if t in _TYPES]
    if said and raw.get("nullable") is True and "null" not in said:  # OpenAPI 3.0
        said.append("null")
    if said:
        return list(dict.fromkeys(said))
    if isinstance(raw.get("properties"), Mapping) or _keep_strings(raw.get("required")):
        return ["object"]
    if "items" in raw or "prefixItems" in raw:
        return ["array"]
    return ["string"] if "pattern" in raw or raw.get("format") in FORMATS else []


def _drop_redundant_integer(types: list[str]) -> list[str]:
    """Without integer where number is, because a decoder sees two ways to the same text."""
    return [t for t in types if t != "integer" or "number" not in types]


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _any_of(made: list[JsonObject]) -> JsonObject:
    """One schema for alternatives: open if there is none, itself if there is one."""
    if not made or {} in made:
        return {}
    return made[0] if len(made) == 1 else {"anyOf": made}


def _reduce_string(raw: JsonObject) -> JsonObject:
    if pattern := plain_pattern(raw.get("pattern")):
        return {"type": "string", "pattern": pattern}
    if raw.get("format") in FORMATS:
        return {"type": "string", "format": raw["format"]}
    made: JsonObject = {"type": "string"}
    low, high = _read_length_bounds(raw.get("minLength"), raw.get("maxLength"))
    if low:
        made["minLength"] = low
    if high is not None:
        made["maxLength"] = high
    return made


def _read_length_bounds(low: Json, high: Json) -> tuple[int | None, int | None]:
    """Counts that a grammar can write out and that leave something possible."""
    least = low if _is_count(low) else None
    most = high if _is_count(high) else None
    return (
        (None, None) if least is not None and most is not None and least > most else (least, most)
    )


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_LENGTH


def _reduce_number(kind: str, raw: JsonObject) -> JsonObject:
    """Integers keep their bounds; those of fractions are left to the gate (digit grammars for them
    are brittle).
    """
    if kind == "number":
        return {"type": "number"}
    low = _find_tightest_bound(raw.get("minimum"), raw.get("exclusiveMinimum"), 1)
    high = _find_tightest_bound(raw.get("maximum"), raw.get("exclusiveMaximum"), -1)
    if low is not None and high is not None and low > high:
        low = high = None
    made: JsonObject = {"type": "integer"}
    if low is not None:
        made["minimum"] = low
    if high is not None:
        made["maximum"] = high
    return made


def _find_tightest_bound(bound: Json, beyond: Json, step: int) -> int | None:
    """The tightest whole bound; ``step`` 1 for lower bounds, -1 for upper. Draft 4 says ``beyond``
    with true.
    """
    found = []
    for value, strict in ((bound, beyond is True), (beyond, True)):
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _EXACT:
            whole = math.ceil(value) if step > 0 else math.floor(value)
            found.append(whole + step if strict and whole == value else whole)
    if not found:
        return None
    return max(found) if step > 0 else min(found)


def _type_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def _is_one_of(value: Json, types: list[str]) -> bool:
    kind = _type_of(value)
    return kind in types or (kind == "integer" and "number" in types)


def _is_text(value: object) -> bool:
    """Text that can stand in a JSON document: no lone surrogates."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _keep_strings(value: Json) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _is_clean(value: Json, depth: int = 0) -> bool:
    """Return True if every JSON parser reads the value as this one does."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) < _EXACT
    if isinstance(value, list | Mapping):
        inner = list(value)
        if isinstance(value, Mapping):
            inner += value.values()
        return depth < MAX_DEPTH and all(_is_clean(v, depth + 1) for v in inner)
    return _is_text(value)
