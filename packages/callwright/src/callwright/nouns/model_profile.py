"""Profiles of models: how much a model is shown and may write, as data in
``data/model_profiles.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import LIMITS, Limits


class ModelSize(NamedTuple):
    """The size of a model as its endpoint states it. ``context``: tokens that it serves, prompt and
    reply together. ``parameters``: in billions. None: it does not say.
    """

    context: int | None = None
    parameters: float | None = None

    def __str__(self) -> str:
        context = "unknown" if self.context is None else f"{self.context:,} tokens"
        parameters = "unknown" if self.parameters is None else f"{self.parameters:.3g} billion"
        return f"context {context}, parameters {parameters}"


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Limits of the questions to a model; the data file says what each counts. ``context`` (tokens)
    and ``parameters`` (billions) are the least that a model needs to have it.
    """

    name: str
    context: int
    parameters: float
    description_chars: int
    parameter_chars: int
    selection_chars: int
    listed_tools: int
    listed_chars: int
    layer_calls: int
    result_chars: int
    reply_tokens: int
    answer_tokens: int
    output_tokens: int
    temperature: float

    def widen_limits(self, limits: Limits) -> Limits:
        """Return the limits of a run with this profile: it sets those of its own that stand at their
        default.
        """
        own = {"result_chars": self.result_chars, "reply_tokens": self.reply_tokens}
        unsaid = {k: v for k, v in own.items() if getattr(limits, k) == LIMITS[k].default}
        return replace(limits, **unsaid)

    def keep_limits(self, limits: Limits) -> ModelProfile:
        """Return the profile with what the limits of a run say of results and replies."""
        return replace(self, result_chars=limits.result_chars, reply_tokens=limits.reply_tokens)

    def scale(self, limit: int, like: str) -> int:
        """Return a limit that was measured with the smallest profile, as many times larger as the
        field ``like`` is here.
        """
        return limit * int(getattr(self, like)) // int(getattr(SMALL, like))


@cache
def load_profiles() -> Mapping[str, ModelProfile]:
    """Return all profiles by name, the smallest first."""
    text = files("callwright.nouns").joinpath("data", "model_profiles.toml").read_text("utf-8")
    rows = tomllib.loads(text)
    return MappingProxyType({name: ModelProfile(name, **row) for name, row in rows.items()})


def find_profile(name: str) -> ModelProfile:
    """Return the profile of a name. Raises ConfigError for one that does not exist."""
    found = load_profiles().get(name)
    if found is None:
        listed = ", ".join(load_profiles())
        raise ConfigError(f"there is no model profile {name!r}", hint=f"there are: {listed}")
    return found


def choose_profile(size: ModelSize) -> ModelProfile:
    """Return the largest profile whose needs this size meets; the smallest where the size is not
    known.
    """
    if size.context is None or size.parameters is None:
        return SMALL
    met = [
        one
        for one in load_profiles().values()
        if size.context >= one.context and size.parameters >= one.parameters
    ]
    return met[-1]


SMALL = find_profile("small")
"""The profile of the embedded model, and of every model that does not say how large it is."""
