"""``callwright demo``: one multi-tool task of examples/desk, end to end."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from callwright.agent.options import ToolSelection
from callwright.cli.run import RunRequest, run_query
from callwright.cli.settings.options import ShownOptions
from callwright.models import ModelSpec
from callwright.nouns.errors import ConfigError, MissingExtra

QUERY = "When does the sun rise and set at Lisbon airport (LIS) on 2025-06-21, in local time?"
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
    if find_spec("astral") is None:
        raise MissingExtra("the demo", "desk")
    print(f"Request: {QUERY}", file=sys.stderr)
    trace = html.with_suffix(".jsonl")
    named = model or os.environ.get("CALLWRIGHT_MODEL")
    request = RunRequest(
        QUERY,
        [str(desk)],
        None if named is None else ModelSpec(named),
        selection=ToolSelection(TOOLS),
    )
    return run_query(request, ShownOptions(html, trace=trace))
