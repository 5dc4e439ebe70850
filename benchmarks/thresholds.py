"""Measure confidences and cuts again, for the files ``data/thresholds.toml`` of the core's rooms.

``python benchmarks/thresholds.py MEASUREMENT``:

* ``rules``: for every edit rule how often the calls came out right where it edited. ``alone``
  counts the replies in which no other guessing rule edited: their share is the measured confidence.
* ``made``: the same for right calls, spoiled in classes that the corruption board lacks.
* ``several`` and ``waiting``: the signs of more wishes on BFCL, and of tools that have to wait on
  API-Bank.
* ``recorded FILE...``: what the edits fixed and broke in recorded replies.
* ``links CUT...``: the links between gold tools, compared with gold's edges.
* ``twins CUT...``: how many pairs of the desk's tools are alike.
* ``echo CUT...``: how many planted statements repeat their question.
* ``relevance``: how similar right and wrong replies are to their requests, and what the cuts do.

``python benchmarks/thresholds.py NAME VALUE...`` sweeps one threshold of ``callwright.repair``:
spoiled calls that are repaired, replies that are wrong without a word, and right calls that are
changed, at each value. ``planning:NAME VALUE...`` sweeps one of ``callwright.planning`` with
``bench plan``. Spoiled calls are those of the corruption board (BFCL v4, ``--count`` a class);
right calls are those of ``callwright bench harm``, about ``--right`` of them, native. ``--data`` is
the folder of data sets, ``--read-only`` as on the board.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import permutations, product
from math import exp
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from callwright.nouns import thresholds
from callwright.nouns.types import Tool
from callwright_lab.benchmarks.refine.task import Examination

SOURCES = ("nestools", "seal_tools", "nestful", "complexfuncbench", "tmdb_links")
LOSSLESS = frozenset(
    """date_spelling drop_null drop_unknown empty_arguments fresh_id integral list_to_single
    mend_json number_to_text option_spelling rename_key single_to_list text_to_boolean text_to_null
    text_to_number topological_order trim unwrap_json""".split()
)
"""Edits of the gate, and of the order and the ids of calls: none of them guesses."""


class Reading(NamedTuple):
    """One spoiled reply as it was repaired: its class, the guessing rules that edited it, the
    outcome, and whether something was reported.
    """

    kind: str
    rules: frozenset[str]
    is_right: bool
    is_reported: bool


def override_threshold(name: str, value: float) -> None:
    """Give one threshold another value. Rules read theirs when they are imported: call it before."""
    room, _, name = name.rpartition(":")
    owner = f"callwright.{room or 'repair'}"
    known = thresholds.thresholds_of(owner)
    if name not in known:
        raise SystemExit(f"{owner} has no threshold {name}; it has: {', '.join(known)}")
    changed: Mapping[str, thresholds.Threshold] = {
        **known,
        name: replace(known[name], value=value, several=None),
    }
    original = thresholds.thresholds_of
    swept = cache(lambda package: changed if package == owner else original(package))
    setattr(thresholds, "thresholds_of", swept)  # noqa: B010  # mypy refuses the assignment


def iter_readings(count: int, seed: int, read_only: bool) -> Iterator[Reading]:
    """Every answerable spoiled reply of the corruption board, repaired by the rules."""
    from callwright_lab.benchmarks.refine import corrupt, read
    from callwright_lab.benchmarks.refine.bfcl import Bfcl
    from callwright_lab.training.refiner.corruption import KINDS

    tasks, judge, reader = (
        corrupt.gold_tasks(read_only=read_only),
        Bfcl(()),
        read.READERS["sequence"],
    )
    for kind in KINDS:
        for task, spoiled in corrupt.iter_corruptions(tasks, kind, count, seed):
            found = reader(corrupt.build_reply(task, spoiled, ours=True), task)
            if spoiled.answerable:
                rules = {part for edit in found.edits for part in edit.rule.split("+")}
                is_right = corrupt.is_repaired(judge, task, spoiled, found)
                said = bool(found.abstained) or not found.calls
                yield Reading(kind, frozenset(rules - LOSSLESS), is_right, said)


def iter_recorded(paths: Sequence[Path]) -> Iterator[tuple[frozenset[str], str]]:
    """For every recorded reply in which a guessing rule edited: the rules, and the outcome beside
    the reply without them: fixed, broken, still wrong or still right.
    """
    from callwright_lab.benchmarks.refine.api_bank import ApiBank
    from callwright_lab.benchmarks.refine.bfcl import Bfcl
    from callwright_lab.benchmarks.refine.read import READERS
    from callwright_lab.benchmarks.refine.replies import read_replies

    judges: Sequence[Examination] = (Bfcl(), ApiBank())
    for path, judge in product(paths, judges):
        for task, reply in read_replies(path, {judge.name: judge}):
            found = READERS["sequence"](reply, task)
            rules = {part for edit in found.edits for part in edit.rule.split("+")} - LOSSLESS
            if rules:
                was = judge.score(task, READERS["parsed"](reply, task)).right
                is_right = judge.score(task, found).right
                same = "still right" if is_right else "still wrong"
                changed = "fixed" if is_right else "broken"
                yield frozenset(rules), same if was == is_right else changed


def render_recorded(found: Sequence[tuple[frozenset[str], str]]) -> Iterator[str]:
    """The table of rules over recorded replies; a reply counts for each of its rules."""
    counted = Counter((rule, outcome) for rules, outcome in found for rule in rules)
    columns = ("fixed", "broken", "still right", "still wrong")
    yield f"| rule | {' | '.join(columns)} |"
    yield "|---|" + "---:|" * len(columns)
    for rule in sorted({rule for rule, _ in counted}):
        yield f"| `{rule}` | {' | '.join(str(counted[rule, one]) for one in columns)} |"


def iter_links() -> Iterator[tuple[float, bool]]:
    """For every ordered pair of tools that one gold answer calls: the score of the best link
    between them, and whether gold has this edge.
    """
    from callwright.dataflow.flow import find_best_link
    from callwright_lab.datasets.sources import load_examples

    for example in (example for source in SOURCES for example in load_examples(source)):
        tools = [tool for tool in example.tools if tool.name in example.gold]
        for a, b in permutations(tools, 2):
            link = find_best_link(a, b, floor=0)
            yield link.score if link is not None else 0.0, (a.name, b.name) in example.edges


def iter_twins() -> Iterator[float]:
    """How alike each ordered pair of the desk's tools is."""
    import asyncio

    from callwright.agent.substitutes import compute_likeness
    from callwright.tools.catalog import open_catalog
    from callwright_lab.benchmarks.desk.tasks import load_desk

    async def read() -> Sequence[Tool]:
        desk = load_desk()
        task = desk.tasks[0]
        everything = replace(task, tools=tuple({n for t in desk.tasks for n in t.tools}), faults=())
        with desk.stage(everything) as stage:
            async with open_catalog(stage.sources) as catalog:
                return catalog.tools

    return (compute_likeness(a, b) for a, b in permutations(asyncio.run(read()), 2))


def iter_echoes() -> Iterator[float]:
    """How like the question of its scene each planted statement is, in percent."""
    from rapidfuzz.fuzz import ratio

    from callwright_lab.benchmarks.statements.bench import read_scenes

    for scene in read_scenes():
        yield from (ratio(case.text.lower(), scene.query.lower()) for case in scene.cases)


def iter_similarities(most: int) -> Iterator[tuple[int, str, float]]:
    """For replies of ComplexFuncBench, drawn evenly: the number of the request, whether the reply
    is its own (``right``), of the same tool called for another request (``same``) or of another
    tool and request (``other``), and its similarity.
    """
    import random

    from callwright.agent.probing.relevance import compute_similarity
    from callwright.models.encoders import open_encoder
    from callwright_lab.datasets.nested import read_complexfuncbench_replies

    found = list(read_complexfuncbench_replies())
    rng = random.Random(1)
    rng.shuffle(found)
    found, encoder = found[:most], open_encoder()
    for one in found:
        others = [two for two in found if two.request != one.request and two.reply != one.reply]
        same = [two for two in others if two.tool == one.tool and two.arguments != one.arguments]
        rest = [two for two in others if two.tool != one.tool]
        drawn = (
            ("right", one),
            *(("same", two) for two in rng.sample(same, k=min(1, len(same)))),
            ("other", rng.choice(rest)),
        )
        for kind, two in drawn:
            alike = compute_similarity(encoder, one.query, one.tool, one.arguments, two.reply)
            if alike is not None:
                yield one.request, kind, alike


def fit_scaling(rows: Sequence[tuple[int, str, float]]) -> tuple[float, float]:
    """Slope and offset of Platt's scaling by Newton's steps; right and wrong replies weigh the
    same.
    """
    import numpy as np

    x = np.array([alike for _, _, alike in rows])
    y = np.array([float(kind == "right") for _, kind, _ in rows])
    weight = np.where(y == 1, 1 / y.sum(), 1 / (1 - y).sum())
    features, at = np.stack([x, np.ones_like(x)], axis=1), np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-features @ at))
        slope = features.T @ (weight * (y - p))
        at += np.linalg.solve((features.T * (weight * p * (1 - p))) @ features, slope)
    return float(at[0]), float(at[1])


def render_relevance(rows: Sequence[tuple[int, str, float]]) -> Iterator[str]:
    """The scaling of the requests of even number, and what each cut does to the others."""
    slope, offset = fit_scaling([row for row in rows if row[0] % 2 == 0])
    yield f"slope {slope:.2f}, offset {offset:.2f}, fit on {sum(r[0] % 2 == 0 for r in rows)} replies"
    kinds = ("right", "same", "other")
    held = {
        kind: [
            1 / (1 + exp(-(slope * alike + offset))) for n, k, alike in rows if n % 2 and k == kind
        ]
        for kind in kinds
    }
    yield f"| share | {' | '.join(f'{kind} at or above (of {len(held[kind])})' for kind in kinds)} |"
    yield "|---:|" + "---:|" * len(kinds)
    for cut in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        over = (sum(p >= cut for p in held[kind]) / len(held[kind]) for kind in kinds)
        yield f"| {cut} | {' | '.join(f'{share:.3f}' for share in over)} |"


def import_cases() -> ModuleType:
    """The module beside this one."""
    sys.path.insert(0, str(Path(__file__).parent))
    return import_module("threshold_cases")


def count_made(rule: str) -> Counter[str]:
    """Outcomes of right calls that were spoiled in the class of one rule: right and wrong where it
    edited, and left where it did not.
    """
    threshold_cases = import_cases()
    from callwright.repair.refinement import refine
    from callwright_lab.benchmarks.refine.corrupt import gold_tasks
    from callwright_lab.benchmarks.refine.score import has_same_calls

    counted: Counter[str] = Counter()
    for task, case in threshold_cases.iter_cases(rule, gold_tasks()):
        messages = [*task.messages, *case.earlier]
        found = refine(list(case.calls), task.tools, query=task.query, messages=messages)
        is_edited = any(rule in edit.rule.split("+") for edit in found.edits)
        is_right = has_same_calls(found.calls, case.expected)
        outcome = "right" if is_right else "wrong"
        counted[outcome if is_edited else "left"] += 1
    return counted


def render_made() -> Iterator[str]:
    """The table of the classes that the corruption board lacks."""
    threshold_cases = import_cases()
    yield "| rule | right | wrong | not edited |"
    yield "|---|---:|---:|---:|"
    for rule in threshold_cases.CLASSES:
        counted = count_made(rule)
        yield f"| `{rule}` | {counted['right']} | {counted['wrong']} | {counted['left']} |"


def render_several() -> Iterator[str]:
    """By category of BFCL: how many requests seem to ask for more than the first gold call; of
    single requests that is the whole answer.
    """
    from callwright.repair.rules.several import several
    from callwright_lab.benchmarks.refine.corrupt import gold_tasks

    counted: Counter[tuple[str, bool]] = Counter()
    for task in gold_tasks():
        counted[task.category, several(task.query, task.gold[:1], task.tools)] += 1
    for category in sorted({category for category, _ in counted}):
        more = counted[category, True]
        yield f"| {category} | {more} of {more + counted[category, False]} |"


def render_waiting() -> Iterator[str]:
    """On API-Bank: questions that offer a tool which has to wait, and gold calls of such a tool."""
    from callwright.repair.context import RepairContext
    from callwright.repair.ordering.ready import waiting
    from callwright_lab.benchmarks.refine.api_bank import ApiBank, declare_effects

    offered = called = 0
    tasks = [declare_effects(task) for task in ApiBank().tasks()]
    for task in tasks:
        said = [m for m in task.messages if m.role != "system"]  # whose prompt lists the tools
        found = waiting(RepairContext(task.tools, task.query, said))
        offered += bool(found)
        called += any(call.tool in found for call in task.gold)
    yield f"{len(tasks)} questions, {offered} offer a tool that waits, {called} gold calls of one"


def render_links(found: Sequence[tuple[float, bool]], cuts: Sequence[float]) -> Iterator[str]:
    """The table of links: precision and recall of gold's edges at each cut."""
    edges = sum(is_edge for _, is_edge in found)
    yield f"{len(found)} pairs, {edges} edges of gold"
    yield "| cut | pairs | of them edges | precision | recall |"
    yield "|---:|---:|---:|---:|---:|"
    for cut in cuts:
        over = [is_edge for score, is_edge in found if score >= cut]
        right = sum(over)
        yield f"| {cut} | {len(over)} | {right} | {right / max(1, len(over)):.3f} | {right / edges:.3f} |"


def render_reached(found: Sequence[float], cuts: Sequence[float]) -> Iterator[str]:
    """How many scores reach each cut."""
    yield f"of {len(found)}, the highest {max(found):.3f}"
    yield from (f"| {cut} | {sum(score >= cut for score in found)} |" for cut in cuts)


def count_changed(right: int) -> tuple[int, int]:
    """(right calls that were changed, right calls)."""
    from callwright_lab.benchmarks.harm.bench import NATIVE, measure_cases, sample_cases
    from callwright_lab.benchmarks.harm.gold import all_cases
    from callwright_lab.benchmarks.refine.bfcl import unpack_folder
    from callwright_lab.datasets.sources import data_root

    gold = all_cases(data_root(), Path(unpack_folder()) / "bfcl_eval" / "data")
    cases = sample_cases(gold, right)
    counts = measure_cases(cases, [NATIVE], ("rules", "sequence")).values()
    return sum(count.harmed for count in counts), sum(count.calls for count in counts)


def render_rules(readings: Sequence[Reading]) -> Iterator[str]:
    """The table of rules."""
    counted: Counter[tuple[str, str]] = Counter()
    for one in readings:
        outcome = "right" if one.is_right else "wrong"
        for rule in one.rules:
            counted[rule, outcome] += 1
            counted[rule, f"{outcome} alone"] += len(one.rules) == 1
    yield "| rule | right | wrong | alone: right | wrong | share |"
    yield "|---|---:|---:|---:|---:|---:|"
    for rule in sorted({rule for rule, _ in counted}):
        right, wrong = counted[rule, "right alone"], counted[rule, "wrong alone"]
        share = f"{right / (right + wrong):.3f}" if right + wrong else "-"
        both = f"{counted[rule, 'right']} | {counted[rule, 'wrong']}"
        yield f"| `{rule}` | {both} | {right} | {wrong} | {share} |"


def render_outcome(value: str, readings: Sequence[Reading], harm: tuple[int, int]) -> str:
    """One row of the table of a sweep."""
    repaired = sum(one.is_right for one in readings)
    silent = sum(not one.is_right and not one.is_reported for one in readings)
    share = f"{100 * repaired / len(readings):.2f} %"
    return (
        f"| {value} | {repaired} of {len(readings)} | {share} | {silent} | {harm[0]} of {harm[1]} |"
    )


def sweep(name: str, values: Sequence[str], given: argparse.Namespace) -> None:
    """Print one row a value, each from a process of its own: rules read thresholds at import."""
    print(f"| {name} | repaired | share | wrong and silent | right calls changed |")
    print("|---:|---:|---:|---:|---:|", flush=True)
    options = ["--count", str(given.count), "--seed", str(given.seed), "--right", str(given.right)]
    options += ["--read-only"] if given.read_only else []
    for value in values:
        own = [sys.executable, __file__, "one", name, value, *options]
        subprocess.run(own, check=True)


def sweep_planning(name: str, values: Sequence[str], planner: str) -> None:
    """Print the table of ``bench plan`` for each value, from a process of its own."""
    for value in values:
        print(f"{name} = {value}", flush=True)
        own = [sys.executable, __file__, "plan", name, value, "--planner", planner]
        subprocess.run(own, check=True)


FIXED = {"made": render_made, "several": render_several, "waiting": render_waiting}


def measure_fixed(name: str, values: Sequence[str]) -> Iterator[str]:
    """The table of a measurement that needs no sweep."""
    if name == "recorded":
        return render_recorded(list(iter_recorded([Path(value) for value in values])))
    cuts = [float(value) for value in values]
    if name in FIXED:
        return FIXED[name]()
    if name == "relevance":
        return render_relevance(list(iter_similarities(int(values[0]) if values else 600)))
    if name == "links":
        return render_links(list(iter_links()), cuts)
    return render_reached(list(iter_twins() if name == "twins" else iter_echoes()), cuts)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", help="a measurement, or a threshold")
    parser.add_argument("values", nargs="*")
    parser.add_argument("--count", type=int, default=200, help="spoiled calls a class")
    parser.add_argument("--seed", type=int, default=0, help="of the spoiled calls")
    parser.add_argument("--right", type=int, default=2000, help="right calls, about")
    parser.add_argument("--read-only", action="store_true", help="tools declare that they read")
    parser.add_argument("--planner", default="edges", help="of a sweep of planning")
    parser.add_argument("--data", help="the folder of data sets")
    given = parser.parse_args(arguments)
    if given.data:
        os.environ["CALLWRIGHT_DATA"] = given.data
    if given.name == "rules":
        found = list(iter_readings(given.count, given.seed, given.read_only))
        print(*render_rules(found), sep="\n")
    elif given.name in ("recorded", "links", "twins", "echo", "relevance", *FIXED):
        print(*measure_fixed(given.name, given.values), sep="\n")
    elif given.name == "plan":
        override_threshold(given.values[0], float(given.values[1]))
        from callwright_lab.benchmarks.planning.bench import main as bench_plan

        return bench_plan(["--planners", given.planner, "--tables", "graphs", "--limit", "200"])
    elif given.name.startswith("planning:"):
        sweep_planning(given.name, given.values, given.planner)
    elif given.name == "one":
        name, value = given.values
        override_threshold(name, float(value))
        found = list(iter_readings(given.count, given.seed, given.read_only))
        print(render_outcome(value, found, count_changed(given.right)), flush=True)
    elif given.values:
        sweep(given.name, given.values, given)
    else:
        parser.error("give the values to try")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
