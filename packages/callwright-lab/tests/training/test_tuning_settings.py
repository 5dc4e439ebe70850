"""Settings that cannot be run are refused when they are made."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.tuning_settings import Tuning


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "ppo"}, "no loss 'ppo'"),
        ({"targets": "some"}, "no targets 'some'"),
        ({"batch": 3, "group": 3, "micro": 2}, "cannot be cut into passes of 2"),
        ({"batch": 16, "attempts": 8}, "8 attempts cannot fill a batch of 16"),
    ],
)
def test_what_cannot_be_run_is_said(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Tuning(**settings)  # type: ignore[arg-type]


def test_passes_need_not_divide_a_batch_whose_prompts_are_computed_once() -> None:
    assert Tuning(batch=1, group=3, micro=2, attempts=1, shared=True).group == 3
