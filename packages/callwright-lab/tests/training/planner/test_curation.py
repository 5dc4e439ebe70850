"""Curation: what is always or never solved goes, the rest stays with its rate, and nothing is asked
twice.
"""

from __future__ import annotations

from pathlib import Path

from callwright_lab.training.planner.curation import (
    Solved,
    curated,
    keep,
    known,
    report,
    solved,
)
from callwright_lab.training.planner.data import answer
from tests.training.planner_case import task, tasks


def test_the_rate_is_the_share_of_replies_that_are_gold() -> None:
    example = task(0)
    right, wrong = answer(example), '{"DAG": "1"}'
    found = solved(example, [right, wrong, right, "no plan"])
    assert (found.id, found.rate, found.replies, found.dropped) == ("task-0", 0.5, 4, "")
    assert found.mean == (10 + 0 + 10 - 10) / 4
    assert solved(example, [right] * 3).dropped == "always solved"
    assert solved(example, [wrong] * 3).dropped == "never solved"


def test_only_what_is_sometimes_solved_is_kept_and_parted_by_its_tools() -> None:
    examples = tasks(80)
    rates = {e.id: (0.0, 0.5, 1.0)[i % 3] for i, e in enumerate(examples)}
    found = {id: Solved(id, rate, 0.0, 8) for id, rate in rates.items()}
    trained, watched = curated(examples, found)
    assert {found[e.id].rate for e in (*trained, *watched)} == {0.5}
    assert len(trained) + len(watched) == sum(rate == 0.5 for rate in rates.values())
    assert not {e.combination for e in trained} & {e.combination for e in watched}
    assert trained
    assert curated(examples, {}) == ([], []), "what was not asked about is not kept"
    text = report(examples, found)
    assert "| never solved | 27 |" in text
    assert "| solved 0.50 of the time | 27 |" in text


def test_what_was_found_is_kept_as_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "curated.jsonl"
    assert known(path) == {}
    one, two = Solved("a", 0.25, -1.5, 8), Solved("b", 1.0, 10.0, 8)
    keep(path, one)
    keep(path, two)
    path.write_text(path.read_text() + '{"id": "c", "ra')  # killed in the middle of a line
    assert known(path) == {"a": one, "b": two}
    assert '"dropped": "always solved"' in path.read_text()
