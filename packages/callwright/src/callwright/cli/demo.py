"""``callwright demo``: one multi-tool task of examples/desk, end to end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from callwright.cli.run import run_query
from callwright.nouns.errors import ConfigError

QUERY = (
    "How far is it from Oslo Gardermoen (OSL) to Lisbon (LIS) in nautical miles, "
    "and at what local time does the sun rise in Lisbon on 2025-06-21?"
)
TOOLS = (
    "find_airports",
    "get_airport",
    "flight_distance",
    "convert_units",
    "sun_times",
    "list_holidays",
    "delete_note",
)


def run_demo(model: str | None, html: Path) -> int:
    """Run the task, write its page, say where it is. Needs a clone: the desk is an example."""
    desk = next(
        (
            p / "examples/desk"
            for p in (Path.cwd(), *Path(__file__).parents)
            if (p / "examples/desk").is_dir()
        ),
        None,
    )
    if desk is None:
        raise ConfigError(
            "the demo's tools are not here", hint="run it in a clone of the repository"
        )
    print(f"Request: {QUERY}", file=sys.stderr)
    trace = html.with_suffix(".jsonl")
    return run_query(
        QUERY,
        [str(desk)],
        only=TOOLS,
        model=model or os.environ.get("CALLWRIGHT_MODEL"),
        trace=trace,
        html=html,
    )
