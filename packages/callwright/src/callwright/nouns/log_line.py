"""A line of a log as JSON: one object with time, level, event and fields."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

LogFormat = Literal["text", "json"]
Level = Literal["info", "warning", "error"]


def build_log_line(event: str, now: float, fields: Mapping[str, Any], level: Level = "info") -> str:
    """Return the line, without its end: ASCII, so that nothing in it steers a terminal. ``now`` is
    the time of day in seconds. Fields that hold nothing are left out.
    """
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    made = {"time": moment.replace("+00:00", "Z"), "level": level, "event": event}
    held = {name: value for name, value in fields.items() if value not in (None, "", (), [], {})}
    return json.dumps({**made, **held}, default=str)


def count_rules(rules: Iterable[str]) -> dict[str, int]:
    """Each rule with the number of its edits."""
    return dict(Counter(rules))
