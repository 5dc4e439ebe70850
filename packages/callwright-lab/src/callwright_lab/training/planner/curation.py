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
    """Result of sampling replies to one task. ``rate``: share of the replies that are gold;
    ``mean``: mean of Equation 3.
    """

    id: str
    rate: float
    mean: float
    replies: int

    @property
    def dropped(self) -> str:
        """Return the reason why reinforcement skips the task, or ""."""
        if self.rate == 1:
            return "always solved"
        if self.rate == 0:
            return "never solved"
        return ""


def measure_solved(
    example: PlanExample, replies: Sequence[str], connected: Connected = "paper"
) -> Solved:
    """Return how often these replies solve the task."""
    gold = gold_plan(example)
    found = [reward(text, example.tools, gold, connected) for text in replies]
    count = len(found)
    return Solved(
        example.id, sum(r.exact for r in found) / count, sum(r.value for r in found) / count, count
    )


def split_curated(
    examples: Iterable[PlanExample], found: Mapping[str, Solved]
) -> tuple[list[PlanExample], list[PlanExample]]:
    """(trained on, watched): those that are sometimes solved, parted 8:2 by their set of gold
    tools.
    """
    kept = [e for e in examples if e.id in found and not found[e.id].dropped]
    return [e for e in kept if not _is_watched(e)], [e for e in kept if _is_watched(e)]


def _is_watched(example: PlanExample) -> bool:
    value = hashlib.sha256(f"watched\0{example.combination}".encode()).digest()
    return int.from_bytes(value[:8], "big") % 5 == 0


# ---------------------------------------------------------------- on disk


def append_solved(path: Path, one: Solved) -> None:
    """Add what became of one task: a run that was ended asks only about the rest."""
    lines.append_rows(path, [{**asdict(one), "dropped": one.dropped}])


def read_solved(path: Path, *, may_cut: bool = False) -> dict[str, Solved]:
    """Return the results of the tasks sampled so far, by task id. ``may_cut`` cuts off a last line
    that was not written to its end, before others are added.
    """
    if not path.is_file():
        return {}
    found = lines.read_rows(
        path, _parse_solved, what="solved task", hint="delete it to ask again", cut=True
    )
    if may_cut:
        lines.write_rows(path, ({**asdict(s), "dropped": s.dropped} for s in found))
    return {s.id: s for s in found}


def _parse_solved(row: JsonObject) -> Solved:
    return Solved(str(row["id"]), float(row["rate"]), float(row["mean"]), int(row["replies"]))


def report_curation(examples: Sequence[PlanExample], found: Mapping[str, Solved]) -> str:
    """Return a Markdown report: the dropped tasks with reasons, and how often the others are
    solved.
    """
    mine = [found[e.id] for e in examples if e.id in found]
    trained, watched = split_curated(examples, found)
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
