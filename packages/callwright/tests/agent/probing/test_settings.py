"""What a run's trials may ask and cost is said once, and a journal tells it again."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from callwright.agent.probing.settings import TrialSettings, read_prices
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import to_json


@pytest.mark.parametrize(
    "wrong",
    [
        {"relevance": "guess"},
        {"simulate": "always", "model": "run"},
        {"simulate": "every"},
        {"money": -1.0},
        {"money": float("inf")},
        {"prices": (("maps", -0.1),)},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        TrialSettings(**wrong)


def test_a_journal_tells_the_same_settings_again() -> None:
    made = TrialSettings("run", "every", (("maps_*", 0.5), ("*", 0.0)), 2.0, "encoder")
    assert TrialSettings.of(orjson.loads(orjson.dumps(to_json(made)))) == made
    assert TrialSettings.of({}) == TrialSettings(), "a journal of an earlier version"


def test_prices_are_patterns_and_costs() -> None:
    assert read_prices(["maps_*=0.01", "*=0"]) == (("maps_*", 0.01), ("*", 0.0))
    assert read_prices(["a=b = 1e-3"]) == (("a=b", 0.001),)
    for wrong in ("maps", "=1", " = 1", "maps=much", "maps=-1", "maps=nan", "maps=inf"):
        with pytest.raises(ConfigError, match="PATTERN=COST"):
            read_prices([wrong])
