"""Profiles a learner's errors: their frequency by kind, by tool called, with an example of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from callwright.nouns.types import JsonObject
from callwright.viewer import Table
from callwright_lab.metrics import Interval, wilson_interval
from callwright_lab.verify.sweep import Finding, Sweep

UNJUDGED = frozenset(
    {
        "not carried out",
        "failed for another reason",
        "cannot be told",
        "in doubt",
        "the verified call does otherwise now",
    }
)
"""Categories that say nothing of the learner."""

_RIGHT = frozenset({"right", "as good"})
_EXAMPLE = 120  # characters


@dataclass(frozen=True, slots=True)
class Errors:
    """One kind of error at the verified calls of one tool. ``of``: the samples judged there,
    ``requests`` theirs.

    ``share`` is ``times / of`` with a 95 % interval (Wilson's) that counts the samples of one
    request as one trial, for they are not independent.
    """

    kind: str  # calling | planning | no call | stumbled
    error: str
    tool: str
    times: int
    of: int
    requests: int
    share: Interval
    example: str


@dataclass(frozen=True, slots=True)
class Profile:
    """An exploration's errors. ``kinds``: by kind alone, over all tools; ``lines``: the most
    frequent first.
    """

    points: int
    requests: int
    samples: int
    distinct: int  # actions
    judged: int
    right: int
    kinds: tuple[Errors, ...]
    lines: tuple[Errors, ...]

    @property
    def summary(self) -> str:
        """Return one line with the number of samples and their judgements."""
        told = "; ".join(f"{one.kind} {_render_rate(one)}" for one in self.kinds)
        return (
            f"{self.samples} samples at {self.points} points of {self.requests} requests,"
            f" {self.distinct} different actions; {self.judged} samples could be judged: right or"
            f" as good {self.right}" + (f"; {told}" if told else "")
        )

    @property
    def table(self) -> Table:
        """The lines as a table, the summary as its note."""
        heads = (
            "kind",
            "error",
            "verified call",
            "times",
            "share, 95 %",
            "requests",
            "for example",
        )
        rows = [
            (
                one.kind,
                one.error,
                one.tool,
                f"{one.times} of {one.of}",
                _render_interval(one),
                str(one.requests),
                one.example,
            )
            for one in self.lines
        ]
        return Table("What the learner does wrong", heads, rows, self.summary)


@dataclass(frozen=True, slots=True)
class _Sample:
    """One different action, ``times`` of the samples."""

    request: str
    tool: str
    kind: str
    error: str
    times: int
    example: str


def profile_errors(made: Sweep) -> Profile:
    """The profile of an exploration's findings
    (:class:`callwright_lab.reflection.exploration.Explorer`).
    """
    explored = [
        finding for finding in made.findings if "tool" in finding.found
    ]  # what is harvested is no sample
    actions = [(finding, one) for finding in explored for one in finding.found["actions"]]
    judged = [
        _build_sample(finding, one) for finding, one in actions if one["category"] not in UNJUDGED
    ]
    wrong = [one for one in judged if one.kind]
    pairs = Counter[tuple[str, str, str]]()
    for one in wrong:
        pairs[one.kind, one.error, one.tool] += one.times
    lines = [
        _count_errors(judged, kind, error, tool) for (kind, error, tool), _ in pairs.most_common()
    ]
    kinds = [_count_errors(judged, kind) for kind in dict.fromkeys(one.kind for one in wrong)]
    return Profile(
        points=len(explored),
        requests=len({_extract_request_id(finding) for finding in explored}),
        samples=sum(one["times"] for _, one in actions),
        distinct=len(actions),
        judged=sum(one.times for one in judged),
        right=sum(one.times for one in judged if not one.kind),
        kinds=tuple(sorted(kinds, key=lambda one: -one.times)),
        lines=tuple(lines),
    )


def _extract_request_id(finding: Finding) -> str:
    return finding.id.rpartition("@")[0]


def _build_sample(finding: Finding, one: JsonObject) -> _Sample:
    kind, _, error = str(one["error"]).partition(": ")
    if not kind and one["category"] not in _RIGHT:
        kind, error = (
            ("stumbled", "after the verified call")
            if "stumbled" in one["category"]
            else ("no call", "")
        )
        error = error or one["why"].partition(":")[0]
    told = [part for part in (str(one["tried"]), str(one["came"] or one["why"])) if part]
    example = " ".join(" → ".join(told).split())
    short = example if len(example) <= _EXAMPLE else f"{example[: _EXAMPLE - 1]}…"
    return _Sample(
        _extract_request_id(finding),
        str(finding.found.get("tool", "")),
        kind,
        error,
        one["times"],
        short,
    )


def _count_errors(judged: Iterable[_Sample], kind: str, error: str = "", tool: str = "") -> Errors:
    """The count of a kind; with ``error``, of this one at the calls of ``tool``."""
    there = [one for one in judged if not error or one.tool == tool]
    hits = [one for one in there if one.kind == kind and (not error or one.error == error)]
    times, of = sum(one.times for one in hits), sum(one.times for one in there)
    requests = len({one.request for one in there})
    share = wilson_interval(times / of * requests, requests)
    return Errors(kind, error, tool, times, of, requests, share, next(_iter_examples(hits), ""))


def _iter_examples(hits: Iterable[_Sample]) -> Iterator[str]:
    """The examples, that of the action which came most often first."""
    yield from (one.example for one in sorted(hits, key=lambda one: -one.times))


def _render_rate(one: Errors) -> str:
    return f"{one.times} ({_render_interval(one)})"


def _render_interval(one: Errors) -> str:
    return f"{one.share.value:.0%}, {one.share.low:.0%} to {one.share.high:.0%}"
