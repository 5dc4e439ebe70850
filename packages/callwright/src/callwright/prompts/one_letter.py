"""A question that is answered with one letter, read off the model's probabilities.

A small model that writes its choice out writes something else every time. How likely it holds each
letter says more: how sure it is, and of what else. A model that states no probabilities is not
judged by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callwright.nouns.types import Tool

LETTERS = "ABCDEFGHIJKLMNOPQRST"
MOST_SHOWN = 20
"""The likeliest tokens that a model is asked for, the most that chat APIs allow."""
_ABOUT = 100  # characters of a tool's description
_FLOOR = 1e-6  # the share of a letter that is not among the likeliest
_LEAST_SAID = 0.5  # by all letters together


def render_choices(texts: Sequence[str]) -> str:
    """The choices as lines, each with its letter; twenty at most."""
    return "\n".join(f"{letter}) {text}" for letter, text in zip(LETTERS, texts, strict=False))


def render_tool_choices(tools: Sequence[Tool], *more: str) -> str:
    """Tools as choices, by name and the beginning of their descriptions, and more behind them."""
    return render_choices([*map(_render_tool, tools), *more])


def _render_tool(tool: Tool) -> str:
    about = " ".join(tool.description.split())[:_ABOUT]
    return f"{tool.name}: {about}" if about else tool.name


def read_shares(likely: Mapping[str, float], choices: int) -> tuple[float, ...]:
    """The share of each choice among all, in their order, from the likeliest first tokens of a
    reply; () where the model states no probabilities, or holds it likelier that it says something
    else than a letter.
    """
    said = [_sum_letter(likely, letter) for letter in LETTERS[:choices]]
    if sum(said) < _LEAST_SAID:
        return ()
    return tuple(share / sum(said) for share in said)


def _sum_letter(likely: Mapping[str, float], letter: str) -> float:
    found = sum(p for token, p in likely.items() if token.strip(" ()\n\"'") == letter)
    return max(found, _FLOOR)
