"""Curation of what is reinforced on (Beyond ReAct, RL Training Set Curation).

The model after SFT answers every task several times. A task that it always solves teaches nothing,
one that it never solves is out of reach; both are dropped. The others are kept with their solve
rate. Solved is an identical plan.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from callwright.nouns.types import JsonObject
from callwright.storage import lines
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.files import gold_plan
from callwright_lab.training.planner.reward import Connected, reward


@dataclass(frozen=True, slots=True)
class Solved:
    """What became of the replies to one task. ``rate``: share of them that are gold; ``mean``: of
    Eq. (3).
    """

    id: str
    rate: float
    mean: float
    replies: int

    @property
    def dropped(self) -> str:
        """Why the task is not reinforced on, or ""."""
        if self.rate == 1:
            return "always solved"
        if self.rate == 0:
            return "never solved"
        return ""


def solved(example: PlanExample, replies: Sequence[str], connected: Connected = "paper") -> Solved:
    """How often these replies solve the task."""
    gold = gold_plan(example)
    found = [reward(text, example.tools, gold, connected) for text in replies]
    count = len(found)
    return Solved(
        example.id, sum(r.exact for r in found) / count, sum(r.value for r in found) / count, count
    )


def curated(
    examples: Iterable[PlanExample], found: Mapping[str, Solved]
) -> tuple[list[PlanExample], list[PlanExample]]:
    """(trained on, watched): those that are sometimes solved, parted 8:2 by their set of gold
    tools.
    """
    kept = [e for e in examples if e.id in found and not found[e.id].dropped]
    return [e for e in kept if not _watched(e)], [e for e in kept if _watched(e)]


def _watched(example: PlanExample) -> bool:
    value = hashlib.sha256(f"watched\0{example.combination}".encode()).digest()
    return int.from_bytes(value[:8], "big") % 5 == 0


# ---------------------------------------------------------------- on disk


def keep(path: Path, one: Solved) -> None:
    """Add what became of one task: a run that was ended asks only about the rest."""
    lines.append(path, [{**asdict(one), "dropped": one.dropped}])


def known(path: Path) -> dict[str, Solved]:
    """What became of tasks so far, by their ids."""
    if not path.is_file():
        return {}
    found = lines.read(path, _solved, what="solved task", hint="delete it to ask anew", cut=True)
    lines.write(path, ({**asdict(s), "dropped": s.dropped} for s in found))
    return {s.id: s for s in found}


def _solved(row: JsonObject) -> Solved:
    return Solved(str(row["id"]), float(row["rate"]), float(row["mean"]), int(row["replies"]))


def report(examples: Sequence[PlanExample], found: Mapping[str, Solved]) -> str:
    """How many tasks were dropped and why, and how often the others are solved, as Markdown."""
    mine = [found[e.id] for e in examples if e.id in found]
    trained, watched = curated(examples, found)
    reasons = Counter(s.dropped for s in mine if s.dropped)
    rows: list[tuple[str, int]] = [("asked about", len(mine)), *sorted(reasons.items())]
    rows += [("kept, trained on", len(trained)), ("kept, watched", len(watched))]
    rates = Counter(f"solved {s.rate:.2f} of the time" for s in mine if not s.dropped)
    return "\n".join(
        [
            "| tasks | |",
            "|---|---|",
            *(f"| {k} | {n} |" for k, n in [*rows, *sorted(rates.items())]),
        ]
    )
