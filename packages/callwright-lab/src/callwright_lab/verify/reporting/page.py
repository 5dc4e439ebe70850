"""A sweep as a page: kept and dropped, reasons ranked, how far judges agree, what it cost, then
every finding.

What is told of a single finding is the stage's to say (:mod:`callwright_lab.verify.reporting.evidence`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from callwright.viewer import Bar, Bars, Item, Part, Report, Table
from callwright_lab.verify.budget import Budget, Cost
from callwright_lab.verify.committee import measure_agreement
from callwright_lab.verify.reporting.report import count_categories
from callwright_lab.verify.sweep import Finding, Sweep

_REASONS = 20  # that are ranked


@dataclass(frozen=True, slots=True)
class Stage:
    """Content of one stage's page, beyond its sweep.

    ``evidence`` renders a finding, ``reasons`` names why it was dropped or doubted, ``votes`` are
    those of its judges. ``parts`` follow the tables that all stages have. ``shown`` is the part of
    a finding that is not folded. ``cost`` is that of all rows, if the shown findings do not hold
    it.
    """

    title: str
    evidence: Callable[[Finding], Sequence[Part]]
    reasons: Callable[[Finding], Iterable[str]]
    votes: Callable[[Finding], Mapping[str, str]] = lambda _: {}
    parts: Sequence[Part] = ()
    shown: Callable[[Finding], Sequence[Part]] = lambda _: ()
    budget: Budget = field(default_factory=Budget)
    cost: Cost | None = None


def build_sweep_report(made: Sweep, stage: Stage) -> Report:
    """The report of a sweep, for :func:`callwright.viewer.report_page`."""
    parts = [
        _build_category_bars(made),
        *_iter_reason_bars(made, stage),
        *stage.parts,
        *_iter_judge_tables(made, stage),
    ]
    items = [
        Item(
            f.id,
            f.kept,
            f.category,
            f.why,
            (*stage.evidence(f), *_iter_cost_parts(f)),
            stage.shown(f),
        )
        for f in made.findings
    ]
    return Report(stage.title, _collect_facts(made, stage), parts, items, _describe_remaining(made))


def _collect_facts(made: Sweep, stage: Stage) -> dict[str, str]:
    judged, kept, now, budget = len(made.findings), len(made.kept), made.cost, stage.budget
    whole = stage.cost or sum((one.cost for one in made.findings), Cost())
    facts = {
        "kept": f"{kept:,} of {judged:,}" + (f" ({kept / judged:.1%})" if judged else ""),
        "from the journal": f"{made.again:,}",
        "calls of tools": _render_spent(whole.calls, now.calls, budget.calls),
        **({"of these sent again": f"{whole.repeats:,}"} if whole.repeats else {}),
        "model calls": _render_spent(whole.model_calls, now.model_calls, budget.model_calls),
        "tokens in / out": f"{whole.usage.prompt_tokens:,} / {whole.usage.completion_tokens:,}",
        "seconds of models": f"{whole.seconds:,.0f}",
    }
    if budget.minutes is not None:
        facts["minutes allowed"] = f"{budget.minutes:g}"
    return facts


def _render_spent(whole: int, now: int, most: int | None) -> str:
    """Return the cost of all rows, and how much of its allowance this sweep spent."""
    if most is None and whole == now:
        return f"{whole:,}"
    return f"{whole:,}; now {now:,}" + ("" if most is None else f" of {most:,} allowed")


def _describe_remaining(made: Sweep) -> str:
    if not made.left:
        return ""
    why = made.stopped or "it was stopped"
    return f"{len(made.left):,} rows are left to judge: {why}. The same command goes on with them."


def _build_category_bars(made: Sweep) -> Bars:
    place: dict[tuple[bool, str], int] = {}
    for at, one in enumerate(made.findings):
        place.setdefault((one.kept, one.category), at)
    bars = []
    for line in count_categories(made.findings):
        kept = line.verdict == "kept"
        name = f"{line.verdict}: {line.category}" if line.category else line.verdict
        at = place[kept, line.category]
        bars.append(Bar(name, line.rows, _outcome_of(line.verdict), made.findings[at].id, at))
    return Bars("Kept and dropped, by category", "category", bars, len(made.findings))


def _outcome_of(verdict: str) -> str:
    if verdict == "kept":
        return "ok"
    return "failed" if verdict == "dropped" else "skipped"


def _iter_reason_bars(made: Sweep, stage: Stage) -> Iterator[Bars]:
    rows: Counter[str] = Counter()
    place: dict[str, int] = {}
    for at, one in enumerate(made.findings):
        for reason in dict.fromkeys(stage.reasons(one)):
            rows[reason] += 1
            place.setdefault(reason, at)
    if not rows:
        return
    bars = [
        Bar(name, count, "skipped", made.findings[place[name]].id, place[name])
        for name, count in rows.most_common(_REASONS)
    ]
    note = "A row may have several reasons."
    if len(rows) > _REASONS:
        note += f" {len(rows) - _REASONS} rarer ones are not in this table."
    yield Bars("Reasons, the most frequent first", "reason", bars, len(made.findings), note)


def _iter_judge_tables(made: Sweep, stage: Stage) -> Iterator[Table]:
    votes = [vote for one in made.findings if (vote := stage.votes(one))]
    if not votes:
        return
    judges = sorted({judge for row in votes for judge in row})
    labels = sorted({label for row in votes for label in row.values()})
    counts = Counter((judge, label) for row in votes for judge, label in row.items())
    heads = ["judge", *(label or "no vote that can be read" for label in labels)]
    rows = [[judge, *(f"{counts[judge, label]:,}" for label in labels)] for judge in judges]
    yield Table("Judges: their votes", heads, rows, f"{len(votes):,} rows were put to judges.")
    if len(judges) < 2:
        return
    found = measure_agreement(votes)
    pairs = [
        [f"{one} and {other}", f"{share:.1%}", "undefined" if kappa is None else f"{kappa:.2f}"]
        for (one, other), (share, kappa) in found.pairs.items()
    ]
    note = f"{found}. Below an alpha of 0.67 a verdict is a hint."
    yield Table("Judges: how far they agree", ["judges", "alike", "Cohen's kappa"], pairs, note)


def _iter_cost_parts(finding: Finding) -> Iterator[Part]:
    cost = finding.cost
    if cost.calls or cost.model_calls:
        row = [
            "this row",
            f"{cost.calls:,}",
            f"{cost.model_calls:,}",
            f"{cost.usage.total:,}",
            f"{cost.seconds:.1f}",
        ]
        yield Table(
            "What it cost", ["", "calls", "model calls", "tokens", "seconds of models"], [row]
        )


def build_histogram(title: str, scores: Iterable[int], least: int, highest: int = 10) -> Bars:
    """Return a histogram of the scores from 1 to ``highest``; scores from ``least`` on are marked
    as kept.
    """
    counts = Counter(scores)
    bars = [
        Bar(str(score), counts[score], "ok" if score >= least else "failed")
        for score in range(1, highest + 1)
    ]
    bars += [Bar("none", counts[0], "idle")] if counts[0] else []
    return Bars(title, "score", bars, sum(counts.values()), f"Kept from {least} on.", noted="")
