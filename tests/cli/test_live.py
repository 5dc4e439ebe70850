"""The terminal tells the run as it happens; on a pipe the same lines come whole and without colour."""

from __future__ import annotations

import io

from rich.console import Console

from callwright.cli.live import Live
from callwright.errors import Failure
from callwright.trace import Trace
from callwright.types import Edit, Skip, ToolResult, to_json


def told(width: int = 200) -> str:
    out = io.StringIO()
    with Live(Console(file=out, width=width)) as live:
        trace = Trace((live,))
        trace.add("layer", index=1, total=1, slots=[])
        trace.add("call.refused", id="r1", violations=[{"message": "city is [missing]"}], edits=[])
        trace.add("call.checked", id="r1", arguments={}, edits=[Edit("/n", "5", 5, "text_to_number")])
        trace.add("result", **to_json(ToolResult("r1", "f", {"n": 5}, content={"a": "[bold]x[/bold]"})))
        trace.add("result", **to_json(ToolResult("r2", "g", {}, failure=Failure("timeout", "too slow"))))
        trace.add("skip", **to_json(Skip("h", "not needed")))
        trace.add("limit", limit="repairs", purpose="repair")
        live.on_text("some text")
    return out.getvalue()


def test_everything_that_happened_is_told_as_it_was() -> None:
    text = told()
    for part in (
        "Layer 1/1",
        "city is [missing]",
        "/n: 5 → 5 (text_to_number)",
        "[bold]x[/bold]",
        "too slow",
        "not needed",
    ):
        assert part in text
    assert "\x1b" not in text


def test_a_narrow_terminal_cuts_lines_instead_of_folding_them() -> None:
    assert all(len(line) <= 40 for line in told(width=40).splitlines())
