"""Python annotations -> JSON Schema. Standard library only; pydantic's classes are known by their
shape.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid
from itertools import chain, count
from typing import Any, Literal, get_args, get_origin

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject
from callwright.tools.python.conversion import dump_value, to_key_text
from callwright.tools.python.docstrings import parse_docstring
from callwright.tools.python.shapes import (
    MAPPINGS,
    NOTHING,
    SEQUENCES,
    SETS,
    UNIONS,
    Field,
    fields_of,
    member_value,
    resolve_alias,
)

_CLOCK = r"([01]?\d|2[0-3])(:?[0-5]\d(:?[0-5]\d([.,]\d+)?)?)?(Z|[+-]\d\d(:?\d\d){0,2})?"
_DATE = r"\d{4}-?(\d\d?-?\d\d?|W\d\d(-?\d)?)"


def _build_form(about: str, *forms: JsonObject) -> JsonObject:
    """The schema of a text in one of several forms. These stand below it, so that its values are
    judged by what they say, as those of a plain text. Its types are a list, so that a plan does not
    take it for a plain text and allows a reference beside it.
    """
    return {
        "type": ["string"],
        "description": about,
        "anyOf": [{"type": "string", **form} for form in forms],
    }


PLAIN: dict[Any, JsonObject] = {
    Any: {},
    object: {},
    None: {"type": "null"},
    type(None): {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    decimal.Decimal: {"type": "number"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    bytearray: {"type": "string", "contentEncoding": "base64"},
    datetime.datetime: _build_form(
        "date and time, YYYY-MM-DDTHH:MM",
        {"format": "date-time"},
        {"pattern": f"^{_DATE}([Tt ]{_CLOCK})?$"},
    ),
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: _build_form("time of day, HH:MM or HH:MM:SS", {"pattern": f"^T?{_CLOCK}$"}),
    datetime.timedelta: {"type": "number", "description": "seconds"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string"},
    pathlib.PurePath: {"type": "string"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array"},
    frozenset: {"type": "array"},
}
FORMS = frozenset({None, *(schema.get("description") for schema in PLAIN.values())})
"""Descriptions that are a type's own. What somebody says of a value stands before them."""
_LOCAL = {"date-time": PLAIN[datetime.datetime], "time": PLAIN[datetime.time]}
_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}


class NoJsonForm(CatalogError):
    """An annotation names a type that JSON cannot carry."""


def schema_of(annotation: Any) -> JsonObject:
    """The JSON Schema of a type. Named types are written out in place; recursive ones go to
    ``$defs``.

    Raises CatalogError on a type without a JSON form.
    """
    writer = SchemaWriter()
    schema = writer.schema(annotation)
    return {**schema, "$defs": writer.defs} if writer.defs else schema


@dataclasses.dataclass
class SchemaWriter:
    """Writes the schemas of several types that are to share one ``$defs``: those that hold
    themselves stand there.
    """

    defs: JsonObject = dataclasses.field(default_factory=dict)
    _open: dict[Any, str] = dataclasses.field(default_factory=dict)
    _recursive: set[str] = dataclasses.field(default_factory=set)
    _written: dict[Any, str] = dataclasses.field(default_factory=dict)

    def schema(self, annotation: Any) -> JsonObject:
        annotation = resolve_alias(annotation)
        plain = _get_plain_schema(annotation)
        if plain is not None:
            return plain
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is typing.Annotated:
            return add_annotations(self.schema(args[0]), args[1:])
        if origin in (typing.Required, typing.NotRequired, typing.ClassVar, typing.Final):
            return self.schema(args[0])
        if origin is Literal:
            return _build_enum_schema(list(args))
        if origin in UNIONS:
            return _any_of([self.schema(arg) for arg in args])
        if isinstance(origin, type) and not args and origin is not annotation:
            if origin in PLAIN:
                return self.schema(origin)
            return {"type": "object" if origin in MAPPINGS else "array"}
        if isinstance(origin, type):
            return self._generic(annotation, origin, args)
        return (
            self._named(annotation)
            if isinstance(annotation, type)
            else _raise_no_json_form(annotation)
        )

    def _generic(self, annotation: Any, origin: type, args: tuple[Any, ...]) -> JsonObject:
        if origin is tuple and args[-1:] != (...,):
            parts = [self.schema(arg) for arg in args]
            return {
                "type": "array",
                "prefixItems": parts,
                "minItems": len(parts),
                "maxItems": len(parts),
            }
        if origin in SEQUENCES or origin in SETS:
            return {"type": "array", "items": self.schema(args[0])}
        if origin in MAPPINGS:
            return self._mapping(*args)
        return self._named(annotation)

    def _mapping(self, key: Any, value: Any) -> JsonObject:
        schema: JsonObject = {"type": "object"}
        names = self.schema(key).get("enum")
        if names:
            schema["propertyNames"] = {"enum": [to_key_text(name) for name in names]}
        values = self.schema(value)
        return {**schema, "additionalProperties": values} if values else schema

    def _named(self, annotation: Any) -> JsonObject:
        """Classes: written in place, by reference only where they hold themselves."""
        if annotation in self._written:
            return {"$ref": f"#/$defs/{self._written[annotation]}"}
        if annotation in self._open:
            self._recursive.add(self._open[annotation])
            return {"$ref": f"#/$defs/{self._open[annotation]}"}
        plain: type = get_origin(annotation) or annotation
        name = self._open[annotation] = self._free_name(plain.__name__)
        try:
            schema = self._class(annotation, plain)
        finally:
            del self._open[annotation]
        if name not in self._recursive:
            return schema
        self.defs[name] = schema
        self._written[annotation] = name
        return {"$ref": f"#/$defs/{name}"}

    def _free_name(self, name: str) -> str:
        taken = {*self.defs, *self._open.values()}
        return next(n for n in chain([name], (f"{name}{i}" for i in count(2))) if n not in taken)

    def _class(self, annotation: Any, cls: type) -> JsonObject:
        if issubclass(cls, enum.Enum):
            return _build_enum_schema([member_value(member) for member in cls])
        if hasattr(annotation, "model_json_schema"):
            return self._pydantic(annotation)
        if cls in SEQUENCES or cls in MAPPINGS or cls in SETS:
            return {"type": "object" if cls in MAPPINGS else "array"}
        fields = fields_of(annotation)
        if fields is None:
            for base in (str, bool, int, float, pathlib.PurePath, list, dict, tuple):
                if issubclass(cls, base):
                    return dict(PLAIN[base])
            return _raise_no_json_form(annotation)
        return self._object(cls, fields)

    def _object(self, cls: type, fields: tuple[Field, ...]) -> JsonObject:
        about = parse_docstring(_get_own_doc(cls))
        properties: JsonObject = {}
        for f in fields:
            schema = self.schema(f.annotation)
            text = f.description or about.parameters.get(f.name, "")
            if text and "$ref" not in schema and schema.get("description") in FORMS:
                describe(schema, text)
            properties[f.name] = with_default(schema, f.default)
        made: JsonObject = {"type": "object", "properties": properties}
        required = [f.name for f in fields if f.required]
        if required:
            made["required"] = required
        made["additionalProperties"] = False
        return {"description": about.summary, **made} if about.summary else made

    def _pydantic(self, model: Any) -> JsonObject:
        """Its own schema; definitions join ours, but for those that are not recursive: they are
        written in place.
        """
        try:
            schema: JsonObject = model.model_json_schema()
        except Exception:  # a field's type has no schema, or its name nothing behind it
            _raise_no_json_form(model)
        inner: JsonObject = schema.pop("$defs", {})
        recursive: JsonObject = {}
        made = _inline_references(schema, inner, recursive, ())
        names: dict[str, str] = {}
        own = self._open.pop(model)
        for name in recursive:
            names[name] = self._free_name(name)
            self.defs[names[name]] = {}
        self._open[model] = own
        self.defs |= {
            names[name]: _rename_references(part, names) for name, part in recursive.items()
        }
        renamed: JsonObject = _rename_references(made, names)
        return renamed


def add_annotations(schema: JsonObject, metadata: tuple[Any, ...]) -> JsonObject:
    """``Annotated[T, …]``: a str or an object with ``description`` describes; bounds come by their
    usual names.
    """
    for item in metadata:
        text = (
            item
            if isinstance(item, str)
            else getattr(item, "description", getattr(item, "documentation", None))
        )
        if isinstance(text, str) and text:
            describe(schema, text)
        for part in (item, *(getattr(item, "metadata", None) or ())):
            _add_bounds(schema, part)
        examples = getattr(item, "examples", None)
        if isinstance(examples, list) and examples:
            schema["examples"] = examples
        extra = getattr(item, "json_schema_extra", None)
        schema.update(extra if isinstance(extra, dict) else {})
    return schema


def _get_plain_schema(annotation: Any) -> JsonObject | None:
    try:
        found = PLAIN.get(annotation)
    except TypeError:  # ``Annotated`` may hold what cannot be hashed
        return None
    return None if found is None else dict(found)


def describe(schema: JsonObject, text: str) -> None:
    """Give a schema a description. The form that its type asks for stays behind it."""
    form = schema.get("description")
    schema["description"] = f"{text} ({form})" if form and form in FORMS else text


def is_described(annotation: Any) -> bool:
    """Return True if ``Annotated`` itself describes the value."""
    is_annotated = get_origin(annotation) is typing.Annotated
    return is_annotated and "description" in add_annotations({}, get_args(annotation)[1:])


def with_default(schema: JsonObject, default: Any) -> JsonObject:
    """``schema`` with its default, where JSON can carry it."""
    if default is NOTHING or default is None:
        return schema
    try:
        return {**schema, "default": dump_value(default)}
    except ValueError:
        return schema


def _add_bounds(schema: JsonObject, part: Any) -> None:
    for attribute, keyword in _BOUNDS.items():
        value = getattr(part, attribute, None)
        if isinstance(value, int | float):
            schema[keyword] = value
    kinds = schema.get("type")
    for attribute, keywords in _LENGTHS.items():
        value = getattr(part, attribute, None)
        if isinstance(value, int) and (value or attribute == "max_length"):
            schema[keywords[kinds == "array"]] = value
    pattern = getattr(part, "pattern", None)
    if isinstance(pattern, str) and pattern:
        schema["pattern"] = pattern


def _get_own_doc(cls: type) -> str:
    """The class docstring, unless the standard library generated it."""
    text = cls.__dict__.get("__doc__") or ""
    return "" if text.startswith(f"{cls.__name__}(") else text


def _build_enum_schema(values: list[Any]) -> JsonObject:
    values = [member_value(v) if isinstance(v, enum.Enum) else v for v in values]
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    found = list(dict.fromkeys(kinds.get(type(v), "") for v in values))
    if not all(found):
        return {"enum": values}
    return {"type": found[0] if len(found) == 1 else found, "enum": values}


def _any_of(schemas: list[JsonObject]) -> JsonObject:
    unique = [s for i, s in enumerate(schemas) if s not in schemas[:i]]
    if {} in unique:
        return {}
    if len(unique) == 1:
        return unique[0]
    if all(set(s) == {"type"} and isinstance(s["type"], str) for s in unique):
        return {"type": [s["type"] for s in unique]}
    null = {"type": "null"}
    rest = [s for s in unique if s != null]
    if len(rest) == 1 and null in unique and "type" in rest[0]:
        kinds = rest[0]["type"]
        nullable = {**rest[0], "type": [*(kinds if isinstance(kinds, list) else [kinds]), "null"]}
        for keyword, none in (("enum", None), ("anyOf", null)):
            if keyword in nullable:
                nullable[keyword] = [*nullable[keyword], none]
        return nullable
    return {"anyOf": unique}


def _inline_references(node: Any, inner: JsonObject, out: JsonObject, path: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline_references(part, inner, out, path) for part in node]
    if not isinstance(node, dict):
        return node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name not in inner:
        made = {key: _inline_references(value, inner, out, path) for key, value in node.items()}
        return _allow_local_times(made)
    if name in path or name in out:
        out.setdefault(name, {})
        return node
    made = _inline_references(inner[name], inner, out, (*path, name))
    if name in out:
        out[name] = made
        return node
    return {**made, **{k: v for k, v in node.items() if k != "$ref"}}


def _allow_local_times(node: JsonObject) -> JsonObject:
    """pydantic's schema of a time asks for an offset; its times need none."""
    form = _LOCAL.get(node["format"]) if node.get("type") == "string" and "format" in node else None
    if form is None:
        return node
    about = node.get("description")
    made = {key: value for key, value in node.items() if key != "format"} | form
    if about:
        describe(made, about)
    return made


def _rename_references(node: Any, names: dict[str, str]) -> Any:
    """References under the names that were free."""
    if isinstance(node, list):
        return [_rename_references(part, names) for part in node]
    if not isinstance(node, dict):
        return node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    changed = {"$ref": f"#/$defs/{names[name]}"} if name in names else {}
    return {**{key: _rename_references(value, names) for key, value in node.items()}, **changed}


def _raise_no_json_form(annotation: Any) -> JsonObject:
    name = getattr(annotation, "__qualname__", str(annotation))
    raise NoJsonForm(
        f"{name} has no JSON form",
        hint=(
            "use plain types, Literal, enums, dataclasses, TypedDict or pydantic models in tool"
            " signatures"
        ),
    )
