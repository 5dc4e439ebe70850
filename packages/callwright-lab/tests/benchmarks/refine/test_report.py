"""Tables of the refine bench."""

from __future__ import annotations

import pytest

from callwright_lab.benchmarks.harm_bound.calibration import compute_upper_bound
from callwright_lab.benchmarks.refine.report import HARM_LIMIT, render_report


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
    text = render_report(ROWS)
    assert "2 replies" in text
    assert "| rules | 50 % (9 % – 91 %) | 50.0 | 1 of 1 | 1 | 1.00 | 4 |" in text
    assert "| stripped | 1/2 |" in text
    assert "| rules | 1 |" in text.partition("first mistake")[2]


def test_a_metric_that_some_rows_lack_says_of_how_many_it_is() -> None:
    rows = [
        row("1", "stripped", True, metrics={"win": 1.0}),
        row("2", "stripped", False, metrics={}),
    ]
    assert "100.0 of 1" in render_report(rows)


def test_sets_upstreams_and_modes_are_kept_apart() -> None:
    text = render_report([*ROWS, row("1", "rules", True, mode="guided")])
    assert text.count("replies\n") == 2
    assert render_report([]) == "No rows yet."
    assert "No mistakes." in render_report([row("1", "rules", True)])


def test_the_systems_stand_first() -> None:
    assert render_report(ROWS).startswith("**s m: systems**, 2 tasks")


def test_every_table_row_has_as_many_cells_as_its_head() -> None:
    for block in render_report(ROWS).split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1, block


def asked(upstream: str, *pairs: tuple[bool, bool]) -> list[dict[str, object]]:
    """Replies of an upstream, right or not before and after the refiner."""
    rows = []
    for n, (before, after) in enumerate(pairs):
        rows += [
            row(str(n), "sequence", before, upstream=upstream),
            row(str(n), "model", after, upstream=upstream),
        ]
    return rows


def test_the_refiner_is_judged_for_each_upstream_by_the_harm_it_does() -> None:
    gains, harms = (
        [(True, True)] * 9 + [(False, True)],
        [(True, True)] * 8 + [(True, False), (False, True)],
    )
    text = render_report(
        [
            *asked("good", *gains),
            *asked("bad", *harms),
            *asked("idle", (True, True)),
            *asked("lost", (False, True)),
        ]
    )
    lines = {
        line.split("**")[1]: line for line in text.splitlines() if line.startswith("**Refiner")
    }
    assert "**open**" in lines["Refiner on good"], "nine right replies bound no harm"
    assert "with no harm, 1,497 would" in lines["Refiner on good"]
    assert "harm 0 of 9" in lines["Refiner on good"]
    assert "1 of 1 wrong ones made right" in lines["Refiner on good"]
    assert "**no**" in lines["Refiner on bad"]
    assert "harm 1 of 9 (11.1 %" in lines["Refiner on bad"]
    assert "**no**" in lines["Refiner on idle"]
    assert "cannot be said" in lines["Refiner on lost"]
    assert "Refiner" not in render_report(ROWS)


@pytest.mark.parametrize(
    ("lost", "right", "said"),
    [(0, 1496, "open"), (0, 1497, "yes"), (1, 2000, "open"), (1, 2400, "yes"), (5, 2400, "no")],
)
def test_a_refiner_may_be_switched_on_where_the_replies_bound_its_harm(
    lost: int, right: int, said: str
) -> None:
    pytest.importorskip("scipy")
    pairs = [(True, False)] * lost + [(True, True)] * (right - lost) + [(False, True)] * 6
    assert f"**{said}**" in render_report(asked("up", *pairs))
    assert (compute_upper_bound(lost, right) <= HARM_LIMIT) is (said == "yes")
