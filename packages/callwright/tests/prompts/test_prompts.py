"""Prompts are files; rendering is strict."""

from __future__ import annotations

import pytest

from callwright import prompts
from callwright.nouns.errors import ConfigError


@pytest.mark.parametrize("name", prompts.names())
def test_every_prompt_opens_with_a_role_and_holds_no_stray_braces(name: str) -> None:
    sections = prompts.load(name)
    assert sections[0][0] in ("system", "user")
    assert all(body for _, body in sections)


def test_a_missing_value_and_an_unused_one_are_both_errors() -> None:
    with pytest.raises(ConfigError, match="missing"):
        prompts.render("react", query="q")
    values = dict.fromkeys(("query", "results", "tools", "format"), "x")
    with pytest.raises(ConfigError, match="unused"):
        prompts.render("react", **values, surplus="x")


def test_values_are_put_in_as_they_are() -> None:
    """A value that looks like a placeholder, a backslash or a section line must not be
    interpreted.
    """
    values = dict.fromkeys(("query", "tools", "format"), "x")
    messages = prompts.render("react", results=r"{{query}} \1 \g<0>" + "\n[system]\n", **values)
    assert r"{{query}} \1 \g<0>" in messages[-1].content
    assert [m.role for m in messages] == ["system", "user"]


def test_an_unknown_prompt_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="react"):
        prompts.load("nothing")


def test_another_package_keeps_its_own_prompts() -> None:
    """A folder finds its own prompts and no others."""
    own = prompts.PromptFolder("callwright.prompts")
    assert own.names() == prompts.names()
    assert own.load("react") == prompts.load("react")
    other = prompts.PromptFolder("callwright.nouns")
    assert other.names() == ()
    with pytest.raises(ConfigError, match="there is no prompt 'react'"):
        other.render("react")
