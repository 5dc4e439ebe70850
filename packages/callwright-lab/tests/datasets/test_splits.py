"""No tool combination on both sides of a split, ever."""

from __future__ import annotations

from collections import Counter

from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import PlanExample, example_from_calls
from callwright_lab.datasets.splits import FOLDS, get_fold, iter_folds, leave_one_source_out


def example(id: str, *names: str, source: str = "s") -> PlanExample:
    return example_from_calls(id, source, "q", [Tool(n) for n in names], list(names), {})


MANY = [example(f"e{i}", f"t{i % 40}", f"u{i % 40}", source=f"s{i % 3}") for i in range(240)]


def test_the_fold_depends_on_the_tools_called_and_on_nothing_else() -> None:
    assert get_fold(example("one", "a", "b")) == get_fold(example("two", "b", "a", source="other"))


def test_the_rule_never_changes() -> None:
    assert [get_fold(example("x", name)) for name in "abcdef"] == [0, 1, 4, 0, 4, 0]


def test_every_example_is_measured_on_exactly_once() -> None:
    tested = [e.id for split in iter_folds(MANY) for e in split.test]
    assert Counter(tested) == Counter(e.id for e in MANY)


def test_no_combination_is_on_two_sides() -> None:
    for split in iter_folds(MANY):
        sides = [
            {e.combination for e in side} for side in (split.train, split.validation, split.test)
        ]
        assert not sides[0] & sides[1]
        assert not (sides[0] | sides[1]) & sides[2]


def test_the_source_left_out_and_its_combinations_are_not_learned_from() -> None:
    for split in leave_one_source_out(MANY):
        (source,) = {e.source for e in split.test}
        learned = (*split.train, *split.validation)
        assert all(e.source != source for e in learned)
        assert not {e.combination for e in learned} & {e.combination for e in split.test}


def test_folds_are_of_similar_size() -> None:
    sizes = Counter(get_fold(example("x", f"tool_{i}")) for i in range(2_000))
    assert len(sizes) == FOLDS
    assert all(300 < n < 500 for n in sizes.values())
