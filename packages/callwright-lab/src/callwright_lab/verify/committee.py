"""Several judges of one question: their majority, and how far they agree beyond chance.

A judge is any model; one that cannot be read has no vote. The majority is the label with the most
votes; where two have as many it is a tie, and what a tie means is the caller's to say. Agreement is
reported as the share of pairs of votes that are alike, as Cohen's kappa of each two judges (Cohen
1960), as Fleiss' kappa (Fleiss 1971; rows that all of them judged) and as Krippendorff's alpha
(Krippendorff 2011; any rows of two votes or more). None where it is not defined: nobody voted
twice, or all votes of all rows are alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal, TypeVar

from callwright.models.dialogue import run_dialogue
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Reply

T = TypeVar("T")
Votes = Mapping[str, str]
"""Judge -> label, of one row. "" is no vote."""

Metric = Literal["nominal", "interval"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of a committee: ``label`` with ``votes`` of ``cast``. The label is "" and ``tie`` is
    set if no label has the most votes.
    """

    label: str
    votes: int
    cast: int
    tie: bool = False


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of judges. ``rows`` have two votes or more; ``pairs``: (judge, judge) -> (share of
    equal votes, Cohen's kappa).
    """

    rows: int
    pairwise: float | None
    fleiss: float | None
    alpha: float | None
    pairs: Mapping[tuple[str, str], tuple[float, float | None]]

    def __str__(self) -> str:
        shown = [("pairwise agreement", self.pairwise), ("Fleiss' kappa", self.fleiss)]
        shown += [("Krippendorff's alpha", self.alpha)]
        told = ", ".join(
            f"{name} {value:.2f}" if value is not None else f"{name} undefined"
            for name, value in shown
        )
        return f"{told} over {self.rows} rows"


def decide_majority(votes: Votes) -> Decision:
    """The majority of the votes that were cast."""
    counted = Counter(label for label in votes.values() if label).most_common()
    if not counted:
        return Decision("", 0, 0)
    cast, (label, most) = sum(n for _, n in counted), counted[0]
    if len(counted) > 1 and counted[1][1] == most:
        return Decision("", most, cast, tie=True)
    return Decision(label, most, cast)


def measure_agreement(rows: Sequence[Votes]) -> Agreement:
    """Return the agreement of the judges of these rows."""
    told = [{judge: label for judge, label in row.items() if label} for row in rows]
    told = [row for row in told if len(row) > 1]
    alike = [a == b for row in told for a, b in combinations(row.values(), 2)]
    judges = sorted({judge for row in told for judge in row})
    pairs = {}
    for one, other in combinations(judges, 2):
        both = [(row[one], row[other]) for row in told if one in row and other in row]
        if both:
            pairs[one, other] = (
                sum(a == b for a, b in both) / len(both),
                compute_cohen_kappa(both),
            )
    whole = [list(row.values()) for row in told if len(row) == len(judges)]
    return Agreement(
        len(told), sum(alike) / len(alike) if alike else None, compute_fleiss_kappa(whole),
        compute_krippendorff_alpha([list(row.values()) for row in told]), pairs,
    )  # fmt: skip


def compute_cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two judges: (p_o - p_e) / (1 - p_e), p_e from each judge's own shares of
    labels.
    """
    count = len(pairs)
    if not count:
        return None
    observed = sum(a == b for a, b in pairs) / count
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / count**2
    return (observed - expected) / (1 - expected) if expected < 1 else None


def compute_fleiss_kappa(rows: Sequence[Sequence[str]]) -> float | None:
    """Fleiss' kappa of rows with the same number of votes, two or more."""
    if not rows or len(rows[0]) < 2:
        return None
    judges = len(rows[0])
    counts = [Counter(row) for row in rows]
    agreed = sum(
        sum(n * (n - 1) for n in c.values()) / (judges * (judges - 1)) for c in counts
    ) / len(rows)
    shares = Counter(label for row in rows for label in row)
    expected = sum((n / (len(rows) * judges)) ** 2 for n in shares.values())
    return (agreed - expected) / (1 - expected) if expected < 1 else None


def compute_krippendorff_alpha(
    rows: Sequence[Sequence[str | float]], metric: Metric = "nominal"
) -> float | None:
    """Krippendorff's alpha: 1 - observed / expected disagreement, from the coincidences of values
    within rows.

    Rows may have different numbers of votes; those with one count for nothing. ``interval``: values
    are numbers, and differ by the square of their distance.
    """
    pairable = [row for row in rows if len(row) > 1]
    coincidences: Counter[tuple[str | float, str | float]] = Counter()
    for row in pairable:
        for a, b in permutations(row, 2):
            coincidences[a, b] += 1 / (len(row) - 1)  # type: ignore[assignment]
    totals: Counter[str | float] = Counter()
    for (a, _), share in coincidences.items():
        totals[a] += share
    count = sum(totals.values())
    observed = sum(
        share * _measure_distance(a, b, metric) for (a, b), share in coincidences.items()
    )
    expected = sum(
        totals[a] * totals[b] * _measure_distance(a, b, metric) for a in totals for b in totals
    )
    return 1 - (count - 1) * observed / expected if expected else None


def _measure_distance(one: str | float, other: str | float, metric: Metric) -> float:
    if metric == "nominal":
        return float(one != other)
    return (float(one) - float(other)) ** 2


def name_judges(models: Sequence[ChatModel]) -> dict[str, ChatModel]:
    """Judges by name; a model that sits twice has a number behind its second."""
    made: dict[str, ChatModel] = {}
    for model in models:
        name, number = model.name, 2
        while name in made:
            name, number = f"{model.name} #{number}", number + 1
        made[name] = model
    return made


async def poll_judges(
    judges: Mapping[str, ChatModel],
    question: Callable[[bool, int], Generator[ChatRequest, Reply, T]],
    metered: Callable[[ChatModel], ChatModel] = lambda model: model,
) -> dict[str, T]:
    """Each judge's answer to the same question, one after the other: ``question(constrained,
    seat)`` is its dialogue, ``seat`` the judge's place from 0. ``metered`` is the model as it is
    asked, so that somebody can count.

    Raises what asking raises.
    """
    told = {}
    for seat, (name, judge) in enumerate(judges.items()):
        model = metered(judge)
        told[name] = await run_dialogue(
            question((await model.capabilities()).json_schema, seat), model.complete
        )
    return told
