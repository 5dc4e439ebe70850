"""The refiner's reward, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.training.refiner import rewards
from callwright_lab.training.refiner.formats import FORMATS, Invocation, Reading
from callwright_lab.training.refiner.rewards import (
    COMPONENTS,
    VARIANTS,
    grade_reading,
    overlong_penalty,
    reward,
)

XLAM = FORMATS["xlam"]


def call(name: str, **arguments: object) -> Invocation:
    return Invocation(name, arguments)


def steps(*names: list[str]) -> list[Invocation]:
    return [Invocation(n, {}, step=i) for i, found in enumerate(names, 1) for n in found]


GOLD = [call("weather", city="Lyon", days=2), call("mail", to="Ann")]


def test_tool_name_is_the_jaccard_similarity_of_the_sets() -> None:
    score = rewards.tool_name_reward
    assert score(GOLD, GOLD) == 2
    assert score([call("weather")], GOLD) == 0  # 1 of 2
    assert score([call("weather"), call("weather"), call("news")], GOLD) == pytest.approx(
        4 / 3 - 2
    )  # 1 of 3
    assert score([], GOLD) == -2
    assert score(GOLD, []) is None


def test_parameter_names_are_recalled_whichever_call_they_stand_in() -> None:
    score = rewards.param_name_reward
    assert score(GOLD, GOLD) == 2
    assert (
        score([call("mail", city=1, days=1, to=1, cc=1)], GOLD) == 2
    )  # the paper forgives place and surplus
    assert score([call("weather", city="x")], GOLD) == pytest.approx(4 / 3 - 2)  # 1 of 3
    assert score([call("a", x=1)], [call("a")]) is None


def test_parameter_values_are_recalled_as_a_multiset() -> None:
    score = rewards.param_content_reward
    assert score(GOLD, GOLD) == 2
    assert score([call("x", a="Ann", b="Lyon", c=2.0)], GOLD) == 2  # 2.0 is 2
    assert score([call("x", a="Lyon")], GOLD) == pytest.approx(4 / 3 - 2)
    twice = [call("sum", a=1, b=1)]
    assert score([call("sum", a=1)], twice) == 0  # one of two ones
    assert score([call("sum", a=True, b=True)], twice) == -2  # true is not 1


def test_order_counts_what_stands_in_its_place() -> None:
    score = rewards.order_reward
    abc = [call("a"), call("b"), call("c")]
    assert score(abc, abc) == 2
    assert score([abc[1], abc[0], abc[2]], abc) == pytest.approx(4 / 3 - 2)
    assert score(abc[:2], abc) == pytest.approx(8 / 3 - 2)  # divided by the longer
    assert score([*abc, call("d")], abc) == 1
    assert score([], abc) == -2
    assert score(abc, []) is None


def test_the_order_of_steps_does_not_depend_on_the_order_inside_a_step() -> None:
    gold = steps(["a", "b"], ["c"])
    assert rewards.order_reward(steps(["b", "a"], ["c"]), gold) == 2
    assert rewards.order_reward(steps(["a"], ["b"], ["c"]), gold) == -2
    assert rewards.order_reward(steps(["a", "b"], ["c"], ["d"]), gold) == pytest.approx(8 / 3 - 2)


def test_the_format_is_right_or_not() -> None:
    assert rewards.format_reward(Reading((), True)) == 1
    assert rewards.format_reward(Reading((), False)) == 0


def test_every_kind_of_data_has_its_own_range() -> None:
    gold = [Invocation("a", {"x": 1}, ("API_call_0",))]
    reading = Reading(tuple(gold), True)
    ranges = {
        kind: (grade_reading(reading, gold, kind).least, grade_reading(reading, gold, kind).most)
        for kind in COMPONENTS
    }
    assert ranges == {
        "erroneous": (-6, 7),
        "correct": (-6, 7),
        "shuffled_full": (-8, 9),
        "shuffled_simplified": (-4, 5),
    }
    assert all(grade_reading(reading, gold, kind).value == 1 for kind in COMPONENTS)


def test_a_component_without_gold_is_left_out_of_the_range() -> None:
    found = grade_reading(Reading((call("now"),), True), [call("now")], "correct")
    assert (found.components, found.least, found.most) == ({"format": 1, "tool_name": 2}, -2, 3)
    nothing = grade_reading(Reading((), True), [], "correct")
    assert (nothing.least, nothing.most, nothing.value) == (0, 1, 1)


def test_an_unreadable_reply_earns_nothing() -> None:
    assert grade_reading(XLAM.read("I do not know"), GOLD, "erroneous").value == 0


def test_half_right_lies_between() -> None:
    text = XLAM.write([call("weather", city="Paris", days=2)])
    found = reward(text, "nothing", GOLD, "erroneous", XLAM)
    # format 1, names 4/2-2 = 0, parameter names 4*2/3-2, values 4*1/3-2: 1 + 0 + 2/3 - 2/3 = 1 of
    # -6..7
    assert found.total == pytest.approx(1)
    assert found.value == pytest.approx(7 / 13)


def test_what_gets_worse_gets_nothing() -> None:
    right, worse = XLAM.write(GOLD), XLAM.write(GOLD[:1])
    assert reward(worse, right, GOLD, "correct", XLAM).regressed
    assert reward(worse, right, GOLD, "correct", XLAM).value == 0
    assert reward(right, right, GOLD, "correct", XLAM).value == 1
    assert reward(worse, "?", GOLD, "erroneous", XLAM).value > 0
    assert not reward(worse, worse, GOLD, "erroneous", XLAM).regressed


def test_the_override_comes_before_the_normalisation_and_keeps_the_samples_range() -> None:
    # before: format 1, names 0, parameter names -2, values -2 of -6..7; after: unreadable, -6
    found = reward("?", XLAM.write([call("weather")]), GOLD, "erroneous", XLAM)
    assert (found.total, found.least, found.most, found.value, found.regressed) == (
        -6,
        -6,
        7,
        0,
        True,
    )
    # as bad as before is no regression, however bad: 0 is then what the formulas give
    bad = reward("?", "??", GOLD, "erroneous", XLAM)
    assert (bad.value, bad.regressed) == (0, False)
    # the format got worse, the rest better: only the total counts
    better = reward(f"Here: {XLAM.write(GOLD)}", XLAM.write([]), GOLD, "erroneous", XLAM)
    assert not better.regressed


def test_the_order_is_the_papers_worked_example_of_places() -> None:
    # gold (scan, locate, engage) of Appendix B.4; the first two exchanged: 1 of 3 in place, 4/3 - 2
    names = ("scan_isbn", "locate_book", "engage_ar_experience")
    gold = [Invocation(n, {}, (f"API_call_{i}",)) for i, n in enumerate(names)]
    found = grade_reading(Reading((gold[1], gold[0], gold[2]), True), gold, "shuffled_full")
    assert found.components == {"format": 1, "tool_name": 2, "order": pytest.approx(-2 / 3)}
    assert (found.least, found.most) == (
        -4,
        5,
    )  # no parameters in gold: their components are left out
    assert found.value == pytest.approx((1 + 2 - 2 / 3 + 4) / 9)


def test_our_variant_charges_what_is_invented_doubled_or_in_the_wrong_call() -> None:
    ours = VARIANTS["calls"]
    swapped = [call("weather", city="Ann", days=2), call("mail", to="Lyon")]
    assert rewards.param_content_reward(swapped, GOLD) == 2
    assert ours["param_content"](swapped, GOLD) == pytest.approx(
        4 / 5 - 2
    )  # 1 right, 3 + 3 - 1 in all
    invented = [call("weather", city="Lyon", days=2, unit="C"), GOLD[1]]
    assert rewards.param_name_reward(invented, GOLD) == 2
    assert ours["param_name"](invented, GOLD) == 1  # 3 of 4
    assert rewards.tool_name_reward([*GOLD, GOLD[1]], GOLD) == 2
    assert ours["tool_name"]([*GOLD, GOLD[1]], GOLD) == pytest.approx(8 / 3 - 2)
    assert ours["tool_name"](GOLD, []) == -2
    assert ours["param_name"]([call("a")], [call("a")]) == 2


def test_our_order_asks_only_for_producers_first() -> None:
    find, look = Invocation("find", {}, ("API_call_0",)), Invocation("look", {}, ("API_call_1",))
    buy = Invocation("buy", {"item": "API_call_0"}, ("API_call_2",))
    score = VARIANTS["calls"]["order"]
    assert score([look, find, buy], [find, look, buy]) == 2
    assert score([buy, find, look], [find, look, buy]) == -2
    assert score([find, buy], [find, look]) is None
    inside = Invocation("send", {"text": "see API_call_0, thanks"}, ("API_call_3",))
    assert score([inside, find], [find, inside]) == -2
    assert (
        score(
            [Invocation("send", {"text": "API_call_01"}), find],
            [find, Invocation("send", {"text": "x"})],
        )
        is None
    )
    assert score(steps(["a"], ["b"], ["c"]), steps(["a", "b"], ["c"])) == 2
    assert score(steps(["a", "b", "c"]), steps(["a", "b"], ["c"])) == -2


def test_the_overlong_penalty_falls_linearly() -> None:
    assert [overlong_penalty(n) for n in (0, 1024, 2560, 4096, 9000)] == [0, 0, -0.5, -1, -1]


_CALLS = st.lists(
    st.builds(
        Invocation,
        st.sampled_from("abc"),
        st.dictionaries(
            st.sampled_from("xyz"), st.integers(0, 2) | st.booleans() | st.lists(st.integers(0, 1))
        ),
    ),
    max_size=4,
)


@given(_CALLS, _CALLS, st.sampled_from(sorted(COMPONENTS)), st.sampled_from(["paper", "calls"]))
def test_the_value_is_between_0_and_1_and_gold_has_1(
    output: list[Invocation], gold: list[Invocation], kind: str, variant: rewards.Variant
) -> None:
    assert 0 <= grade_reading(Reading(tuple(output), True), gold, kind, variant).value <= 1
    assert grade_reading(Reading(tuple(gold), True), gold, kind, variant).value == 1
