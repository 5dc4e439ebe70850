from __future__ import annotations

from dataclasses import fields

from callwright.proxy.server.budget import Allowance, Budget, count_items
from tests.places import DOCS


def test_every_limit_says_what_it_limits_and_what_happens_above_it() -> None:
    rows = {name: rest for name, *rest in Budget.rows()}
    assert list(rows) == [one.name for one in fields(Budget)]
    assert all(all(row) for row in rows.values())
    assert rows["head_bytes"][0] == "64 KB"
    assert rows["body_bytes"][0] == "32 MB"
    assert rows["head_seconds"][0] == "10 seconds"


def test_the_documentation_states_every_limit() -> None:
    page = (DOCS / "lab-parts.md").read_text(encoding="utf-8")
    rows = [
        f"| `{name}` | {default} | {of} | {over} |" for name, default, of, over in Budget.rows()
    ]
    assert "\n".join(rows) in page, "write the rows of Budget.rows() into docs/lab-parts.md"


def test_the_items_of_a_request_are_what_its_reading_takes_time_for() -> None:
    parts = [{"type": "text", "text": "a"}] * 3
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "tool_calls": [{}, {}]},
        5,
        {"content": "x"},
    ]
    assert count_items({"tools": [{}], "messages": messages}) == 1 + 4 + 3 + 2
    assert count_items({"tools": 5, "messages": {"a": 1}}) == 0


def test_what_the_event_loop_may_spend_is_less_than_what_the_worker_may() -> None:
    inline, worker = Allowance.inline(Budget()), Allowance.worker(Budget())
    assert (inline.final, worker.final) == (False, True)
    assert inline.items < worker.items
    assert inline.seconds < worker.seconds
