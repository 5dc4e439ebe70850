"""A question that is answered with one letter, read off the model's probabilities.

A small model that writes its choice out writes something else every time. How likely it holds each
letter says more: how sure it is, and of what else. A model that states no probabilities is not
judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final, TypeVar

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, Tool

_Choice = TypeVar("_Choice")
_Action = TypeVar("_Action")
_Event = TypeVar("_Event")

LETTER: Final = "letter"
"""The purpose of a question that stands alone and is answered with one letter."""
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


def build_letter_question(messages: tuple[Message, ...], purpose: str = LETTER) -> ChatRequest:
    """The question of these messages, to be answered with one letter."""
    return ChatRequest(messages, purpose, max_tokens=1, top_logprobs=MOST_SHOWN)


def ask_shares(
    choices: Sequence[_Choice],
    orders: Sequence[Sequence[_Choice]],
    build: Callable[[Sequence[_Choice]], ChatRequest],
    ask_letter: Callable[[ChatRequest], Generator[_Action, _Event, Reply]],
) -> Generator[_Action, _Event, list[float]]:
    """The share of each choice, as a mean over the orders in which they are shown, for a small
    model prefers a letter. ``build``: makes the question of an order; ``ask_letter``: puts it. Empty
    where the model states no probabilities.
    """
    found: list[list[float]] = []
    for order in orders:
        shares = read_shares((yield from ask_letter(build(order))).first_token, len(order))
        if not shares:
            return []
        found.append([shares[order.index(choice)] for choice in choices])
    return [sum(shares) / len(found) for shares in zip(*found, strict=True)]
