"""Tables of the refine bench."""

from __future__ import annotations

from callwright.benchmarks.refine_report import report


def row(task: str, reader: str, right: bool, **more: object) -> dict[str, object]:
    head = {
        "set": "s",
        "upstream": "m",
        "mode": "free",
        "task": task,
        "reply": "r",
        "reader": reader,
        "category": "c",
    }
    error = "" if right else "wrong_value"
    body = {
        "right": right,
        "error": error,
        "metrics": {"ast": float(right)},
        "edits": [],
        "seconds": 0.001,
        "tokens": 2,
    }
    return {**head, **body, **more}


ROWS = [
    row("1", "stripped", True),
    row("2", "stripped", False),
    row("1", "rules", False, edits=["rename"]),
    row("2", "rules", True),
    row("3", "rules", True),
]


def test_only_replies_that_every_reader_read_are_compared() -> None:
    text = report(ROWS)
    assert "2 replies" in text
    assert "| rules | 50 % (9 % – 91 %) | 50.0 | 1 of 1 | 1 | 1.00 | 4 |" in text
    assert "| stripped | 1/2 |" in text
    assert "| rules | 1 |" in text.partition("first mistake")[2]


def test_a_metric_that_some_rows_lack_says_of_how_many_it_is() -> None:
    rows = [row("1", "stripped", True, metrics={"win": 1.0}), row("2", "stripped", False, metrics={})]
    assert "100.0 of 1" in report(rows)


def test_sets_upstreams_and_modes_are_kept_apart() -> None:
    text = report([*ROWS, row("1", "rules", True, mode="guided")])
    assert text.count("replies\n") == 2
    assert report([]) == "No rows yet."
    assert "No mistakes." in report([row("1", "rules", True)])


def test_every_table_row_has_as_many_cells_as_its_head() -> None:
    for block in report(ROWS).split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1, block
