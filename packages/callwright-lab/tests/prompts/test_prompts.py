"""The lab's prompts: their form, their digests, and that the core has none of them."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

import pytest

from callwright import prompts as core
from callwright.nouns.errors import ConfigError
from callwright_lab import prompts

DIGESTS = Path(__file__).with_name("digests.txt")


def test_the_texts_are_the_ones_that_were_measured() -> None:
    """A text that models read changes in a commit of its own, with its measurement and its
    digest.
    """
    here = "".join(
        f"{hashlib.sha256(files(prompts).joinpath(f'{name}.md').read_bytes()).hexdigest()}"
        f"  {name}.md\n"
        for name in prompts.names()
    )
    assert here == DIGESTS.read_text(encoding="utf-8")


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
