"""Choices that no run can be made with are refused before anything is opened."""

from __future__ import annotations

import pytest

from callwright import Orchestrator
from callwright.nouns.errors import ConfigError


def test_an_unknown_strategy_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="layered"):
        Orchestrator([], strategy="best")
    with pytest.raises(ConfigError, match="there is no strategy 'layred'") as caught:
        Orchestrator([], strategy="layred")
    assert caught.value.hint.startswith("did you mean 'layered'?")


def test_the_name_of_a_planner_is_no_planner() -> None:
    with pytest.raises(ConfigError, match="planner is 'model', and must be a Planner") as caught:
        Orchestrator([], planner="model")  # type: ignore[arg-type]
    assert "open_planner" in caught.value.hint


def test_an_unknown_profile_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(ConfigError, match="no model profile 'huge'") as caught:
        Orchestrator(["no/such/place"], model_profile="huge")
    assert caught.value.hint == "there are: small, medium, large"
