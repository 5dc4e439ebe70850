"""Trains the rules' ranker on right calls that were spoiled, and says whether it beats the rules.

``python -m callwright_lab.training.ranker.repair_ranker [--ship]``. Data: Seal-Tools and NesTools
(both Apache-2.0). The split is by tool: train, tune and test have no gold tool in common, and what
is offered beside it comes from the same part. A name or key is spoiled by the corruptions of
:mod:`callwright_lab.training.refiner.corruption` or said in words of the description, which the
rules' own tables of synonyms do not hold. In one case of five the right tool or parameter is not
offered: then the right answer is none. For tools and parameters the ranker only decides where the
rules abstain, and its bounds are those that choose most on the tuning part without one more wrong
choice than the rules make there. For optional arguments it decides alone, and keeps at least as
many of those that were asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from callwright.dataflow.flow import STOP, VERBS, split_words
from callwright.language.tokens import squash_name
from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import READ, Json, JsonObject, Tool, ToolCall, to_canonical_json
from callwright.repair import ranker
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.ranker import FEATURES, Trees
from callwright.repair.rules import names, parameters
from callwright.schema.compiled import compiled_for
from callwright_lab.datasets import nested as data_nested
from callwright_lab.datasets.examples import read_lines
from callwright_lab.datasets.sources import data_root
from callwright_lab.training.refiner.corruption import corrupt

SHIPPED = Path(ranker.__file__).parent / ranker.SHIPPED
OFFERED = 8
NAME_KINDS = ("name_prefix_lost", "name_prefix_added", "name_suffix", "name_case", "name_typo")
_SEED = 7
_KIND_OF = {w: kind for kind, listed in VERBS.items() for w in listed}

Row = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: a row of features for each candidate, the right one (-1: none), and what the
    rules chose.

    ``ruled``: the rules' candidate, -1 where they abstain.
    """

    rows: tuple[Row, ...]
    right: int
    ruled: int
    how: str


@dataclass(frozen=True, slots=True)
class Gold:
    query: str
    call: ToolCall
    tool: Tool


@dataclass(frozen=True, slots=True)
class Score:
    """Choices that were right, wrong, or not made."""

    right: int = 0
    wrong: int = 0
    none: int = 0

    @property
    def total(self) -> int:
        return self.right + self.wrong + self.none


def assign_part(tool: str) -> str:
    """train (60 %), tune (20 %) or test (20 %), by a hash of the tool's name."""
    number = int(hashlib.sha256(tool.encode()).hexdigest(), 16) % 10
    if number < 6:
        return "train"
    if number < 8:
        return "tune"
    return "test"


def gold_calls(root: Path) -> Iterator[Gold]:
    """Right calls of the two sources, one by one, with the request."""
    folder = root / "seal_tools"
    specs = read_lines(folder / "tool.jsonl", data_nested.SEAL_WHERE)
    catalogue = {
        s["api_name"]: _read_only(data_nested.described_tool(s, "seal_tools")) for s in specs
    }
    for part in ("dev", "test_in_domain"):
        for row in read_lines(folder / f"{part}.jsonl", data_nested.SEAL_WHERE):
            for c in row["calling"]:
                if c["api"] in catalogue:
                    yield Gold(
                        row["query"],
                        ToolCall("call_1", c["api"], c["parameters"]),
                        catalogue[c["api"]],
                    )
    for row in read_lines(root / "nestools" / "test_data.jsonl", data_nested.NESTOOLS_WHERE):
        tools = {
            s["api_name"]: _read_only(data_nested.described_tool(s, "nestools")) for s in row["api"]
        }
        for c in row["call"]:
            if c["api_name"] in tools:
                yield Gold(
                    row["task"],
                    ToolCall("call_1", c["api_name"], c["parameters"]),
                    tools[c["api_name"]],
                )


def _read_only(tool: Tool) -> Tool:
    """Effects do not bear on what a name means; the rules would abstain from writing tools."""
    return replace(tool, effects=READ)


def tool_choices(
    golds: Sequence[Gold], catalogue: Sequence[Tool], rng: random.Random
) -> Iterator[Choice]:
    """Spoiled names: which tool is meant? Half of what is offered beside is of the same field."""
    by_word: dict[str, list[Tool]] = {}
    for tool in catalogue:
        for w in set(split_words(tool.name)):
            by_word.setdefault(w, []).append(tool)
    for gold in golds:
        alike = [
            t
            for w in split_words(gold.tool.name)
            for t in by_word.get(w, ())
            if t.name != gold.tool.name
        ]
        near = rng.sample(alike, min(len(alike), OFFERED // 2))
        rest = [
            t
            for t in rng.sample(catalogue, min(OFFERED, len(catalogue)))
            if t.name != gold.tool.name
        ]
        count = rng.choice((2, 3, 5, OFFERED))
        offered = list({t.name: t for t in [gold.tool, *near, *rest]}.values())[:count]
        for how, name in spoiled_names(gold, offered, rng):
            tools = offered[1:] if rng.random() < 0.2 else offered
            tools = rng.sample(tools, len(tools))
            arguments = _perturb_keys(gold.call.arguments, rng)
            if any(squash_name(t.name) == squash_name(name) for t in tools if t is not gold.tool):
                continue
            rows = tuple(ranker.tool_features(name, arguments, t, gold.query) for t in tools)
            found, _ = names.match_name(name, arguments, tools, gold.query)
            yield Choice(
                rows,
                _find_tool_index(gold.tool, tools),
                _find_tool_index(found.tool if found else None, tools),
                how,
            )


def _find_tool_index(tool: Tool | None, tools: Sequence[Tool]) -> int:
    return next((i for i, t in enumerate(tools) if t is tool), -1)


def _perturb_keys(arguments: JsonObject | str, rng: random.Random) -> JsonObject | str:
    """The arguments, in one case of three with a key lost or named otherwise, so that keys do not
    give all away.
    """
    if not isinstance(arguments, dict) or not arguments or rng.random() > 0.33:
        return arguments
    key = rng.choice(list(arguments))
    kept = {k: v for k, v in arguments.items() if k != key}
    return kept if rng.random() < 0.5 else {**kept, f"the_{key}": arguments[key]}


def spoiled_names(
    gold: Gold, offered: Sequence[Tool], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """(how, name): one of the corruptions, one in words of the description, one with another verb
    or fewer words.
    """
    made = corrupt([gold.call], offered, rng.choice(NAME_KINDS), rng)
    if made is not None and made.calls and made.calls[0].tool != gold.tool.name:
        yield made.kind, made.calls[0].tool
    described = described_name(gold.tool.description, rng)
    if described:
        yield "described", described
    yield "reworded", reword_name(gold.tool.name, rng)


def described_name(description: str, rng: random.Random) -> str:
    """Two to four words of a description in their order; "" where it has too few."""
    said = [w for w in split_words(description) if w not in STOP and len(w) > 2][:8]
    if len(said) < 2:
        return ""
    places = sorted(rng.sample(range(len(said)), min(len(said), rng.choice((2, 3, 4)))))
    return "_".join(said[i] for i in places)


def reword_name(name: str, rng: random.Random) -> str:
    """Another verb of the same kind, or a word less."""
    parts = list(split_words(name))
    at = next((i for i, w in enumerate(parts) if w in _KIND_OF), None)
    if at is not None and (rng.random() < 0.6 or len(parts) < 3):
        parts[at] = rng.choice(sorted(VERBS[_KIND_OF[parts[at]]]))
    elif len(parts) > 2:
        del parts[rng.randrange(len(parts))]
    return "_".join(parts)


def parameter_choices(golds: Sequence[Gold], rng: random.Random) -> Iterator[Choice]:
    """Spoiled keys: which parameter is meant? In one case of five the key is a stranger."""
    for gold in golds:
        arguments = gold.call.arguments
        if not isinstance(arguments, dict) or not arguments:
            continue
        key = rng.choice(list(arguments))
        for how, spoiled in spoiled_keys(gold, key, rng):
            yield from _iter_key_choices(gold, arguments, key, how, spoiled, rng)


def _iter_key_choices(
    gold: Gold, arguments: JsonObject, key: str, how: str, spoiled: str, rng: random.Random
) -> Iterator[Choice]:
    if spoiled in gold.tool.properties:
        return
    stranger = rng.random() < 0.2
    given: JsonObject = {k: v for k, v in arguments.items() if k != key or stranger}
    given[spoiled] = "other" if stranger and isinstance(arguments[key], str) else arguments[key]
    wanted = [p for p in gold.tool.properties if p not in given]
    if not wanted or (stranger and key not in given):
        return
    missing = [p for p in wanted if p in gold.tool.required]
    rows = tuple(
        ranker.parameter_features(spoiled, given[spoiled], w, gold.tool, 1, missing or wanted)
        for w in wanted
    )
    sure, _ = parameters.pair_keys(given, compiled_for(gold.tool).root)
    ruled = next((p.wanted for p in sure if p.given == spoiled), "")
    right = -1 if stranger else wanted.index(key)
    yield Choice(
        rows, right, wanted.index(ruled) if ruled in wanted else -1, "stranger" if stranger else how
    )


def spoiled_keys(gold: Gold, key: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """(how, key): by a corruption, in words of the parameter's description, and with letters
    lost.
    """
    part = gold.tool.properties.get(key)
    said = part.get("description") if isinstance(part, dict) else ""
    described = [
        w
        for w in split_words(said if isinstance(said, str) else "")
        if w not in STOP and len(w) > 2
    ][:6]
    if described:
        places = sorted(
            rng.sample(range(len(described)), min(len(described), rng.choice((1, 2, 3))))
        )
        yield "described", "_".join(described[i] for i in places)
    tail = list(split_words(key))
    if len(tail) > 1:
        yield "shortened", "_".join(tail[1:] if rng.random() < 0.5 else tail[:-1])
    if len(key) > 6:
        yield "abbreviated", key[: rng.choice((3, 4))]


def keep_choices(
    golds: Sequence[Gold], pool: dict[str, list[Json]], rng: random.Random
) -> Iterator[Choice]:
    """Optional arguments: one candidate, right (0) where gold has it, wrong (-1) where it was put
    in.

    What is put in is a value another call gave a parameter of this name or type, as small models
    fill schemas.
    """
    for gold in golds:
        arguments = gold.call.arguments
        if not isinstance(arguments, dict):
            continue
        sources = ProvenanceIndex(gold.query)
        for key in [k for k in gold.tool.properties if k not in gold.tool.required]:
            part = gold.tool.properties[key]
            kind = part.get("type", "") if isinstance(part, dict) else ""
            others = pool.get(key) or pool.get(f"type {kind}")
            if key not in arguments and not others:
                continue
            value = arguments[key] if key in arguments else rng.choice(others or [""])
            if isinstance(value, str) and value.startswith("API_call_"):
                continue
            row = ranker.keep_features(key, value, gold.tool, {**arguments, key: value}, sources)
            kept = 0 if key in arguments else -1
            yield Choice((row,), kept, 0 if row[0] else -1, "asked" if kept == 0 else "filled_in")


def values_by_key(golds: Sequence[Gold]) -> dict[str, list[Json]]:
    """Every value calls gave, by parameter name and by type."""
    pool: dict[str, list[Json]] = {}
    for gold in golds:
        for key, value in (
            gold.call.arguments.items() if isinstance(gold.call.arguments, dict) else ()
        ):
            part = gold.tool.properties.get(key)
            kind = part.get("type", "") if isinstance(part, dict) else ""
            if not (isinstance(value, str) and value.startswith("API_call_")):
                pool.setdefault(key, []).append(value)
                pool.setdefault(f"type {kind}", []).append(value)
    return pool


Maker = Callable[[Sequence[Gold], random.Random], list[Choice]]


def build_choice_makers(catalogue: Sequence[Tool]) -> dict[str, Maker]:
    """Return, for each task, the function that makes its choices from the calls of one part."""

    def tools(golds: Sequence[Gold], rng: random.Random) -> list[Choice]:
        parts = {assign_part(g.tool.name) for g in golds}
        return list(
            tool_choices(golds, [t for t in catalogue if assign_part(t.name) in parts], rng)
        )

    return {
        "tool": tools,
        "parameter": lambda golds, rng: list(parameter_choices(golds, rng)),
        "keep": lambda golds, rng: list(keep_choices(golds, values_by_key(golds), rng)),
    }


def fit_trees(choices: Sequence[Choice]) -> tuple[tuple[Any, ...], ...]:
    """Gradient-boosted trees over all candidates of all choices, as nested tuples for
    :class:`Trees`.
    """
    try:
        import lightgbm
        import numpy as np
    except ImportError as exc:
        raise MissingExtra("training the ranker", "train", "callwright-lab") from exc
    rows = np.array([row for c in choices for row in c.rows])
    right = np.array([int(i == c.right) for c in choices for i in range(len(c.rows))])
    options = {
        "objective": "binary", "num_leaves": 12, "learning_rate": 0.1, "min_data_in_leaf": 40, "lambda_l2": 1.0,
        "seed": _SEED, "num_threads": 1, "verbose": -1, "deterministic": True, "force_row_wise": True,
    }  # fmt: skip
    booster = lightgbm.train(options, lightgbm.Dataset(rows, right), num_boost_round=60)
    return tuple(
        _flatten_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]
    )


def _flatten_tree(root: JsonObject) -> tuple[Any, ...]:
    """A dumped tree as a list of nodes [feature, threshold, left, right] and leaf values, the root
    first.
    """
    nodes: list[Any] = []

    def add(node: JsonObject) -> int:
        at = len(nodes)
        nodes.append(None)
        if "leaf_value" in node and "split_feature" not in node:
            nodes[at] = round(node["leaf_value"], 5)
        else:
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[at] = (node["split_feature"], round(node["threshold"], 5), left, right)
        return at

    add(root)
    return tuple(nodes)


def tune_bounds(task: str, trees: tuple[tuple[Any, ...], ...], choices: Sequence[Choice]) -> Trees:
    """The bounds that choose best on the tuning part at no harm (see above)."""
    rules = score_choices(choices, None)
    asked = sum(c.right >= 0 for c in choices)
    best, most = Trees(FEATURES[task], trees, 2.0, 1.0), (rules.right, -rules.wrong)
    for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99):
        for lead in (0.0, 0.1, 0.2, 0.3, 0.5, 0.7) if task != "keep" else (0.0,):
            made = Trees(FEATURES[task], trees, least, lead)
            score = score_choices(choices, made, alone=task == "keep")
            worth = (score.right, -score.wrong)
            if task == "keep":
                harmless = asked - score.right <= asked - rules.right
                worth = (-score.wrong, score.right) if harmless else (-len(choices), 0)
                better = harmless and (best.least > 1 or worth > most)
            else:
                better = score.wrong <= rules.wrong and worth > most
            if better:
                best, most = made, worth
    return best


def score_choices(choices: Sequence[Choice], trees: Trees | None, *, alone: bool = False) -> Score:
    """The rules' choices; with trees, the ranker's where the rules made none (or everywhere:
    ``alone``).
    """
    right = wrong = none = 0
    for choice in choices:
        at = choice.ruled
        if trees is not None and (alone or at < 0):
            found = trees.choose(choice.rows)
            at = -1 if found is None else found[0]
        right += at == choice.right and at >= 0
        wrong += at >= 0 and at != choice.right
        none += at < 0
    return Score(right, wrong, none)


def train_tasks(root: Path, limit: int) -> JsonObject:
    """Train all tasks. Returns the file's content: trees and bounds of the tasks that beat the
    rules on test tools, and a card with the scores of all.
    """
    golds = list(gold_calls(root))
    random.Random(_SEED).shuffle(golds)
    golds = golds[:limit] if limit else golds
    catalogue = list({g.tool.name: g.tool for g in golds}.values())
    tasks: JsonObject = {}
    report: JsonObject = {}
    for task, make in build_choice_makers(catalogue).items():
        parts = {
            part: make(
                [g for g in golds if assign_part(g.tool.name) == part],
                random.Random(f"{task} {part}"),
            )
            for part in ("train", "tune", "test")
        }
        trees = tune_bounds(task, fit_trees(parts["train"]), parts["tune"])
        tasks[task] = {
            "features": trees.features,
            "trees": trees.trees,
            "least": trees.least,
            "lead": trees.lead,
        }
        report[task] = compare_with_rules(parts["test"], trees, alone=task == "keep")
    kept = {task: spec for task, spec in tasks.items() if beats_rules(report[task])}
    card = {
        "data": "Seal-Tools (dev, in-domain test), NesTools; both Apache-2.0",
        "command": f"python -m callwright_lab.training.ranker.repair_ranker --calls {limit} --ship",
        "split": "by tool: sha256 of its name modulo 10: 0-5 train, 6-7 bounds, 8-9 test",
        "test": report,
    }
    return {"format": ranker.FORMAT, "card": card, "tasks": kept}


def beats_rules(report: JsonObject) -> bool:
    """Return True if the ranker increases the rules' right choices and does not increase their
    wrong ones.
    """
    rules, ranked = report["all"]["rules"], report["all"]["with ranker"]
    return bool(ranked[0] > rules[0] and ranked[1] <= rules[1])


def compare_with_rules(
    choices: Sequence[Choice], trees: Trees, *, alone: bool = False
) -> JsonObject:
    """Rules without and with ranker on the same choices, whole and by how they were spoiled:
    [right, wrong, none].
    """
    found: JsonObject = {"all": _score_both(choices, trees, alone)}
    for how in sorted({c.how for c in choices}):
        found[how] = _score_both([c for c in choices if c.how == how], trees, alone)
    found["answerable"] = sum(c.right >= 0 for c in choices)
    return found


def _score_both(choices: Sequence[Choice], trees: Trees, alone: bool) -> JsonObject:
    rules, ranked = score_choices(choices, None), score_choices(choices, trees, alone=alone)
    return {
        "rules": [rules.right, rules.wrong, rules.none],
        "with ranker": [ranked.right, ranked.wrong, ranked.none],
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Train, say what came of it, and write the file if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--data",
        type=Path,
        default=data_root(),
        help="folder of the data sets (default: %(default)s)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", type=Path, help="where to write the file")
    where.add_argument(
        "--ship", dest="out", action="store_const", const=SHIPPED, help="into the package"
    )
    parser.add_argument("--calls", type=int, default=2_000, help="right calls to spoil, 0 for all")
    given = parser.parse_args(argv)
    made = train_tasks(given.data, given.calls)
    print(json.dumps(made["card"]["test"], indent=1))  # noqa: T201
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(to_canonical_json(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
