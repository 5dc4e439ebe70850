"""The terminal tells the run as it happens; on a pipe the same lines come whole and without
colour.
"""

from __future__ import annotations

import io
import re

from rich.console import Console

from callwright.cli.terminal.live import Live
from callwright.nouns.errors import Failure
from callwright.nouns.trace import Trace
from callwright.nouns.types import Edit, Skip, ToolResult, to_json


def told(width: int = 200, terminal: bool = False) -> str:
    out = io.StringIO()
    with Live(
        Console(file=out, width=width, force_terminal=terminal or None, color_system=None)
    ) as live:
        trace = Trace((live,))
        trace.add("layer", index=1, total=1, slots=[])
        trace.add("call.refused", id="r1", violations=[{"message": "city is [missing]"}], edits=[])
        trace.add(
            "call.checked", id="r1", arguments={}, edits=[Edit("/n", "5", 5, "text_to_number")]
        )
        trace.add(
            "result", **to_json(ToolResult("r1", "f", {"n": 5}, content={"a": "[bold]x[/bold]"}))
        )
        trace.add(
            "result", **to_json(ToolResult("r2", "g", {}, failure=Failure("timeout", "too slow")))
        )
        trace.add("skip", **to_json(Skip("h", "not needed")))
        trace.add(
            "skip", **to_json(Skip("k", "no \x1b]0;title\x07, no \x9b31m colour, no \u202e order"))
        )
        trace.add("limit", limit="repairs", purpose="repair")
        live.on_text("some text")
    return out.getvalue()


def test_everything_that_happened_is_told_as_it_was() -> None:
    text = told()
    for part in (
        "Layer 1/1",
        "city is [missing]",
        '/n: "5" → 5 (text_to_number)',
        "r1 f(n=5)",
        "r2 g()",
        "[bold]x[/bold]",
        "too slow",
        "not needed",
    ):
        assert part in text
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*text}, (
        "what tools say cannot steer the terminal"
    )


def test_what_happens_while_somebody_types_is_told_afterwards_in_its_order() -> None:
    out = io.StringIO()
    with Live(Console(file=out, width=200, color_system=None)) as live:
        trace = Trace((live,))
        with live.paused():
            before = out.getvalue()
            live.on_text("some text")
            for name in ("first", "second"):
                trace.add("skip", **to_json(Skip(name, "not needed")))
            assert out.getvalue() == before
        told = out.getvalue()
        trace.add("skip", **to_json(Skip("third", "not needed")))
    assert told.index("first") < told.index("second")
    assert "third" not in told
    assert "third" in out.getvalue()


def test_a_narrow_terminal_cuts_lines_instead_of_folding_them() -> None:
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", told(width=40, terminal=True)).splitlines()
    assert any(line.endswith("…") for line in lines)
    assert all(len(line) <= 40 for line in lines)
