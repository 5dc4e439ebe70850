"""Measures the sequence group on gold sequences of public data: harm, and recovery from injected
disorder.

``python -m tests.benchmarks.refine.measure_sequence [nestful …]`` in packages/callwright-lab. Tools
count as read-only, or no producer could be added. Prints, for each source, right / changed for the
worse / reported or left alone.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from dataclasses import replace

from callwright.nouns.types import READ, Json, ToolCall, to_canonical_json
from callwright.repair.ordering.references import (
    Reference,
    find_call_references,
    rewrite_references,
)
from callwright.repair.ordering.sequence import OrderedCalls, order
from tests.benchmarks.refine.sequence_data import Case, gold_cases

SOURCES = ("nestful", "complexfuncbench", "nestools", "seal_tools")


def main() -> None:
    for source in sys.argv[1:] or SOURCES:
        counts: Counter[str] = Counter()
        for case in gold_cases(source):
            measure(
                replace(case, tools=tuple(replace(t, effects=READ) for t in case.tools)), counts
            )
        print(source, {k: counts[k] for k in sorted(counts)}, flush=True)  # noqa: T201


def measure(case: Case, counts: Counter[str]) -> None:
    """Count what becomes of one case, right and in every kind of disorder."""
    done = order(case.calls, case.tools, query=case.query)
    counts["gold"] += 1
    counts["gold harmed"] += done.calls != case.calls
    counts["gold reported"] += bool(done.problems)
    refs = find_call_references(case.calls, case.tools, case.query)
    if not refs or done.edits or done.problems or not sound(case.calls, case):
        return
    rng = random.Random(case.query)
    ref = rng.choice(refs)
    mixed = rng.sample(case.calls, len(case.calls))
    if not sound(tuple(mixed), case):
        done = order(mixed, case.tools, query=case.query)
        count(counts, "shuffled", done, alike(done.calls, case.calls) and sound(done.calls, case))
    for kind, label in wrong_labels(case, ref, rng):
        calls = list(case.calls)
        calls[ref.call] = rewrite_references(calls[ref.call], [(ref, ref.renamed(label))])
        done = order(calls, case.tools, query=case.query)
        count(counts, kind, done, alike(done.calls, case.calls))
    maker = next((i for i, c in enumerate(case.calls) if ref.label in labels(c)), None)
    if maker is None:
        return
    calls = list(case.calls)
    calls[maker] = replace(calls[maker], id="")
    done = order(calls, case.tools, query=case.query)
    named = {r.label for r in refs} <= {x for c in done.calls for x in labels(c)}
    count(counts, "label lost", done, named and alike(done.calls, case.calls, ids=False))
    done = order([*case.calls[:maker], *case.calls[maker + 1 :]], case.tools, query=case.query)
    count(counts, "producer removed", done, restored(done, case, case.calls[maker]))


def labels(call: ToolCall) -> list[str]:
    return call.id.split()


def wrong_labels(case: Case, ref: Reference, rng: random.Random) -> list[tuple[str, str]]:
    others = [
        x
        for c in case.calls
        for x in labels(c)
        if x != ref.label and x not in labels(case.calls[ref.call])
    ]
    unknown = re.sub(r"\d+", "97", ref.label)
    return [
        ("label nobody has", unknown),
        *([("label of another", rng.choice(others))] if others else []),
    ]


def alike(made: tuple[ToolCall, ...], gold: tuple[ToolCall, ...], ids: bool = True) -> bool:
    """The same calls, in any order that is sound."""

    def key(call: ToolCall) -> str:
        return to_canonical_json([call.tool, call.arguments, call.id if ids else ""])

    return sorted(map(key, made)) == sorted(map(key, gold))


def restored(done: OrderedCalls, case: Case, gone: ToolCall) -> bool:
    """Whether the removed call is back with its required arguments, and nothing else came."""
    tool = next(t for t in case.tools if t.name == gone.tool)
    assert isinstance(gone.arguments, dict)
    wanted = [plainly(gone.arguments.get(k)) for k in tool.required]
    back = any(
        c.tool == gone.tool
        and isinstance(c.arguments, dict)
        and [plainly(c.arguments.get(k)) for k in tool.required] == wanted
        for c in done.calls
    )
    return back and len(done.calls) == len(case.calls)


def plainly(value: Json) -> str:
    """A value without regard to case; 28 and 28.0 are one number."""
    whole = isinstance(value, float) and value.is_integer()
    return to_canonical_json(int(value) if whole else value).lower()


def sound(calls: tuple[ToolCall, ...], case: Case) -> bool:
    """Whether every call comes after those it refers to."""
    known = {x for c in calls for x in labels(c)}
    seen: set[str] = set()
    found = find_call_references(calls, case.tools, case.query)
    for i, call in enumerate(calls):
        if any(r.call == i and r.label in known and r.label not in seen for r in found):
            return False
        seen |= set(labels(call))
    return True


def count(counts: Counter[str], kind: str, done: OrderedCalls, right: bool) -> None:
    counts[kind] += 1
    outcome = (
        "right"
        if right
        else "worse"
        if done.edits
        else "reported"
        if done.problems
        else "left alone"
    )
    counts[f"{kind}: {outcome}"] += 1


if __name__ == "__main__":
    main()
