"""A refiner's settings: lengths, and which bound is used."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.refiner_settings import LONGEST, RefinerSettings
from tests.repair.by_model.test_harm_bound import BOUND

MINE = RefinerSettings("short", 768, BOUND.measured.refiner, BOUND.measured.upstream, BOUND)


@pytest.mark.parametrize("tokens", [0, LONGEST + 1])
def test_an_answer_has_between_one_token_and_the_papers_most(tokens: int) -> None:
    assert RefinerSettings(max_tokens=LONGEST).max_tokens == 4096
    with pytest.raises(ConfigError, match=f"cannot have {tokens} tokens"):
        RefinerSettings(max_tokens=tokens)


def test_a_bound_is_used_where_it_was_measured() -> None:
    assert (MINE.bound_in_use, MINE.explain_unused()) == (BOUND, "")
    other = RefinerSettings("short", 768, BOUND.measured.refiner, "another", BOUND)
    assert other.bound_in_use is None
    assert "upstream 'qwen3-8b', and not 'another'" in other.explain_unused()
    assert (RefinerSettings().bound_in_use, RefinerSettings().explain_unused()) == (None, "")


def test_no_guard_keeps_no_bound() -> None:
    with pytest.raises(ConfigError, match="without a guard no harm bound is kept"):
        RefinerSettings(bound=BOUND, is_guarded=False)
