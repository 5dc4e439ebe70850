"""Tools with objects and arrays inside each other, calls of them, and what they were told: for
properties.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from callwright.nouns.types import JsonObject, Tool
from callwright_lab.verify.observed import Seen

NAMES = st.sampled_from(["city", "days", "a/b", "~x", "name"])
LEAVES = st.sampled_from(
    [{"type": "string"}, {"type": "integer"}, {}, {"type": "integer", "maximum": 5}, True]
)


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    return properties.flatmap(
        lambda p: st.lists(st.sampled_from(sorted(p)), unique=True).map(
            lambda required: {"type": "object", "properties": p, "required": required}
        )
    )


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arrays = inner.map(lambda items: {"type": "array", "items": items})
    nullable = inner.map(lambda one: {"anyOf": [one, {"type": "null"}]})
    return st.one_of(_objects(inner), arrays, nullable, st.just({"$ref": "#/$defs/Shared"}))


SHARED = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "again": {"$ref": "#/$defs/Shared"}},
}
TOOLS = _objects(st.recursive(LEAVES, _around, max_leaves=8)).map(
    lambda schema: Tool("search", "Search.", {**schema, "$defs": {"Shared": SHARED}})
)


def _value(schema: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    if not isinstance(schema, dict) or depth > 4:
        return st.sampled_from(["Oslo", 3])
    if "$ref" in schema:
        return st.sampled_from([{"city": "Oslo"}, {"again": {"city": "Rome"}}])
    if "anyOf" in schema:
        return st.one_of(st.none(), _value(schema["anyOf"][0], depth))
    if schema.get("type") == "array":
        return st.lists(_value(schema["items"], depth + 1), max_size=2)
    if schema.get("type") == "object":
        inner = {name: _value(part, depth + 1) for name, part in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=inner)
    return (
        st.sampled_from([1, 7])
        if schema.get("type") == "integer"
        else st.sampled_from(["Oslo", "Rome", "x"])
    )


def _seen(arguments: JsonObject, said: str) -> Seen:
    if said:
        return Seen(arguments, "parameter_mismatch", "tool_error", said, said)
    return Seen(arguments, "functional_success", reply=arguments)


SAID = st.sampled_from(
    ["", "", "city must be one of Oslo, Rome", "days must be at most 3", "city.days must be at most 3",
     "name.city: unknown value 'x', use 'Oslo' or 'Rome'", "city[0].name must be an integer", "name is required"]
)  # fmt: skip


def calls(tool: Tool) -> st.SearchStrategy[list[Seen]]:
    """Calls of a tool that answered, repeating what they were sent, or refused with some
    message.
    """
    return st.lists(st.builds(_seen, _value(tool.input_schema), SAID), max_size=6)
