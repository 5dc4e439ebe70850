from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.log_line import build_log_line, count_rules

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(min_size=1), VALUES, max_size=6), st.floats(0, 4e9))
def test_a_line_is_one_object_and_steers_no_terminal(fields: dict[str, Any], now: float) -> None:
    line = build_log_line("request", now, fields, "warning")
    assert line.isascii()
    assert line.isprintable()
    made = json.loads(line)
    assert list(made)[:3] == ["time", "level", "event"]
    for name, value in fields.items():
        if value not in (None, "", [], {}) and name not in ("time", "level", "event"):
            assert made[name] == value
    assert abs(datetime.fromisoformat(made["time"]).timestamp() - now) < 0.01


def test_what_holds_nothing_is_left_out_and_zero_is_told() -> None:
    made = json.loads(build_log_line("x", 0.0, {"a": None, "b": 0, "c": False, "d": {}, "e": ""}))
    assert made == {
        "time": "1970-01-01T00:00:00.000Z",
        "level": "info",
        "event": "x",
        "b": 0,
        "c": False,
    }


def test_rules_are_counted() -> None:
    assert count_rules(["case", "date", "case"]) == {"case": 2, "date": 1}
