"""What asks first leaves the others theirs; what nobody uses is free."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.probing import TrialPolicy
from callwright.agent.probing.shares import Shares


def test_the_evaluators_share_is_kept_only_where_it_is_to_be_asked() -> None:
    assert Shares(TrialPolicy(planning="model")).left("planner") == 24
    assert Shares(TrialPolicy(planning="model", evaluation="model")).left("planner") == 18
    policy = TrialPolicy(planning="model", evaluation="model", evaluator_share=0.5)
    assert Shares(policy).left("planner") == 12


def test_what_the_planner_leaves_is_the_evaluators() -> None:
    shares = Shares(TrialPolicy(planning="model", evaluation="model"))
    assert shares.take("planner", 4) == 4
    assert shares.left("evaluator") == 20


@given(st.integers(0, 40), st.floats(0, 1), st.lists(st.integers(0, 9), max_size=12))
def test_no_more_than_the_total_is_taken_and_the_evaluator_always_gets_its_share(
    total: int, share: float, wanted: list[int]
) -> None:
    policy = TrialPolicy(evaluation="model", model_calls=total, evaluator_share=share)
    shares = Shares(policy)
    taken = sum(shares.take("planner", one) for one in wanted)
    rest = shares.left("evaluator")
    assert taken + rest == total
    assert rest >= total * share - 1e-9
