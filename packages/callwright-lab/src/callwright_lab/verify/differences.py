"""Before and after of a tool's documentation, for the one who reviews it (Tool-MVR, Table 15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callwright.nouns.types import Json, Tool, to_canonical_json
from callwright.tools.overlay import Overlay, OverlayChange
from callwright_lab.verify.places import list_places

_LONGEST = 300  # characters of a value


def iter_diff_lines(tools: Sequence[Tool], overlay: Overlay) -> Iterator[str]:
    """Lines of a unified diff over all tools that an overlay says something of: "- " as documented,
    "+ " as it would be offered, with what the change rests on; "! " where a tool disagrees with its
    documentation.
    """
    for tool in tools:
        entry = overlay.tools.get(tool.name)
        if entry is None or not (entry.changes or entry.drift):
            continue
        yield f"@@ {_strip_control_characters(tool.name)} ({_strip_control_characters(entry.status)}) @@"
        for change in entry.changes:
            yield from map(_strip_control_characters, _iter_change_lines(tool, change))
        yield from (_strip_control_characters(f"! {line}") for line in entry.drift)


def _strip_control_characters(line: str) -> str:
    """A line without anything that steers a terminal: tools are strangers."""
    return "".join(c if c.isprintable() else "\ufffd" for c in line)


def _iter_change_lines(tool: Tool, change: OverlayChange) -> Iterator[str]:
    name = f"{shown_key(tool, change.key)}.{change.change}" if change.key else change.change
    old = find_documented_value(tool, change)
    if old is not None and old != "":
        yield f"- {name}: {_shorten_value(old)}"
    yield f"+ {name}: {_shorten_value(change.value)}" + (
        f"   # {' '.join(change.because.split())}" if change.because else ""
    )


def find_documented_value(tool: Tool, change: OverlayChange) -> Json:
    """Return the documented value that a change would replace; None if there is none."""
    if not change.key:
        return tool.description if change.change == "description" else tool.output_schema
    part = next((place.schema for place in list_places(tool) if place.key == change.key), {})
    return part.get(change.change)


def shown_key(tool: Tool, key: str) -> str:
    """A parameter, or a part of one, as people write it."""
    return next((place.name for place in list_places(tool) if place.key == key), key)


def _shorten_value(value: Json) -> str:
    text = to_canonical_json(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
