"""Which profile a size has, and that the smallest is what was measured with the embedded model."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import Limits
from callwright.nouns.model_profile import (
    SMALL,
    ModelProfile,
    ModelSize,
    choose_profile,
    find_profile,
    load_profiles,
)


def test_the_smallest_profile_has_the_values_that_were_measured() -> None:
    assert (
        ModelProfile("small", 0, 0, 240, 110, 120, 12, 4_000, 8, 6_000, 512, 400, 1_024, 0.0)
        == SMALL
    )
    assert SMALL.widen_limits(Limits()) == Limits()


@pytest.mark.parametrize(
    ("context", "parameters", "name"),
    [
        (8_192, 1.5, "small"),
        (131_072, 1.5, "small"),  # a long context alone makes no model read better
        (8_192, 70.0, "small"),
        (16_384, 6.7, "medium"),
        (131_072, 8.0, "medium"),
        (16_384, 32.0, "medium"),
        (32_768, 27.0, "large"),
        (None, 70.0, "small"),
        (131_072, None, "small"),
        (None, None, "small"),
    ],
)
def test_a_profile_needs_both_a_context_and_a_size(
    context: int | None, parameters: float | None, name: str
) -> None:
    assert choose_profile(ModelSize(context, parameters)).name == name


@given(st.integers(1, 10**6), st.floats(0.1, 2_000), st.integers(1, 4), st.floats(1, 4))
def test_a_larger_model_is_never_shown_less(
    context: int, parameters: float, longer: int, larger: float
) -> None:
    before = choose_profile(ModelSize(context, parameters))
    after = choose_profile(ModelSize(context * longer, parameters * larger))
    for one in fields(ModelProfile)[1:]:
        assert getattr(after, one.name) >= getattr(before, one.name), one.name


@pytest.mark.parametrize("profile", load_profiles().values(), ids=lambda p: p.name)
def test_what_a_question_may_hold_fits_the_context_and_the_run(profile: ModelProfile) -> None:
    context = profile.context or 8_192  # of the embedded model
    shown = (profile.listed_chars + profile.result_chars) / 4  # tokens
    assert shown <= 0.32 * context
    assert max(profile.reply_tokens, profile.answer_tokens) <= context / 16
    assert profile.output_tokens <= context / 8
    assert Limits().tokens / shown >= 8  # full questions of one run


def test_a_limit_that_the_user_changed_stays() -> None:
    large = find_profile("large")
    assert large.widen_limits(Limits(result_chars=2_000)) == Limits(
        result_chars=2_000, reply_tokens=large.reply_tokens
    )
    kept = large.keep_limits(Limits(result_chars=2_000, reply_tokens=99))
    assert (kept.result_chars, kept.reply_tokens) == (2_000, 99)
    assert kept.description_chars == large.description_chars


@given(st.integers(0, 10**6), st.sampled_from(["listed_tools", "result_chars", "reply_tokens"]))
def test_a_limit_measured_with_the_smallest_profile_grows_as_the_field_that_it_is_like(
    limit: int, like: str
) -> None:
    assert SMALL.scale(limit, like) == limit
    large = find_profile("large")
    assert large.scale(limit, like) == limit * getattr(large, like) // getattr(SMALL, like)
    assert large.scale(20, "listed_tools") == 60


def test_a_profile_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match="there is no model profile 'huge'") as caught:
        find_profile("huge")
    assert caught.value.hint == "there are: small, medium, large"


def test_a_size_says_what_is_not_known() -> None:
    assert str(ModelSize(32_768, 7.615616)) == "context 32,768 tokens, parameters 7.62 billion"
    assert str(ModelSize()) == "context unknown, parameters unknown"
