from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.benchmarks.broken_tools.kinds import (
    RATES,
    SETS,
    SHARES,
    choose_broken_tools,
)

FAMILIES = {f"family{i}": (f"a{i}", f"b{i}", f"c{i}") for i in range(40)} | {"alone": ("z",)}


def test_nothing_is_broken_at_rate_zero_and_rates_are_of_the_tools_with_a_twin() -> None:
    assert [len(choose_broken_tools(FAMILIES, rate)) for rate in RATES] == [0, 18, 36, 60]


def test_what_is_broken_stays_so_at_a_higher_rate_in_the_same_way() -> None:
    low, high = choose_broken_tools(FAMILIES, 15), choose_broken_tools(FAMILIES, 50)
    assert low.items() <= high.items()


@pytest.mark.parametrize("rate", [15, 30, 50])
def test_the_classes_stand_in_table_4_s_shares(rate: int) -> None:
    found = Counter(one.outcome for one in choose_broken_tools(FAMILIES, rate).values())
    total = sum(share for share, _ in SHARES.values())
    for name, (share, _) in SHARES.items():
        assert abs(found[name] - sum(found.values()) * share / total) < 1


@given(st.lists(st.integers(1, 4), min_size=1, max_size=20), st.sampled_from(RATES))
def test_every_family_keeps_a_tool_that_works(sizes: list[int], rate: int) -> None:
    families = {f"f{i}": tuple(f"t{i}_{j}" for j in range(size)) for i, size in enumerate(sizes)}
    gone = choose_broken_tools(families, rate)
    assert all(set(tools) - set(gone) for tools in families.values())


def test_every_kind_answers_as_its_class_says() -> None:
    statuses: dict[str, set[int]] = {}
    for one in choose_broken_tools(FAMILIES, 50).values():
        status, body = one.reply()
        statuses.setdefault(one.outcome, set()).add(status)
        assert (one.documented is not None) == (one.kind == "missing_parameter")
        assert body is not None
    assert statuses["semantic_mismatch"] == {200}
    assert statuses["parameter_mismatch"] <= {400, 422}
    assert not statuses["execution_failure"] & {200, 400, 422}


def test_the_first_set_has_no_plausible_answers_about_another_thing_and_the_second_has() -> None:
    for name, expected in (("1", False), ("2", True)):
        broken = choose_broken_tools(FAMILIES, 50, SETS[name])
        assert any(one.answers_elsewhere for one in broken.values()) == expected
    assert SETS["2"] == SHARES
