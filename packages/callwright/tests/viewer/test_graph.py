"""The plan's drawing: one box per slot, one curve per dependency, nothing overlaps."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.plan import Plan
from callwright.viewer.graph import plan_svg


@given(
    st.lists(
        st.lists(st.text("ab<&\"'", min_size=1, max_size=40), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_boxes_do_not_overlap_and_every_edge_is_drawn(layers: list[list[str]]) -> None:
    plan = Plan.from_layers(layers)
    slots = {s.id: {"tool": s.tool, "reason": "because"} for s in plan.slots}
    svg = plan_svg([[s.id for s in layer] for layer in plan.layers], plan.edges, slots, {})
    tree = ET.fromstring(svg)
    places = [(int(r.attrib["x"]), int(r.attrib["y"])) for r in tree.iter("rect")]
    assert len(places) == len(set(places)) == len(plan.slots)
    assert len(list(tree.iter("path"))) == len(plan.edges)
    width, height = int(tree.attrib["width"]), int(tree.attrib["height"])
    assert all(x + 196 <= width and y + 40 <= height for x, y in places)


def test_no_plan_is_said() -> None:
    assert "No plan" in plan_svg([], [], {}, {})


def test_the_critical_path_is_drawn_thicker_and_nothing_else() -> None:
    plan = Plan.from_edges(["a", "b", "c"], [("a", "b")])
    slots = {s.id: {"tool": s.tool} for s in plan.slots}
    svg = plan_svg(
        [[s.id for s in layer] for layer in plan.layers],
        plan.edges,
        slots,
        {},
        plan.critical_path(),
    )
    tree = ET.fromstring(svg)
    boxes = {g.find("title").text: g.attrib["class"] for g in tree.iter("g")}  # type: ignore[union-attr]
    assert boxes == {
        "a: idle, on the critical path": "box idle critical",
        "b: idle, on the critical path": "box idle critical",
        "c: idle": "box idle",
    }
    assert [p.attrib["class"] for p in tree.iter("path")] == ["edge critical"]
