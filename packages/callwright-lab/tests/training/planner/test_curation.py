"""Curation: what is always or never solved goes, the rest stays with its rate, and nothing is asked
twice.
"""

from __future__ import annotations

from pathlib import Path

from callwright_lab.training.planner.curation import (
    Solved,
    append_solved,
    measure_solved,
    read_solved,
    report_curation,
    split_curated,
)
from callwright_lab.training.planner.data import render_gold
from tests.training.planner_case import task, tasks


def test_the_rate_is_the_share_of_replies_that_are_gold() -> None:
    example = task(0)
    right, wrong = render_gold(example), '{"DAG": "1"}'
    found = measure_solved(example, [right, wrong, right, "no plan"])
    assert (found.id, found.rate, found.replies, found.dropped) == ("task-0", 0.5, 4, "")
    assert found.mean == (10 + 0 + 10 - 10) / 4
    assert measure_solved(example, [right] * 3).dropped == "always solved"
    assert measure_solved(example, [wrong] * 3).dropped == "never solved"


def test_only_what_is_sometimes_solved_is_kept_and_parted_by_its_tools() -> None:
    examples = tasks(80)
    rates = {e.id: (0.0, 0.5, 1.0)[i % 3] for i, e in enumerate(examples)}
    found = {id: Solved(id, rate, 0.0, 8) for id, rate in rates.items()}
    trained, watched = split_curated(examples, found)
    assert {found[e.id].rate for e in (*trained, *watched)} == {0.5}
    assert len(trained) + len(watched) == sum(rate == 0.5 for rate in rates.values())
    assert not {e.combination for e in trained} & {e.combination for e in watched}
    assert trained
    assert split_curated(examples, {}) == ([], []), "what was not asked about is not kept"
    text = report_curation(examples, found)
    assert "| never solved | 27 |" in text
    assert "| solved 0.50 of the time | 27 |" in text


def test_what_was_found_is_kept_as_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "curated.jsonl"
    assert read_solved(path) == {}
    one, two = Solved("a", 0.25, -1.5, 8), Solved("b", 1.0, 10.0, 8)
    append_solved(path, one)
    append_solved(path, two)
    path.write_text(path.read_text() + '{"id": "c", "ra')  # killed in the middle of a line
    assert read_solved(path) == {"a": one, "b": two}
    assert read_solved(path, may_cut=True) == {"a": one, "b": two}
    append_solved(path, Solved("c", 0.5, 0.0, 8))
    assert list(read_solved(path)) == ["a", "b", "c"]
    assert '"dropped": "always solved"' in path.read_text()
