"""What would change is shown line by line, with what it rests on."""

from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay
from callwright_lab.verify.differences import iter_diff_lines

TOOL = Tool(
    "cars",
    "Cars.",
    {"type": "object", "properties": {"page": {"type": "integer", "description": "Page."}}},
)


def test_before_and_after_stand_one_under_the_other() -> None:
    entry = ToolOverlay(
        "x",
        (
            OverlayChange("", "description", "Lists of cars.", "3 calls"),
            OverlayChange("page", "examples", [1, 2], "said \x1b[2Jgone"),
            OverlayChange("page", "description", "y" * 999),
        ),
        "alive",
        ("asks for 'year', which is not documented",),
    )
    lines = list(
        iter_diff_lines([TOOL, Tool("other")], Overlay({"cars": entry, "other": ToolOverlay("x")}))
    )
    assert lines[:4] == [
        "@@ cars (alive) @@",
        '- description: "Cars."',
        '+ description: "Lists of cars."   # 3 calls',
        "+ page.examples: [1,2]   # said \ufffd[2Jgone",
    ]
    assert lines[4] == '- page.description: "Page."'
    assert len(lines[5]) < 340
    assert all(line.isprintable() for line in lines), "nothing steers the terminal"
    assert lines[6:] == ["! asks for 'year', which is not documented"]
