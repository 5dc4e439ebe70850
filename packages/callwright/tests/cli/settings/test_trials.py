"""The options of trials are settings, by the names that files have for them."""

from __future__ import annotations

from callwright.agent.probing.policy import Simulate as Simulates
from callwright.agent.probing.settings import Judging
from callwright.cli.settings.config import SETTINGS
from callwright.cli.settings.options import SelectionOptions
from callwright.cli.settings.trials import Judges, Simulate, TrialOptions


def test_without_options_nothing_is_said() -> None:
    assert not any(TrialOptions().to_settings().values())


def test_every_option_is_a_setting_that_a_file_may_hold_too() -> None:
    given = TrialOptions("run", Simulate.every, ["maps_*=0.5", "*=0"], 2.0, Judges.encoder)
    said = given.to_settings()
    assert said == {
        "trial_model": "run",
        "trial_simulate": "every",
        "trial_price": ["maps_*=0.5", "*=0"],
        "trial_money": 2.0,
        "trial_relevance": "encoder",
    }
    assert said.keys() <= SETTINGS.keys()
    assert SelectionOptions("run").to_settings()["trial_model"] == "run"


def test_the_choices_are_those_of_the_settings() -> None:
    assert {*Simulate} == {*Simulates.__args__}  # type: ignore[attr-defined]
    assert {*Judges} == {*Judging.__args__}  # type: ignore[attr-defined]
