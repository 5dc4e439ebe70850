"""Where a tool's arguments hold values: its parameters, and what stands inside their objects and
arrays.

A place is named in an overlay as :func:`callwright.tools.overlay.apply_changes` reads it
(``filter/properties/city``), and for people as they would write it (``filter.city``,
``stops[].name``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.jsontext.pointer import follow_references, join_pointer
from callwright.nouns.types import Json, JsonObject, Tool, required_keys
from callwright.tools.overlay import ALTERNATIVES

_DEPTH = 4  # objects and arrays inside each other
_MOST = 150  # places of one tool
_REQUEST = (  # where in a request it stood, as FastAPI says it
    "(?:query|body|path|form|params|args|kwargs)"
)
ITEM = None  # the step from an array to its items

Steps = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One parameter, or a part of one. ``key`` names it in an overlay, ``steps`` lead to its values
    from a call's arguments (:data:`ITEM`: every item), ``schema`` is what is documented there,
    references followed.
    """

    key: str
    steps: Steps
    schema: JsonObject
    required: bool = False

    @property
    def name(self) -> str:
        """For people."""
        first, *rest = self.steps
        return str(first) + "".join("[]" if step is ITEM else f".{step}" for step in rest)

    @property
    def leaf(self) -> str:
        """The name of the member that the values belong to: of an array's items that of the
        array.
        """
        return next((step for step in reversed(self.steps) if step is not ITEM), "")

    @property
    def nested(self) -> bool:
        return len(self.steps) > 1

    def values(self, arguments: Json) -> list[Json]:
        """The values that stand here in one call's arguments, or in a reply that repeats them."""
        found = [arguments]
        for step in self.steps:
            found = list(_iter_step_values(found, step))
        return found


def _iter_step_values(values: Sequence[Json], step: str | None) -> Iterator[Json]:
    for value in values:
        if step is ITEM and isinstance(value, list):
            yield from value
        elif step is not ITEM and isinstance(value, dict) and step in value:
            yield value[step]


def list_places(tool: Tool) -> tuple[Place, ...]:
    """All places of a tool, parameters first; of a deep or large schema the nearest."""
    made = [
        Place(key, (key,), follow_references(part, tool.input_schema), key in tool.required)
        for key, part in tool.properties.items()
    ]
    known = {place.key for place in made}
    level = [replace(place, key=join_pointer([place.key])) for place in made]
    for _ in range(_DEPTH):
        inner = [
            one
            for place in level
            for one in _iter_inner_places(tool, place.key, place.steps, place.schema)
        ]
        level = [one for one in {one.key: one for one in inner}.values() if one.key not in known]
        made += level
        if len(made) > max(_MOST, len(tool.properties)):
            return tuple(made[: max(_MOST, len(tool.properties))])
    return tuple(made)


def _iter_inner_places(tool: Tool, key: str, steps: Steps, schema: JsonObject) -> Iterator[Place]:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        required = required_keys(schema)
        for name, part in properties.items():
            at = f"{key}/{join_pointer(['properties', name])}"
            yield Place(
                at, (*steps, name), follow_references(part, tool.input_schema), name in required
            )
    if isinstance(schema.get("items"), dict):
        yield Place(
            f"{key}/items",
            (*steps, ITEM),
            follow_references(schema["items"], tool.input_schema),
            True,
        )
    for word in ALTERNATIVES:
        parts = schema.get(word)
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            yield from _iter_inner_places(
                tool, f"{key}/{word}/{number}", steps, follow_references(part, tool.input_schema)
            )


class Flat:
    """A tool whose nested places are parameters of their own, for what reads errors about
    parameters only.
    """

    def __init__(self, tool: Tool) -> None:
        found = list_places(tool)
        self._nested = {
            f"place{n}_": place for n, place in enumerate(found) if place.nested and place.leaf
        }
        self.places: Mapping[str, Place] = {
            **{place.key: place for place in found if not place.nested},
            **self._nested,
        }
        required = [alias for alias, place in self.places.items() if place.required]
        properties = {alias: place.schema for alias, place in self.places.items()}
        schema = {**tool.input_schema, "properties": properties, "required": required}
        self.tool = replace(tool, input_schema=schema) if self._nested else tool
        self._spelled = sorted(self._spellings(tool), key=lambda pair: -len(pair[0].pattern))

    def _spellings(self, tool: Tool) -> Iterator[tuple[re.Pattern[str], str]]:
        """Yield the patterns by which errors name nested places: by path, or by name alone if no
        other place has it.
        """
        leaves = [place.leaf for place in self._nested.values() if place.steps[-1] is not ITEM]
        for alias, place in self._nested.items():
            if place.steps[-1] is ITEM:
                continue  # what is said of a list and of its items is told apart by nobody
            yield (
                re.compile(
                    rf"(?<![\w.])(?:{_REQUEST}[./])?{_build_path_pattern(place.steps)}(?!\w)"
                ),
                alias,
            )
            if leaves.count(place.leaf) == 1 and place.leaf not in tool.properties:
                yield re.compile(rf"(?<![\w.]){re.escape(place.leaf)}(?!\w)"), alias

    def text(self, said: str) -> str:
        """An error with aliases in place of nested names."""
        for spelled, alias in self._spelled:
            said = spelled.sub(alias, said)
        return said

    def arguments(self, given: JsonObject) -> JsonObject:
        """A call's arguments, nested values beside their parameters."""
        found = {alias: place.values(given)[:1] for alias, place in self._nested.items()}
        return {**given, **{alias: values[0] for alias, values in found.items() if values}}

    def named(self, value: Json) -> Json:
        """A value that was read from such a text, with the names that stood there."""
        if isinstance(value, list):
            return [self.named(one) for one in value]
        for alias, place in self._nested.items() if isinstance(value, str) else ():
            value = value.replace(alias, place.leaf)
        return value


def _build_path_pattern(steps: Steps) -> str:
    """filter.city, filter[city], filter['city'], filter/city, filter -> city; stops[0].name,
    stops.0.name.
    """
    first, *rest = steps
    made = re.escape(str(first))
    for step in rest:
        name = r"\d*" if step is ITEM else re.escape(step)
        gap = r"(?: ?-> ?|[./])" if step is not ITEM else r"[./]"
        made += rf"(?:{gap}{name}|\[['\"]?{name}['\"]?\])"
    return made
