"""Defines overlays: changes to the documentation of tools, and a file of them.

A tool's own error changes one run (:mod:`callwright.repair.learned_overlay`). A file holds what
verification observed and a person reviewed. It is applied to a catalogue wherever its tools are
offered; the source stays unchanged. A file never adds, removes or requires a parameter and never
renames anything. It names the documentation that it was made for: a tool that has changed since is
left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from callwright.jsontext import JsonError, parse
from callwright.jsontext.pointer import follow_references, split_pointer
from callwright.nouns.errors import ConfigError, build_read_error
from callwright.nouns.types import Json, JsonObject, Tool, compute_digest, is_number, to_json
from callwright.tools.declared_effects import KINDS

Keyword: TypeAlias = Literal[
    "description", "type", "enum", "pattern", "minimum", "maximum", "default", "examples"
]
Change: TypeAlias = (
    Literal["forbid", "require", "output_schema", "effects", "compensates"] | Keyword
)
KEYWORDS: tuple[Keyword, ...] = get_args(Keyword)
ALTERNATIVES = ("anyOf", "oneOf", "allOf")

FORMAT = 1  # of the file
_MARK = "callwright_overlay"
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_HINT = "made by: callwright verify apis --tools SOURCE --apply FILE"


@dataclass(frozen=True, slots=True)
class OverlayChange:
    """One thing said of a tool beyond its documentation: a keyword of the schema of parameter
    ``key`` is ``value``.

    A part of a parameter is named by the JSON Pointer (RFC 6901) to its schema, from the parameters
    on and without the first slash: ``filter/properties/city``, ``stops/items/properties/name``. The
    key "" is the tool itself: its ``description``, its ``effects`` (a kind of
    :data:`~callwright.tools.declared_effects.KINDS`), what it ``compensates`` (the name of the tool
    of which it undoes calls), or its ``output_schema`` where it declares none. ``forbid`` and
    ``require`` a key are said by errors and hold for one run. ``because``: what was observed, for
    people.
    """

    key: str
    change: Change
    value: Json = None
    because: str = ""


@dataclass(frozen=True, slots=True)
class ToolOverlay:
    """All that a file says of one tool. ``of`` is :func:`documented` of the tool it was made of;
    ``status`` and ``drift`` (where the tool disagrees with its documentation) are for people and
    later stages.
    """

    of: str
    changes: tuple[OverlayChange, ...] = ()
    status: str = ""
    drift: tuple[str, ...] = ()

    def apply(self, tool: Tool) -> Tool:
        """The tool as it is to be offered. Raises ConfigError for a change that is not a tool
        overlay's to make.
        """
        return apply_changes(tool, self.changes)


@dataclass(frozen=True, slots=True)
class Overlay:
    """Content of one overlay file: tool name -> its overlay."""

    tools: Mapping[str, ToolOverlay] = field(default_factory=dict)
    made: JsonObject = field(default_factory=dict)  # by what, when, with which model: for people
    name: str = "the overlay"

    @classmethod
    def read(cls, path: Path) -> Overlay:
        """The overlay in a file. Raises ConfigError where it is none, or one of a later format."""
        try:
            return cls.of_json(parse(path.read_bytes()), str(path))
        except OSError as error:
            raise build_read_error(path, error) from None
        except JsonError as error:
            raise ConfigError(f"{path} is not JSON: {error}", hint=_HINT) from None

    @classmethod
    def of_json(cls, raw: Any, name: str = "the overlay") -> Overlay:
        """The overlay that a JSON document is. Raises ConfigError."""
        if not is_overlay(raw) or not isinstance(raw.get("tools"), dict):
            raise ConfigError(f"{name} is no overlay of tools", hint=_HINT)
        if raw[_MARK] != FORMAT:
            raise ConfigError(
                f"{name} has format {raw[_MARK]!r}, this Callwright reads {FORMAT}", hint=_HINT
            )
        tools = {key: _parse_tool(entry, f"{name}: {key}") for key, entry in raw["tools"].items()}
        made = raw.get("made")
        return cls(tools, made if isinstance(made, dict) else {}, name)

    def write(self, path: Path) -> None:
        """Write it as a file, all or nothing; its folder is made. Raises ConfigError where it
        cannot be.
        """
        new = path.with_name(f"{path.name}.new")
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=2) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(
                text, encoding="utf-8", errors="replace"
            )  # a reply may hold lone surrogates
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink()
            raise ConfigError(
                f"{path} cannot be written: {error.strerror}", hint="name another file"
            ) from None

    def to_json(self) -> JsonObject:
        """The document; docs/tools.md describes it."""
        return {_MARK: FORMAT, "made": self.made, "tools": to_json(self.tools)}

    def apply(self, tools: Iterable[Tool]) -> Laid:
        """The tools as they are to be offered, and what of the overlay fits none of them."""
        made: list[Tool] = []
        fitting: dict[str, ToolOverlay] = {}
        changed: list[str] = []
        refused: list[str] = []
        for tool in tools:
            entry = self.tools.get(tool.name)
            made.append(tool)
            if entry is None:
                continue
            if entry.of != documented(tool):
                changed.append(tool.name)
                continue
            try:
                made[-1] = entry.apply(tool)
                fitting[tool.name] = entry
            except ConfigError as error:
                refused.append(f"{tool.name}: {error.message}")
        there = {tool.name for tool in made}
        absent = tuple(name for name in self.tools if name not in there)
        return Laid(tuple(made), fitting, absent, tuple(changed), tuple(refused), self.name)


@dataclass(frozen=True, slots=True)
class Laid:
    """Tools with an overlay laid over them. ``fitting``: its entries that hold for one of them. Of
    the others it names those of tools that are ``absent``, that have ``changed`` since, or to which
    it is ``refused``, and why.
    """

    tools: tuple[Tool, ...]
    fitting: Mapping[str, ToolOverlay]
    absent: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    name: str = "the overlay"

    @property
    def problem(self) -> str:
        """Return one sentence about the parts of the overlay that fit no tool; "" if all fit."""
        kinds = (
            (self.absent, "of a tool that is not offered", "of tools that are not offered"),
            (
                self.changed,
                "of a tool whose documentation has changed since",
                "of tools whose documentation has changed since",
            ),
            (self.refused, "that may not say what it says", "that may not say what they say"),
        )
        lost = sum(len(names) for names, _, _ in kinds)
        whole = len(self.fitting) + lost
        if whole and not lost:
            return ""
        told = ((names, one if len(names) == 1 else more) for names, one, more in kinds if names)
        parts = [f"{len(names)} {what} ({_join_few(names)})" for names, what in told]
        said = (
            f"{lost} of its {whole} entries fit no tool here"
            if self.fitting
            else "nothing in it fits a tool here"
        )
        return f"{self.name}: {said}: {', '.join(parts) or 'it is empty'}"


def _join_few(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def is_overlay(raw: Any) -> bool:
    """Return True if a JSON document declares itself an overlay."""
    return isinstance(raw, dict) and _MARK in raw


def documented(tool: Tool) -> str:
    """Digest of a tool's documentation as anybody offers it: name, description and input. What it
    returns and what it may do to the world, which not every reader of an overlay knows, do not
    count.
    """
    return compute_digest([tool.name, tool.description, tool.input_schema])


def apply_changes(tool: Tool, changes: Iterable[OverlayChange]) -> Tool:
    """The tool with the changes of a file. Raises ConfigError for any that would add, remove or
    require a parameter, or a part of one, or replace a declared output. A reference on the way to a
    part is written out.
    """
    properties: JsonObject = dict(tool.properties)
    description, output, effects = tool.description, tool.output_schema, tool.effects
    compensates = tool.compensates
    for change in changes:
        if change.key == "" and change.change == "description":
            description = str(change.value)
        elif change.key == "" and change.change == "output_schema" and tool.output_schema is None:
            output = dict(change.value)
        elif change.key == "" and change.change == "effects":
            effects = KINDS[str(change.value)]
        elif change.key == "" and change.change == "compensates":
            compensates = str(change.value)
        elif change.key in properties and change.change in KEYWORDS:
            properties[change.key] = set_keyword(properties[change.key], change)
        elif "/" in change.key and change.change in KEYWORDS:
            first, *steps = split_pointer(change.key)
            if first not in properties:
                raise _build_change_error(change)
            properties[first] = _set_nested_keyword(
                properties[first], steps, change, tool.input_schema
            )
        else:
            raise _build_change_error(change)
    made = replace(
        tool,
        description=description,
        output_schema=output,
        effects=effects,
        compensates=compensates,
    )
    if properties == tool.properties:
        return made
    return replace(made, input_schema={**tool.input_schema, "properties": properties})


def _build_change_error(change: OverlayChange) -> ConfigError:
    at = f"the parameter {change.key!r}" if change.key else "the tool"
    return ConfigError(f"it cannot say {change.change!r} of {at}", hint=_HINT)


def _set_nested_keyword(
    part: Json, steps: Sequence[str], change: OverlayChange, root: JsonObject
) -> Json:
    """A schema with a keyword set in a part of it that is there. Raises ConfigError where it is
    not.
    """
    if not steps:
        return set_keyword(follow_references(part, root), change)
    word, *rest = steps
    schema = follow_references(part, root)
    inner = schema.get(word)
    if word == "items" and isinstance(inner, dict):
        return {**schema, word: _set_nested_keyword(inner, rest, change, root)}
    if word == "properties" and rest and isinstance(inner, dict) and rest[0] in inner:
        name, *rest = rest
        return {
            **schema,
            word: {**inner, name: _set_nested_keyword(inner[name], rest, change, root)},
        }
    if (
        word in ALTERNATIVES
        and rest
        and isinstance(inner, list)
        and rest[0] in map(str, range(len(inner)))
    ):
        at, *rest = rest
        made = list(inner)
        made[int(at)] = _set_nested_keyword(inner[int(at)], rest, change, root)
        return {**schema, word: made}
    raise _build_change_error(change)


_SAMPLES = {
    "date": "2025-06-20",
    "time": "12:30:00Z",
    "date-time": "2025-06-20T12:30:00Z",
}  # RFC 3339


def set_keyword(part: Json, change: OverlayChange) -> JsonObject:
    """A parameter's schema with one keyword set. Options of a number that were said as text become
    numbers; a default and examples that a constraint refuses go.
    """
    made: JsonObject = dict(part) if isinstance(part, dict) else {}
    value = change.value
    if change.change == "enum" and made.get("type") in ("integer", "number"):
        value = [int(v) if isinstance(v, str) and v.isdigit() else v for v in value]
    made[change.change] = value
    if (
        change.change == "pattern"
        and made.get("format") in _SAMPLES
        and is_refused("pattern", value, _SAMPLES[made["format"]])
    ):
        del made["format"]  # no value is of both forms, and the tool itself has said which it takes
    if "default" in made and is_refused(change.change, value, made["default"]):
        del made["default"]
    if isinstance(made.get("examples"), list):
        made["examples"] = [
            one for one in made["examples"] if not is_refused(change.change, value, one)
        ]
        if not made["examples"]:
            del made["examples"]
    return made


def is_refused(constraint: Change, limit: Json, value: Json) -> bool:
    """Return True if a keyword of the schema with the value ``limit`` excludes a value. Only
    options, ranges and patterns are decided.
    """
    if constraint == "enum":
        return isinstance(limit, list) and value not in limit
    if constraint == "pattern":
        try:
            return isinstance(value, str) and re.search(str(limit), value) is None
        except re.error:  # of another dialect than Python's
            return False
    if constraint not in ("minimum", "maximum") or not (is_number(value) and is_number(limit)):
        return False
    return bool(value < limit if constraint == "minimum" else value > limit)


def _parse_tool(entry: Any, where: str) -> ToolOverlay:
    try:
        changes = tuple(_parse_change(one, where) for one in entry.get("changes", ()))
        return ToolOverlay(
            str(entry["of"]),
            changes,
            str(entry.get("status", "")),
            _to_texts(entry.get("drift", ())),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{where} is no tool's overlay ({type(error).__name__}: {error})", hint=_HINT
        ) from None


def _parse_change(one: Any, where: str) -> OverlayChange:
    key, change, value = str(one["key"]), one["change"], one["value"]
    kinds = ("description", "output_schema", "effects", "compensates") if key == "" else KEYWORDS
    if change not in kinds:
        said = f"{where}: {change!r} is nothing that an overlay may say of {key or 'a tool'!r}"
        raise ConfigError(said, hint=f"it may say: {', '.join(kinds)}")
    if not _FITS[change](value):
        raise ConfigError(
            f"{where}: {change} of {key or 'the tool'} cannot be {value!r}", hint=_HINT
        )
    return OverlayChange(key, change, value, str(one.get("because", "")))


def _to_texts(value: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(one) for one in value)


_FITS: Mapping[str, Any] = {
    "description": lambda v: isinstance(v, str),
    "output_schema": lambda v: isinstance(v, dict),
    "effects": lambda v: v in KINDS,
    "compensates": lambda v: isinstance(v, str),
    "type": lambda v: v in _TYPES,
    "enum": lambda v: isinstance(v, list) and bool(v),
    "pattern": lambda v: isinstance(v, str),
    "minimum": is_number,
    "maximum": is_number,
    "default": lambda _: True,
    "examples": lambda v: isinstance(v, list),
}
