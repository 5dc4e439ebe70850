"""The table of systems: each against the raw reply of the same task."""

from __future__ import annotations

from callwright_lab.benchmarks.refine.systems import render_systems
from tests.benchmarks.refine.test_report import row


def read(reader: str, *right: bool, mode: str = "free", **more: object) -> list[dict[str, object]]:
    """Rows of the tasks 0, 1, 2 …, right or not."""
    return [row(str(n), reader, was, mode=mode, **more) for n, was in enumerate(right)]


RAW = read("stripped", True, True, False, False)


def test_every_system_stands_beside_raw_with_its_harm_and_its_false_refusals() -> None:
    rules = read("sequence", True, True, True, False, refused=0)
    rules[0]["refused"] = 2
    rules[3]["refused"] = 1  # of a reply that was wrong: no false refusal
    rows = [
        *RAW,
        *read("stripped", False, True, True, mode="cot"),
        *read("rules", False, False, False, False),
        *rules,
        *read("model", True, False, True, True, refused=0),
        *read("adapter", False, False, True, True),
    ]
    text = render_systems(rows)
    assert text.startswith("**s m: systems**, 4 tasks")
    assert "| raw | 4 | 2 of 4: 50 % (15 % – 85 %) | – | – |" in text
    assert "| CoT | 3 | 2 of 3: 67 % (21 % – 94 %) | 1 of 2: 50 % (9 % – 91 %) | – |" in text
    assert "| rules | 4 | 3 of 4: 75 % (30 % – 95 %) | 0 of 2: 0 % (0 % – 66 %) | 1 of 2: " in text
    assert (
        "| rules + adapter | 4 | 3 of 4: 75 % (30 % – 95 %) | 1 of 2: 50 % (9 % – 91 %) |" in text
    )
    assert (
        "| adapter alone | 4 | 2 of 4: 50 % (15 % – 85 %) | 2 of 2: 100 % (34 % – 100 %) | – |"
        in text
    )


def test_systems_are_compared_on_the_tasks_that_all_of_them_read() -> None:
    text = render_systems([*RAW, *read("rules", True, True), *read("adapter", False)])
    assert "1 tasks" in text
    assert "| rules | 1 | 1 of 1:" in text
    assert "| adapter alone | 1 | 0 of 1:" in text


def test_without_raw_replies_or_with_them_alone_there_is_no_table() -> None:
    assert render_systems([]) == ""
    assert render_systems(RAW) == ""
    assert render_systems(read("model", True)) == ""


def test_sets_and_upstreams_have_tables_of_their_own() -> None:
    both = [*RAW, *read("rules", True, True, True, True)]
    text = render_systems([*both, *({**one, "upstream": "other"} for one in both)])
    assert [line for line in text.splitlines() if line.startswith("**")] == [
        "**s m: systems**, 4 tasks",
        "**s other: systems**, 4 tasks",
    ]
