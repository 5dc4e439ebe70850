from __future__ import annotations

from dataclasses import fields

from callwright.proxy.budget import Budget


def test_every_limit_says_what_it_limits_and_what_happens_above_it() -> None:
    rows = {name: rest for name, *rest in Budget.rows()}
    assert list(rows) == [one.name for one in fields(Budget)]
    assert all(all(row) for row in rows.values())
    assert rows["head_bytes"][0] == "64 KB"
    assert rows["body_bytes"][0] == "32 MB"
    assert rows["head_seconds"][0] == "10 seconds"
