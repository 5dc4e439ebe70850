"""Defines the result of tool probing: a new order of the candidates, each with its findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from callwright.nouns.types import to_json

if TYPE_CHECKING:
    from callwright.tools.evidence import Observation, Outcome


Relevance: TypeAlias = Literal["relevant", "general", "irrelevant", "unsure"]
"""Of a reply: about the request; the same for every request, such as a list of all genres; about
something else; or nobody can tell.
"""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its new place. ``initial`` and ``final`` count from 1.

    ``outcome`` is None for a tool that was not tried, or whose trial proved nothing either way.
    ``simulated``: no real call of it succeeded; the success is that of a made-up reply, which is no
    proof. ``seconds`` is the latency of the real call; ``about``: that call or its reply holds
    something of the request, and no ``share`` speaks against it. ``relevance`` is that of a real
    reply, and ``share`` how often one as similar to its request is right (None: not measured).
    ``clause`` is the part of the request that it fits. ``called``: a real
    call of it was made, now or before; ``fed_by``: tools whose replies that call was made of.
    """

    name: str
    initial: int
    final: int
    outcome: Outcome | None = None
    simulated: bool = False
    justification: str = ""
    score: float = 0.0
    seconds: float | None = None
    clause: int = 0
    about: bool = True
    called: bool = False
    fed_by: tuple[str, ...] = ()
    relevance: Relevance | None = None
    share: float | None = None

    @property
    def works(self) -> bool:
        """Return True if a real call of the tool succeeded."""
        return self.outcome == "functional_success" and not self.simulated

    @property
    def failed(self) -> bool:
        """Return True if probing proved that the tool does not serve this request."""
        return self.outcome is not None and self.outcome != "functional_success"


@dataclass(frozen=True, slots=True)
class Trials:
    """Candidates in their final order, and all that was observed on the way.

    ``calls`` are calls that left for a real tool; ``tried`` are candidates about which something
    was observed, now or (``remembered``) before. ``agreement`` is the share of pairs of candidates
    that the model's evaluator put the same way whatever order it was shown them in; None where it
    was not asked more than once. ``problems`` says what was left undone, and why.
    """

    ranking: tuple[Ranked, ...]
    observations: tuple[Observation, ...] = ()
    calls: int = 0
    tried: int = 0
    remembered: int = 0
    model_calls: int = 0
    seconds: float = 0.0
    agreement: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The tools, best first."""
        return tuple(one.name for one in self.ranking)

    def shortlist(self, k: int) -> tuple[str, ...]:
        """The first ``k`` tools, without those that were shown not to serve this request."""
        return tuple(one.name for one in self.ranking if not one.failed)[:k]

    def case_study(self, most: int | None = None) -> str:
        """The ranking as a Markdown table (GRETEL, Table 5); a tool that does not serve has no
        final rank. ``most``: only the first so many.
        """
        rows = [
            (
                str(one.initial),
                "n/a" if one.failed else str(one.final),
                one.name,
                one.justification or "not reached",
            )
            for one in self.ranking[:most]
        ]
        head = ("Initial", "Final", "Tool", "Trial result")
        lines = [head, ("---:", "---:", "---", "---"), *rows]
        return "\n".join("| " + " | ".join(map(_format_cell, line)) + " |" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """The trials as JSON."""
        made: dict[str, Any] = to_json(self)
        return made


def _format_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
