"""Gold calls spoiled on purpose, written as each set's upstreams write."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.refine.bamboogle import BamboogleStar
from callwright_lab.benchmarks.refine.bamboogle_formats import read_format
from callwright_lab.benchmarks.refine.spoiled import spoil_gold_replies

EXAM = BamboogleStar(9)


def test_right_calls_are_written_in_the_format_that_was_asked_for() -> None:
    pairs = spoil_gold_replies(EXAM, ["right"], 9)
    assert len(pairs) == 9
    for task, reply in pairs:
        assert reply.mode == "right"
        read = read_format(task.aside, reply.text)
        assert read is not None
        assert [(c.tool, c.arguments) for c in read] == [(c.tool, c.arguments) for c in task.gold]


def test_every_kind_gives_at_most_so_many_replies_and_always_the_same() -> None:
    pairs = spoil_gold_replies(EXAM, ["name_case", "fence"], 4)
    assert [r.mode for _, r in pairs] == ["name_case"] * 4 + ["fence"] * 4
    assert pairs == spoil_gold_replies(EXAM, ["name_case", "fence"], 4)
    assert pairs != spoil_gold_replies(EXAM, ["name_case", "fence"], 4, seed=1)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="no corruption 'nobody'"):
        spoil_gold_replies(EXAM, ["nobody"], 1)
