"""The options of trials become their settings."""

from __future__ import annotations

import pytest

from callwright.agent.probing.policy import Simulate as Simulates
from callwright.agent.probing.settings import Judging, TrialSettings
from callwright.cli.settings.trials import Judges, Simulate, TrialOptions
from callwright.nouns.errors import ConfigError


def test_without_options_nobody_is_asked_and_nothing_is_paid() -> None:
    assert TrialOptions().to_trials() == TrialSettings()


def test_every_option_is_a_setting() -> None:
    given = TrialOptions("run", Simulate.every, ["maps_*=0.5", "*=0"], 2.0, Judges.encoder)
    prices = (("maps_*", 0.5), ("*", 0.0))
    assert given.to_trials() == TrialSettings("run", "every", prices, 2.0, "encoder")
    with pytest.raises(ConfigError, match="PATTERN=COST"):
        TrialOptions(trial_price=["much"]).to_trials()


def test_the_choices_are_those_of_the_settings() -> None:
    assert {*Simulate} == {*Simulates.__args__}  # type: ignore[attr-defined]
    assert {*Judges} == {*Judging.__args__}  # type: ignore[attr-defined]
