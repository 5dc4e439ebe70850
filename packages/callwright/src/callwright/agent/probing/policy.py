"""What trials may do, and how much of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool

Simulate = Literal["never", "transient", "every"]
Planning = Literal["said", "model"]
Evaluation = Literal["evidence", "model"]
Order = Literal["doubt", "proof", "retrieved"]


@dataclass(frozen=True, slots=True)
class TrialPolicy:
    """How tools are tried. Raises ConfigError for a number that limits nothing by mistake.

    Harm: only tools that are declared to read are called. ``sandbox`` are shell patterns on tool
    names (``*`` for all): tools that act on something which is thrown away (a dry run, a test
    server, a copy), so that they may be tried although they may write. ``per_host`` calls at a time
    and ``per_second`` calls a second reach one host (one tool source). ``prices`` (pattern -> cost
    of a call, in any one currency) are spent from ``money``: what has a price is not called once
    that is spent, so by default not at all.

    Extent: trials end where the first ``k`` are settled
    (:mod:`callwright.agent.probing.selection`); ``thorough`` tries every candidate. ``depth`` is
    how many tools may stand before another in a chain; ``attempts`` how many calls one tool gets:
    of the first values for its parameters, then of the next best.

    ``simulate``: a reply is made up after a failure that says nothing of the tool ("transient", and
    where the tool may not be tried), after any error ("every", the paper's rule), or "never".
    ``planning`` and ``evaluation`` with a model ask the paper's Planner and Evaluator prompts
    (GRETEL, Table 1); ``shuffles``: how often the evaluator is asked once more with the candidates
    in another order; it is shown the best ``evaluated`` by their evidence, and the others follow as
    the evidence puts them.

    ``order``: by "proof", real successes stand first, then simulated, then untested, then failed.
    As "retrieved", nothing moves a candidate but failing: what the request did not suffice to try
    is not passed by what it did. By "doubt", the former in clauses of the request of which a tool
    was called and failed or a reply was made up, the latter in the others.

    ``fresh`` and ``fresh_transient``: seconds for which a remembered trial stands in for a new one.
    """

    k: int = 5
    thorough: bool = False
    depth: int = 2
    calls: int = 20
    attempts: int = 2
    seconds: float = 60.0
    tool_seconds: float = 10.0
    result_bytes: int = 1_000_000
    concurrency: int = 8
    per_host: int = 2
    per_second: float = 5.0
    sandbox: tuple[str, ...] = ()
    prices: Mapping[str, float] = field(default_factory=dict)
    money: float = 0.0
    simulate: Simulate = "transient"
    planning: Planning = "said"
    evaluation: Evaluation = "evidence"
    shuffles: int = 0
    evaluated: int = 20
    order: Order = "doubt"
    model_calls: int = 24
    reply_chars: int = 400
    fresh: float = 24 * 3600.0
    fresh_transient: float = 60.0

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not math.isfinite(value)
            ):
                raise ConfigError(f"TrialPolicy.{name} takes a finite number, not {value!r}")
            if value < least:
                raise ConfigError(f"TrialPolicy.{name} is {value}, and must be {least:g} or more")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(
                    f"TrialPolicy.{name} is one of {', '.join(choices)}, not"
                    f" {getattr(self, name)!r}"
                )

    def in_sandbox(self, tool: Tool) -> bool:
        """Whether somebody declared that what this tool does is thrown away."""
        return any(fnmatchcase(tool.name, pattern) for pattern in self.sandbox)

    def price(self, tool: Tool) -> float:
        """What one call costs: the highest of the prices whose pattern the tool's name has."""
        return max(
            (cost for pattern, cost in self.prices.items() if fnmatchcase(tool.name, pattern)),
            default=0.0,
        )


_LEAST: dict[str, float] = {
    "k": 1, "depth": 0, "calls": 0, "attempts": 1, "seconds": 0, "tool_seconds": 0.001, "result_bytes": 1,
    "concurrency": 1, "per_host": 1, "per_second": 0.001, "money": 0, "shuffles": 0, "evaluated": 1, "model_calls": 0,
    "reply_chars": 0, "fresh": 0, "fresh_transient": 0,
}  # fmt: skip
_CHOICES: dict[str, tuple[str, ...]] = {
    "simulate": ("never", "transient", "every"),
    "planning": ("said", "model"),
    "evaluation": ("evidence", "model"),
    "order": ("doubt", "proof", "retrieved"),
}
