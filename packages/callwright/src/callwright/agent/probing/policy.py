"""Defines the permissions and the limits of tool probing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool

Simulate = Literal["never", "transient", "every", "only"]
Planning = Literal["said", "model"]
Evaluation = Literal["evidence", "model"]
Order = Literal["doubt", "proof", "retrieved"]
EVALUATED = 20  # candidates that the evaluator is shown, with the smallest profile


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """Limits of probing. See :class:`TrialPolicy`, which holds these settings too."""

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


@dataclass(frozen=True, slots=True)
class TrialQuestions(TrialLimits):
    """Questions that a model is asked in probing. See :class:`TrialPolicy`, which holds these
    settings too.

    ``planning`` and ``evaluation`` with a model ask the paper's Planner and Evaluator prompts
    (GRETEL, Table 1). ``shuffles``: how often the evaluator is asked once more with the candidates
    in another order. It is shown the best ``evaluated`` by their evidence, and the others follow in
    the order of the evidence. Unless it is changed, a larger profile of the model shows more.

    ``model_calls`` are the questions of one request. ``evaluator_share`` of them is kept for the
    evaluator, so that the planner's questions cannot spend it. What a part leaves is free for those
    that ask after it.
    """

    planning: Planning = "said"
    evaluation: Evaluation = "evidence"
    shuffles: int = 0
    evaluated: int = EVALUATED
    model_calls: int = 24
    evaluator_share: float = 0.25
    reply_chars: int = 400


@dataclass(frozen=True, slots=True)
class TrialPolicy(TrialQuestions):
    """Settings of tool probing. Raises ConfigError for a number that limits nothing by mistake.

    Harm: only tools that are declared to read are called. ``sandbox`` are shell patterns on tool
    names (``*`` for all). Such tools act on something that is thrown away (a dry run, a test
    server, a copy). They may therefore be probed although they may write. ``per_host`` calls at a
    time and ``per_second`` calls a second reach one host (one tool source). ``prices`` (pattern ->
    cost of a call, in any one currency) are spent from ``money``. A tool with a price is not called
    once that is spent, so by default not at all. A price of 0 declares a tool free: only then, or
    in a sandbox, may a guessed value be sent to a tool that reaches outside (``open_world``). A
    stateful tool is tried on what ``sandbox`` declares, such as a snapshot of its state, or not at
    all.

    Extent: probing ends when the first ``k`` are decided
    (:mod:`callwright.agent.probing.selection`); ``thorough`` tries every candidate. ``depth`` is
    how many tools may stand before another in a chain. ``attempts`` is how many calls one tool
    gets: with the first values for its parameters, then with the next best.

    ``simulate`` says when a reply is simulated. "transient": after a failure that says nothing of
    the tool, and where the tool may not be probed. "every": after any error, which is the paper's
    rule. "only": no tool is called, and every reply is simulated. Or "never".

    ``order``: by "proof", real successes stand first, then simulated, then untested, then failed.
    As "retrieved", only a failure moves a candidate: a success does not overtake a candidate for
    which the request gave too little input. By "doubt", the former holds in clauses of which a tool
    was called and failed, or a reply was simulated. The latter holds in the other clauses.

    ``fresh`` and ``fresh_transient``: seconds for which a remembered probe replaces a new one.
    """

    sandbox: tuple[str, ...] = ()
    prices: Mapping[str, float] = field(default_factory=dict)
    money: float = 0.0
    simulate: Simulate = "transient"
    order: Order = "doubt"
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
        if self.evaluator_share > 1:
            raise ConfigError("TrialPolicy.evaluator_share is a share of the questions, at most 1")
        for pattern, cost in self.prices.items():
            if not 0 <= cost < math.inf:
                raise ConfigError(f"TrialPolicy.prices: {pattern} cannot cost {cost!r}")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(
                    f"TrialPolicy.{name} is one of {', '.join(choices)}, not"
                    f" {getattr(self, name)!r}"
                )

    def in_sandbox(self, tool: Tool) -> bool:
        """Return True if this tool is declared to act in a sandbox."""
        return any(fnmatchcase(tool.name, pattern) for pattern in self.sandbox)

    def price(self, tool: Tool) -> float:
        """Return the price of one call: the highest of the prices whose pattern matches the tool's
        name.
        """
        return max(self._prices_of(tool), default=0.0)

    def is_free(self, tool: Tool) -> bool:
        """Return True if a price of 0 is declared for this tool, and no higher one."""
        prices = list(self._prices_of(tool))
        return bool(prices) and max(prices) == 0

    def _prices_of(self, tool: Tool) -> Iterator[float]:
        return (cost for pattern, cost in self.prices.items() if fnmatchcase(tool.name, pattern))


_LEAST: dict[str, float] = {
    "k": 1, "depth": 0, "calls": 0, "attempts": 1, "seconds": 0, "tool_seconds": 0.001, "result_bytes": 1,
    "concurrency": 1, "per_host": 1, "per_second": 0.001, "money": 0, "shuffles": 0, "evaluated": 1, "model_calls": 0,
    "evaluator_share": 0, "reply_chars": 0, "fresh": 0, "fresh_transient": 0,
}  # fmt: skip
_CHOICES: dict[str, tuple[str, ...]] = {
    "simulate": ("never", "transient", "every", "only"),
    "planning": ("said", "model"),
    "evaluation": ("evidence", "model"),
    "order": ("doubt", "proof", "retrieved"),
}
