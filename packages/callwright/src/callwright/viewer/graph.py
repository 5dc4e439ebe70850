"""The plan as SVG: layers are columns, dependencies curves, the colour of a box says what became of
its tool.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.viewer.markup import Html, html, join_html

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _TOP = 196, 40, 84, 16, 34


@dataclass(frozen=True, slots=True)
class _Box:
    x: int
    y: int
    label: str
    state: str
    title: str
    critical: bool = False


def plan_svg(
    layers: Sequence[Sequence[str]],
    edges: Sequence[Sequence[str]],
    slots: Mapping[str, Any],
    states: Mapping[str, str],
    critical: Collection[str] = (),
) -> Html:
    """SVG text. ``slots`` maps slot id to its event data, ``states`` to ok | failed | skipped | idle. The slots of
    the ``critical`` path, and the edges between them, are drawn thicker."""
    if not layers:
        return html("<p class=quiet>No plan was recorded.</p>")
    boxes = _place_boxes(layers, slots, states, critical)
    width = len(layers) * (_WIDTH + _GAP_X) - _GAP_X + 8
    height = _TOP + max(len(layer) for layer in layers) * (_HEIGHT + _GAP_Y) + 4
    heads = (
        html('<text class="layer" x="{}" y="18">Layer {}</text>', 4 + k * (_WIDTH + _GAP_X), k + 1)
        for k in range(len(layers))
    )
    curves = (_render_curve(boxes[a], boxes[b]) for a, b in edges if a in boxes and b in boxes)
    return html(
        '<svg class="plan" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img">{parts}</svg>',
        width=width,
        height=height,
        parts=join_html([*heads, *curves, *map(_render_box, boxes.values())]),
    )


def _place_boxes(
    layers: Sequence[Sequence[str]],
    slots: Mapping[str, Any],
    states: Mapping[str, str],
    critical: Collection[str],
) -> dict[str, _Box]:
    boxes = {}
    for column, layer in enumerate(layers):
        for row, slot in enumerate(layer):
            data = slots.get(slot, {})
            boxes[slot] = _Box(
                4 + column * (_WIDTH + _GAP_X),
                _TOP + row * (_HEIGHT + _GAP_Y),
                str(data.get("tool", slot)),
                states.get(slot, "idle"),
                str(data.get("reason") or ""),
                slot in critical,
            )
    return boxes


def _render_curve(a: _Box, b: _Box) -> Html:
    x1, y1, x2, y2 = a.x + _WIDTH, a.y + _HEIGHT // 2, b.x, b.y + _HEIGHT // 2
    bend = max(30, (x2 - x1) // 2)
    return html(
        '<path class="edge{}" d="M{},{} C{},{} {},{} {},{}"/>',
        " critical" if a.critical and b.critical else "",
        *(x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2),
    )


def _render_box(box: _Box) -> Html:
    title = f"{box.label}: {box.state}" + (f" ({box.title})" if box.title else "")
    return html(
        '<g class="box {state}{critical}"><title>{title}</title>'
        '<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        '<text x="{text_x}" y="{text_y}">{label}</text></g>',
        state=box.state,
        critical=" critical" if box.critical else "",
        title=title + (", on the critical path" if box.critical else ""),
        x=box.x,
        y=box.y,
        width=_WIDTH,
        height=_HEIGHT,
        text_x=box.x + 10,
        text_y=box.y + 25,
        label=box.label if len(box.label) <= 25 else box.label[:24] + "…",
    )
