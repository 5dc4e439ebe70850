"""Optional values out of a list that no word states and that the conversation implies.

A model that fills a schema fills all of it, so what no word states is left out. But "something that
grows fast" asks for ``speed: "express"`` without the word, in any language. The model can be asked
how likely it holds each value, once with the conversation and once without it. A value whose share
grows clearly by the conversation is implied. This is the pointwise mutual information of value and
conversation (Church and Hanks, 1990), read off the probabilities of one token.

A model that states no probabilities says with its letter alone that the user does not say a value;
any other letter of it is not judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, MutableMapping
from dataclasses import dataclass
from math import inf, log
from typing import TypeVar

from callwright import prompts
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, Message, Reply, Tool, to_canonical_json
from callwright.prompts.one_letter import LETTERS, read_shares, render_choices

LEAST_GAIN = threshold("callwright.repair", "option_support.least_gain")
"""The least gain, in natural logarithms, with which a value counts as implied."""
NO_CONVERSATION = "Please use the tool."
"""A request that says nothing."""
_MOST_VALUES = 11
_NOT_SAID = "the user does not say"
_MOST_ASKED = 4  # values of one answer
_MOST_SHARES = 256  # without the conversation that are remembered

Q = TypeVar("Q")
E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Option:
    """An optional argument of a call, its value, and all values that its schema lists."""

    tool: Tool
    key: str
    value: Json
    values: tuple[Json, ...]

    def render_question(self) -> tuple[Message, ...]:
        """The question for one letter, behind the conversation or behind none."""
        return prompts.render("option", **_render_values(self))


def find_options(left_out: Mapping[str, Json], tool: Tool) -> list[Option]:
    """The arguments that were left out of a call and whose values stand in a list. A no changes
    nothing and stays out, as does the schema's default.
    """
    found = []
    for key, value in left_out.items():
        values = list_values(tool, key)
        part = tool.properties.get(key)
        usual = part.get("default") if isinstance(part, dict) else None
        is_usual = value is False or (usual is not None and value == usual)
        if key not in tool.required and value in values and not is_usual:
            found.append(Option(tool, key, value, values))
    return found[:_MOST_ASKED]


def list_values(tool: Tool, key: str) -> tuple[Json, ...]:
    """The values that a parameter's schema lists, () where these are none or too many."""
    part = tool.properties.get(key)
    if not isinstance(part, dict):
        return ()
    if part.get("type") == "boolean":
        return (True, False)
    listed = part.get("enum")
    is_listed = isinstance(listed, list) and 1 < len(listed) <= _MOST_VALUES
    return tuple(listed) if isinstance(listed, list) and is_listed else ()


def _render_values(option: Option) -> dict[str, str]:
    part = option.tool.properties.get(option.key)
    about = part.get("description") if isinstance(part, dict) else None
    told = [*(to_canonical_json(value) for value in option.values), _NOT_SAID]
    return {
        "tool": option.tool.name,
        "key": option.key,
        "about": f": {str(about).rstrip('. ')}" if about else "",
        "options": render_choices(told),
    }


def read_value_shares(reply: Reply, option: Option) -> tuple[float, ...]:
    """The share of each value among all letters, in the order of the values; () where the upstream
    states no probabilities, or holds it likelier that it says something else than a letter.
    """
    return read_shares(reply.first_token, len(option.values) + 1)[:-1]


def read_share(reply: Reply, option: Option) -> float | None:
    """The share of the option's value; None where the upstream states no probabilities."""
    shares = read_value_shares(reply, option)
    return shares[option.values.index(option.value)] if shares else None


def ask_gain(
    option: Option,
    ask: Callable[[bool], Generator[Q, E, Reply]],
    known: MutableMapping[str, float],
    key: str,
) -> Generator[Q, E, float | None]:
    """The gain of a value by the conversation. Where the model states no probabilities it is minus
    infinity if the letter says that the user says none, else None.

    ``ask``: the question for the option's letter, with the conversation or without. ``known``: the
    shares without it, by ``key``, so that they are asked for once.
    """
    reply = yield from ask(True)
    told = read_share(reply, option)
    if told is None:
        return -inf if _says_unsaid(reply, option) else None
    if key not in known:
        untold = read_share((yield from ask(False)), option)
        if untold is None:
            return None
        while len(known) >= _MOST_SHARES:
            known.pop(next(iter(known)))
        known[key] = untold
    return compute_gain(told, known[key])


def _says_unsaid(reply: Reply, option: Option) -> bool:
    """Return True if a reply without probabilities is the letter for a value that nobody says."""
    letter = LETTERS[len(option.values)]
    return not reply.first_token and reply.text.strip(" ().\n") == letter


def compute_gain(told: float, untold: float) -> float:
    """The gain of a value's share by the conversation, in natural logarithms."""
    return log(told / untold)
