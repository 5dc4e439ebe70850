"""Benchmarks the answer check: how many false statements it catches, and how many true ones it
accepts.

``callwright bench statements [--half tune|test|all] [--verbose]`` checks planted statements over
made-up tool results (``scenes/``, a file each). The set was written before the check was tuned, and is split in two
halves by hash: ``tune`` may be looked at, ``test`` is only reported. Kinds of false statements: *number* changed,
right value of the wrong *entity*, unsupported *claim* without a number, swapped *unit*. Everything else is true.
``--set derived`` checks a second set: only numbers that follow from the results by a calculation, true and false.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from callwright.grounding import check_statement, facts_of
from callwright.grounding.facts import Facts
from callwright.jsontext import parse
from callwright.nouns.types import JsonObject, ToolResult, compute_digest, to_json

SETS = {"planted": "scenes", "derived": "scenes_derived"}
FALSE = ("number", "entity", "claim", "unit")
_FIELDS = ("id", "tool", "arguments", "content", "failure", "seconds", "slot", "attempt")
DIGEST = "99250b2ef6ca06df"  # of the whole set, frozen before the check was tuned


@dataclass(frozen=True, slots=True)
class Case:
    """One planted statement."""

    scene: str
    kind: str
    text: str

    @property
    def false(self) -> bool:
        return self.kind in FALSE

    @property
    def half(self) -> str:
        return "test" if int(compute_digest([self.scene, self.text]), 16) % 2 else "tune"


@dataclass(frozen=True, slots=True)
class Scene:
    """A question, what the tools replied, and statements about it."""

    name: str
    query: str
    results: tuple[ToolResult, ...]
    cases: tuple[Case, ...]


def read_scenes(name: str = "planted") -> tuple[Scene, ...]:
    """Every scene of a set ("planted" or "derived"), in the order of its files."""
    found = [
        f
        for f in files("callwright_lab.benchmarks.statements").joinpath(SETS[name]).iterdir()
        if f.name.endswith(".json")
    ]
    return tuple(_build_scene(parse(f.read_bytes())) for f in sorted(found, key=lambda f: f.name))


def _build_scene(told: Any) -> Scene:
    results = tuple(
        ToolResult(f"r{i}", r["tool"], r["arguments"], r["content"])
        for i, r in enumerate(told["results"], 1)
    )
    cases = tuple(Case(told["name"], kind, text) for kind, text in told["statements"])
    return Scene(told["name"], told["query"], results, cases)


def digest_set(name: str = "planted") -> str:
    """Changes when any result or statement of the set changes, and not when results come to have
    more fields.
    """
    return compute_digest(
        [
            [s.name, s.query, [_freeze_result(r) for r in s.results], s.cases]
            for s in read_scenes(name)
        ]
    )


def _freeze_result(result: ToolResult) -> JsonObject:
    """A result in the fields that results had when the set was frozen."""
    return {name: to_json(getattr(result, name)) for name in _FIELDS}


@dataclass
class Scores:
    """Counts per kind: how many statements, how many were flagged."""

    total: Counter[str]
    flagged: Counter[str]
    wrong: list[tuple[Case, str]]
    seconds: list[float]

    def rate(self, *kinds: str) -> float:
        total = sum(self.total[k] for k in kinds)
        return sum(self.flagged[k] for k in kinds) / total if total else 0.0

    @property
    def true_kinds(self) -> tuple[str, ...]:
        return tuple(k for k in self.total if k not in FALSE)


def score_statements(half: str = "all", name: str = "planted") -> Scores:
    """Check every statement of one half ("tune", "test") or of both ("all") of a set."""
    scores = Scores(Counter(), Counter(), [], [])
    for scene in read_scenes(name):
        facts = facts_of(scene.query, scene.results)
        for case in scene.cases:
            if half in ("all", case.half):
                _score_case(case, facts, scores)
    return scores


def _score_case(case: Case, facts: Facts, scores: Scores) -> None:
    started = time.perf_counter()
    verdict = check_statement(case.text, facts)
    scores.seconds.append(time.perf_counter() - started)
    flagged = verdict.support == "unsupported"
    scores.total[case.kind] += 1
    scores.flagged[case.kind] += flagged
    if flagged != case.false:
        scores.wrong.append((case, "; ".join(verdict.problems or verdict.derived)))


def render_report(scores: Scores, half: str, name: str = "planted") -> str:
    """The table, as text."""
    lines = [f"set {digest_set(name)}, half: {half}, {sum(scores.total.values())} statements"]
    for kind in (*FALSE, *sorted(scores.true_kinds)):
        word = "caught" if kind in FALSE else "false alarms"
        lines.append(
            f"  {kind:8} {scores.flagged[kind]:4} of {scores.total[kind]:4} {word}"
            f" ({scores.rate(kind):.1%})"
        )
    true = scores.true_kinds
    p50, longest = sorted(scores.seconds)[len(scores.seconds) // 2] * 1e3, max(scores.seconds) * 1e3
    lines += [
        (
            f"  number + entity caught: {scores.rate('number', 'entity'):.1%}   claim + unit"
            f" caught: {scores.rate('claim', 'unit'):.1%}   false alarms on"
            f" {sum(scores.total[k] for k in true)} true: {scores.rate(*true):.1%}"
        ),
        f"  p50 {p50:.2f} ms, max {longest:.2f} ms a check",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m callwright_lab.benchmarks.statements.bench", description=__doc__
    )
    parser.add_argument("--half", choices=("tune", "test", "all"), default="all")
    parser.add_argument("--set", choices=tuple(SETS), default="planted", dest="name")
    parser.add_argument(
        "--verbose", action="store_true", help="list what went wrong (never with the test half)"
    )
    options = parser.parse_args(arguments)
    scores = score_statements(options.half, options.name)
    lines = [render_report(scores, options.half, options.name)]
    if options.verbose and (options.half == "tune" or options.name != "planted"):
        grouped: dict[str, list[str]] = defaultdict(list)
        for case, why in scores.wrong:
            grouped[case.kind].append(f"    {case.scene}: {case.text}  [{why}]")
        lines += [line for kind in sorted(grouped) for line in (f"  {kind}:", *grouped[kind])]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
