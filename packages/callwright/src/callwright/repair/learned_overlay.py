"""Extracts facts beyond the schema from a tool's own error: learned for one run, marked, never
written back.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from callwright.language import ENGLISH
from callwright.nouns.types import Edit, Json, JsonObject, Tool
from callwright.nouns.wire_names import EditRules
from callwright.schema.value_edits import render_pointer
from callwright.tools.overlay import Change, OverlayChange, set_keyword

_FORBIDDEN = tuple(re.compile(p, re.I) for p in ENGLISH.listed("errors.forbidden"))
_REQUIRED = tuple(re.compile(p, re.I) for p in ENGLISH.listed("errors.required"))
_RENAMED = ENGLISH.pattern("errors.renamed")
_PLACE = ENGLISH.pattern("errors.place")
_OPTIONS = ENGLISH.pattern("errors.options")
_SUGGESTED = ENGLISH.pattern("errors.suggested")
_IN_QUOTES = re.compile(
    r"'([^']{1,80})'|\"([^\"]{1,80})\"|`([^`]{1,80})`|‘([^’]{1,80})’|“([^”]{1,80})”"
)
_TYPES = ENGLISH.pattern("errors.types")
_TYPE_NAMES = ENGLISH.table("type_names.in_messages")
_JSON_TYPES = ENGLISH.words("errors.type_names")
_DIGITS = ENGLISH.pattern("errors.digits")
_DATE_STYLE = re.compile(
    r"\b(?P<style>[YMD]{1,4}(?P<sep>[-/.])[YMD]{1,4}(?P=sep)[YMD]{1,4})\b|\b(?P<compact>YYYYMMDD)\b",
    re.I,
)
_BETWEEN = ENGLISH.pattern("errors.between")
_AT_MOST = ENGLISH.pattern("errors.at_most")
_AT_LEAST = ENGLISH.pattern("errors.at_least")
_PYDANTIC = re.compile(
    r"^(?P<key>[A-Za-z_][\w\-]{0,60})\n {2,}(?P<says>[^\[\n]+?)(?: \[type=[^\n]*)?$", re.M
)
_ALONE = re.compile(r"[.!]?\s*(?:[,;)\]}\n]|$)")  # behind the last word of what is said
_BETWEEN_OPTIONS = ENGLISH.pattern("errors.between_options")
_LABELS = ENGLISH.words("errors.labels")
_MAX_CHARS = 4_000
OVERLAY = EditRules.OVERLAY  # the edit that lists what an error taught


@dataclass(frozen=True, slots=True)
class SchemaOverlay:
    """Changes to one tool's input schema for one run, and the error they come from."""

    changes: tuple[OverlayChange, ...]
    error: str

    def apply(self, tool: Tool) -> Tool:
        """The tool as its error describes it. The tool itself is not changed."""
        if not self.changes:
            return tool
        schema = dict(tool.input_schema)
        properties: JsonObject = dict(tool.properties)
        required = list(tool.required)
        for change in self.changes:
            _apply_change(change, properties, required, self.error)
        schema["properties"] = properties
        schema["required"] = required
        if any(change.change == "forbid" for change in self.changes):
            schema["additionalProperties"] = False
        return replace(tool, input_schema=schema)

    def edits(self, tool: Tool) -> tuple[Edit, ...]:
        """The overlay as edits of rule ``overlay``: before and after of each key's schema."""
        return tuple(
            Edit(render_pointer((key,)), before, after, OVERLAY)
            for key, before, after in self.changed_keys(tool)
        )

    def changed_keys(self, tool: Tool) -> Iterator[tuple[str, Json, Json]]:
        """(key, its schema before, its schema after) of every key that the overlay concerns."""
        changed = self.apply(tool)
        for key in dict.fromkeys(change.key for change in self.changes):
            yield key, tool.properties.get(key), changed.properties.get(key)


def overlay_from_error(error: str, tool: Tool, arguments: JsonObject) -> SchemaOverlay | None:
    """Return the keys, types, options and formats that an error states beyond the schema. None if
    there are none.
    """
    text = _PYDANTIC.sub(
        r"'\g<key>': \g<says>;", error[:_MAX_CHARS]
    )  # its text form: a line each for key and fault
    said = [*_key_changes(text, tool, arguments), *_value_changes(text, tool, arguments)]
    found = {
        (change.key, change.change): change for change in reversed(said)
    }  # what is said first counts
    news = tuple(change for change in reversed(found.values()) if _is_news(change, tool))
    return SchemaOverlay(news, text) if news else None


def _apply_change(
    change: OverlayChange, properties: JsonObject, required: list[str], error: str
) -> None:
    if change.change == "forbid":
        properties.pop(change.key, None)
        required[:] = [k for k in required if k != change.key]
        return
    part = properties.get(change.key)
    part = dict(part) if isinstance(part, dict) else {"description": error[:200]}
    if change.change == "require":
        if change.key not in required:
            required.append(change.key)
    else:
        part = set_keyword(part, change)
    properties[change.key] = part


def _is_news(change: OverlayChange, tool: Tool) -> bool:
    part = tool.properties.get(change.key)
    if change.change == "forbid":
        return change.key in tool.properties
    if change.change == "require":
        return change.key not in tool.required
    return not isinstance(part, dict) or part.get(change.change) != change.value


def _key_changes(text: str, tool: Tool, arguments: JsonObject) -> Iterator[OverlayChange]:
    for pattern in _FORBIDDEN:
        for found in pattern.finditer(text):
            key = _strip_place_prefix(found["key"], arguments)
            if key in arguments:
                yield OverlayChange(key, "forbid")
    for found in _RENAMED.finditer(text):
        old, now = (
            _strip_place_prefix(found["key"], arguments),
            _match_declared_key(
                _strip_place_prefix(found["now"], tool.properties), tool.properties
            ),
        )
        if old in arguments and now not in arguments and not _is_a_form(now):
            yield OverlayChange(old, "forbid")
            yield OverlayChange(now, "require")
    for pattern in _REQUIRED:
        for found in pattern.finditer(text):
            key = _match_declared_key(
                _strip_place_prefix(found["key"], tool.properties), tool.properties
            )
            if key not in arguments and (key in tool.properties or _is_key_like(found, text)):
                yield OverlayChange(key, "require")


def _is_a_form(said: str) -> bool:
    """Return True if the expected text is a kind of value (``integer``, ``YYYY-MM-DD``) and not
    another name.
    """
    return said.isupper() or _TYPE_NAMES.get(said.lower(), said.lower()) in _JSON_TYPES


def _strip_place_prefix(name: str, known: Container[str]) -> str:
    """The key without the place of the request that FastAPI and pydantic put before it
    (``query.city``).
    """
    place = None if name in known else _PLACE.match(name)
    return name[place.end() :] if place else name


def _match_declared_key(name: str, properties: Iterable[str]) -> str:
    """The declared key that is meant, case aside."""
    return next((k for k in properties if k.lower() == name.lower()), name)


def _is_key_like(found: re.Match[str], text: str) -> bool:
    """Return True if an undeclared name is a key and no word of the sentence. It is quoted, stands
    before a colon, alone behind one, or has a key's shape.
    """
    key = found["key"]
    if _ALONE.match(text, found.end("key")) and text[: found.start("key")].endswith(": "):
        return True
    quoted = text[found.start("key") - 1 : found.start("key")] in tuple("`'\"‘“«")
    labelled = text[found.end("key") : found.end("key") + 1] == ":" and key.lower() not in _LABELS
    return quoted or labelled or "_" in key or re.search(r"[a-z][A-Z]", key) is not None


def _value_changes(text: str, tool: Tool, arguments: JsonObject) -> Iterator[OverlayChange]:
    renamed = [found.span() for found in _RENAMED.finditer(text)]
    for found in _SUGGESTED.finditer(text):
        if any(low <= found.start() < high for low, high in renamed):
            continue  # another name is suggested, not another value
        meant = _in_quotes(found["list"])
        key = _find_refused_key(text[: found.start()], arguments) or _find_subject_key(
            text, found.start(), tool, arguments
        )
        if meant and key and key not in meant:
            yield OverlayChange(key, "enum", meant)
    for at, change, value in _iter_claims(text):
        key = _find_subject_key(text, at, tool, arguments)
        if key:
            yield OverlayChange(key, change, value)


def _iter_claims(text: str) -> Iterator[tuple[int, Change, Json]]:
    """(position, change, value) of everything said about some value."""
    for found in _OPTIONS.finditer(text):
        options = _split_options(found["list"])
        if len(options) > 1:
            yield found.start(), "enum", options
    for found in _TYPES.finditer(text):
        name = (found["type"] or found["not"] or found["expected"]).lower()
        if not text[found.end() :].lstrip().startswith("of "):
            yield found.start(), "type", _TYPE_NAMES.get(name, name)
    for found in _DIGITS.finditer(text):
        yield found.start(), "pattern", rf"^\d{{{found['n']}}}$"
    for found in _DATE_STYLE.finditer(text):
        yield found.start(), "pattern", _date_pattern(found[0])
    for found in _BETWEEN.finditer(text):
        yield found.start(), "minimum", _parse_number(found["low"])
        yield found.start(), "maximum", _parse_number(found["high"])
    for pattern, change in ((_AT_MOST, "maximum"), (_AT_LEAST, "minimum")):
        for found in pattern.finditer(text):
            yield found.start(), change, _parse_number(found["n"])  # type: ignore[misc]


def _parse_number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _split_options(listed: str) -> list[str]:
    parts = _BETWEEN_OPTIONS.split(listed)
    return [p for p in (part.strip().strip("'\"`").strip() for part in parts) if p and len(p) <= 60]


def _date_pattern(style: str) -> str:
    parts = (
        re.split(r"([-/.])", style.upper())
        if len(style) != 8 or not style.isalpha()
        else ["YYYY", "MM", "DD"]
    )
    return (
        "^" + "".join(rf"\d{{{len(p)}}}" if p[:1] in "YMD" else re.escape(p) for p in parts) + "$"
    )


def _find_refused_key(text: str, arguments: JsonObject) -> str:
    """The key whose value the text names last, in quotes."""
    keys = {value: key for key, value in arguments.items() if isinstance(value, str)}
    return next((keys[value] for value in reversed(_in_quotes(text)) if value in keys), "")


def _in_quotes(text: str) -> list[str]:
    return [next(filter(None, quoted)) for quoted in _IN_QUOTES.findall(text)]


def _find_subject_key(text: str, at: int, tool: Tool, arguments: JsonObject) -> str:
    """The key that a claim is about: the last one named before it, else the first after, else the
    only argument.
    """
    names = dict.fromkeys([*arguments, *tool.properties])
    before: list[tuple[int, str]] = []
    after: list[tuple[int, str]] = []
    for name in names:
        pattern = r"(?<![\w])" + re.escape(name).replace("_", "[ _-]?") + r"(?![\w])"
        for found in re.finditer(pattern, text, re.I):
            (before if found.start() < at else after).append((found.start(), name))
    if before:
        return max(before)[1]
    if after:
        return min(after)[1]
    return next(iter(arguments)) if len(arguments) == 1 else ""
