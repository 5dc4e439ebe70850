"""Schemas are untrusted: what a source brings is measured before anything else reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from callwright.jsontext.pointer import resolve_reference
from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject, Tool, to_canonical_json
from callwright.schema.normalize import require_object_schema

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_DATA = ("enum", "const", "default", "examples", "example")
_COUNTED = re.compile(r"\{(\d*)(?:,(\d*))?\}")


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Limits on the size of one tool's schema. Measured in levels, objects, characters and
    repetitions.
    """

    depth: int = 32
    nodes: int = 20_000
    chars: int = 2_000_000
    pattern_chars: int = 500
    pattern_repeats: int = 2_000
    description_chars: int = 20_000
    name_chars: int = 200


def admit_tool(tool: Tool, limits: SchemaLimits) -> tuple[Tool, tuple[str, ...]]:
    """The tool as it may be used, and what had to be taken away from it.

    Raises CatalogError where the input schema cannot be used at all. An output schema that cannot
    be used is dropped, and so is a pattern beyond the limits: the tool itself still refuses what is
    wrong.
    """
    notes: list[str] = []
    if not tool.name.isprintable() or not 0 < len(tool.name) <= limits.name_chars:
        raise CatalogError(
            f"its name is empty, unprintable or longer than {limits.name_chars} characters"
        )
    tool = require_object_schema(tool)
    input_schema = _check_schema(tool.input_schema, limits, notes)
    output_schema: JsonObject | None = None
    if tool.output_schema is not None:
        try:
            output_schema = _check_schema(tool.output_schema, limits, notes)
        except CatalogError as error:
            notes.append(f"output schema dropped: {error.message}")
    description = tool.description
    if len(description) > limits.description_chars:
        notes.append(
            f"description cut from {len(description)} to {limits.description_chars} characters"
        )
        description = description[: limits.description_chars]
    if not notes:
        return tool, ()
    made = replace(
        tool, input_schema=input_schema, output_schema=output_schema, description=description
    )
    return made, tuple(f"{tool.name}: {note}" for note in notes)


def _check_schema(schema: JsonObject, limits: SchemaLimits, notes: list[str]) -> JsonObject:
    """The schema with patterns beyond the limits removed. Raises CatalogError on depth, size and
    references.
    """
    bad: list[tuple[str, str]] = []
    for count, (node, path, depth, key) in enumerate(_iter_objects(schema)):
        if depth > 2 * limits.depth or count > limits.nodes:  # a level of schema is two of JSON
            raise CatalogError(
                f"its schema is larger than {limits.depth} levels or {limits.nodes} objects"
            )
        for word in _REFERENCES:
            if key != "properties" and isinstance(node.get(word), str):
                _check_reference(node[word], schema)
        if key != "properties" and isinstance(node.get("pattern"), str):
            bad += [(path, "pattern")] * (not _is_bounded_pattern(node["pattern"], limits))
        if key == "patternProperties":
            bad += [(path, pattern) for pattern in node if not _is_bounded_pattern(pattern, limits)]
    _check_size(schema, limits)
    for path, word in bad:
        notes.append(f"unbounded {word[:40]!r} at {path or '/'} removed")
    return _remove_patterns(schema, "", set(bad)) if bad else schema


def _check_size(schema: JsonObject, limits: SchemaLimits) -> None:
    """Data inside a schema (``enum``, ``default``) is not walked, but has to be carried."""
    try:
        size = len(to_canonical_json(schema))
    except (RecursionError, ValueError, TypeError):
        raise CatalogError("its schema holds data that JSON cannot carry") from None
    if size > limits.chars:
        raise CatalogError(f"its schema is {size} characters long, more than {limits.chars}")


def _iter_objects(schema: JsonObject) -> Iterator[tuple[JsonObject, str, int, str]]:
    """Every object in a schema with its path, depth, and the keyword it stands under. Iterative:
    depth is hostile.
    """
    stack: list[tuple[Any, str, int, str]] = [(schema, "", 0, "")]
    while stack:
        node, path, depth, key = stack.pop()
        if isinstance(node, dict):
            yield node, path, depth, key
            for name, value in node.items():
                if key in ("properties", "$defs", "definitions") or name not in _DATA:
                    # under "properties" a name is a parameter's, not a keyword
                    own = (
                        ""
                        if key in ("properties", "$defs", "definitions", "patternProperties")
                        else name
                    )
                    stack.append((value, f"{path}/{name}", depth + 1, own))
        elif isinstance(node, list):
            stack += [(value, f"{path}/{i}", depth + 1, "") for i, value in enumerate(node)]


def _check_reference(target: str, root: JsonObject) -> None:
    if not target.startswith("#"):
        raise CatalogError(
            f"its schema refers to {target[:80]!r}, and nothing is fetched for a schema"
        )
    if target.startswith("#/") and resolve_reference(target, root) is None:
        raise CatalogError(f"its schema refers to {target[:80]!r}, which is not there")


def _is_bounded_pattern(pattern: str, limits: SchemaLimits) -> bool:
    """Short enough, and counted repetitions (which multiply when nested) small enough."""
    if len(pattern) > limits.pattern_chars:
        return False
    product = 1
    for match in _COUNTED.finditer(pattern):
        numbers = [int(n) for n in match.groups() if n and len(n) < 9]
        product *= (
            max([1, *numbers]) if numbers or not any(match.groups()) else limits.pattern_repeats + 1
        )
    return product <= limits.pattern_repeats


def _remove_patterns(node: Any, path: str, bad: set[tuple[str, str]]) -> Any:
    if isinstance(node, dict):
        return {
            k: _remove_patterns(v, f"{path}/{k}", bad)
            for k, v in node.items()
            if (path, k) not in bad
        }
    if isinstance(node, list):
        return [_remove_patterns(v, f"{path}/{i}", bad) for i, v in enumerate(node)]
    return node
