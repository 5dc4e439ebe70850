"""The lab's prompts: their form, and that the core has none of them."""

from __future__ import annotations

import pytest

from callwright import prompts as core
from callwright.nouns.errors import ConfigError
from callwright_lab import prompts


@pytest.mark.parametrize("name", prompts.names())
def test_every_prompt_opens_with_a_role_and_holds_no_stray_braces(name: str) -> None:
    sections = prompts.load(name)
    assert sections[0][0] in ("system", "user")
    assert all(body for _, body in sections)


def test_the_core_holds_none_of_them() -> None:
    assert not set(prompts.names()) & set(core.names())
    with pytest.raises(ConfigError, match="there is no prompt 'verify_row'"):
        core.load("verify_row")


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(ConfigError, match="missing"):
        prompts.render("verify_row")
