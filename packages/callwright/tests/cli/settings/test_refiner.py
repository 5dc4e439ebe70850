"""The options of a refiner, and the settings that they become."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from callwright.cli.refiner import RefinerSetup, list_warnings
from callwright.cli.settings.refiner import RefinerOptions
from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.refiner_settings import LONGEST, RefinerSettings
from tests.cli.test_refiner import write_bound


def test_the_defaults_of_the_options_are_those_of_the_settings() -> None:
    assert RefinerOptions().to_setup() == RefinerSetup()
    assert RefinerSetup("local").build_settings() == RefinerSettings()
    (option,) = get_args(get_type_hints(RefinerOptions, include_extras=True)["refiner_tokens"])[1:]
    assert option.max == LONGEST
    assert RefinerSetup().build_settings() is None


def test_options_become_settings(tmp_path: Path) -> None:
    path = write_bound(tmp_path, prompt="short", max_tokens=4096)
    options = RefinerOptions("http://h/v1#refiner", "short", 4096, path, "qwen3-8b")
    settings = options.to_setup().build_settings()
    assert settings is not None
    assert (settings.refiner, settings.max_tokens) == ("refiner", 4096)
    assert settings.bound_in_use is not None
    assert list_warnings(settings) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (RefinerOptions(no_guard=True), "there is no refiner to guard"),
        (RefinerOptions("local", harm_bound=Path("nowhere.json")), "nowhere.json cannot be read"),
        (RefinerOptions("local", refiner_tokens=5000), "cannot have 5000 tokens"),
        (RefinerOptions("local", "long"), "no refiner prompt 'long'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: RefinerOptions, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        options.to_setup().build_settings()
