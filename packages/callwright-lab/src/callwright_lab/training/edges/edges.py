"""``callwright train layers --model edges``: the pairwise edge model from plan examples, in minutes
on one thread.

What is learned from: every ordered pair of tools that gold calls, once as published, once without output schemas
(many tools declare none), once among tools that gold does not call; a tool that is called needs nothing of those,
nor they of it. Because sources differ in how often an edge exists, they weigh about the same; and because few have
independent tools, requests are also joined by two and three ("do this. do that.", "do this and do that"), of one
source and of different ones, with and without output schemas; there nothing of the one needs anything of the other.

How it is calibrated: on sources the trees have not seen. Every source is left out in turn, and it
and its joined requests are predicted by trees learned from the others; one slope and offset, fitted
to all these predictions, make the shipped probabilities those a newcomer's tools deserve.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from callwright.language.frozen import vocabulary_digest
from callwright.models.encoders import open_encoder
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool, compute_digest
from callwright.planning.edges import (
    SHIPPED,
    WITH_ENCODER,
    EdgeModel,
    acyclic_edges,
    cap_unwitnessed,
    compute_likelihood,
    edge_features,
)
from callwright.planning.features import DIGEST, NAMES
from callwright.planning.meaning import DIGEST as MEANT
from callwright.planning.meaning import NAMES as MEANINGS
from callwright.weights import cache_dir
from callwright.weights.arrays import Array
from callwright.weights.trees import Forest, average_forests, write_forest
from callwright_lab.datasets.examples import (
    Kind,
    PlanExample,
    add_distractors,
    collect_tools,
    shuffle_tools,
)
from callwright_lab.datasets.sources import list_sources, load_labelled
from callwright_lab.datasets.splits import get_fold, iter_folds, leave_one_source_out
from callwright_lab.training.boosting import (
    Growth,
    build_parameters,
    export_forest,
    fit_logistic,
    import_lightgbm,
)
from callwright_lab.training.layers.scores import Scores, render_table, score_layers
from callwright_lab.training.release import (
    add_options,
    render_command,
    require_place,
    require_sources,
)

SOURCES = ("nestful", "complexfuncbench", "nestools", "seal_tools", "tmdb")
MEASURED = ("nestful", "complexfuncbench", "nestools")  # the macro mean of the published figures
SEQUENCES = (
    "nestful",
    "complexfuncbench",
    "nestools",
    "stabletoolbench",
)  # say in which order was called
WHAT = {
    "dependency": "P(tool j needs what tool i returns)",
    "sequence": "P(tool j is called right after tool i)",
}


@dataclass(frozen=True, slots=True)
class Settings(Growth):
    """Everything a run depends on besides the data."""

    rounds: int = 300
    distractors: int = 3
    power: float = 0.6  # a source of n pairs weighs n ** power


@dataclass(frozen=True, slots=True)
class Rows:
    """The pairs of one example: features (N, N, F), whether j needs i, and which pairs count."""

    example: PlanExample
    features: Array
    target: Array
    mask: Array


JOINTS = (". ", " and ", " and ", ", and also ", "; ", ", and ")
"""How two requests are asked in one breath. What is said after them begins small, unless it is an abbreviation."""


def build_rows(example: PlanExample, encoder: Encoder | None = None, others: bool = False) -> Rows:
    """Features and labels of an example; only pairs of gold tools count, or with ``others`` those
    of one as well.
    """
    place = {t.name: i for i, t in enumerate(example.tools)}
    count = len(place)
    target = np.zeros((count, count), dtype=bool)
    for a, b in example.edges:
        target[place[a], place[b]] = True
    gold = np.zeros(count, dtype=bool)
    gold[[place[t] for t in example.gold]] = True
    both = gold[:, None] | gold[None, :] if others else gold[:, None] & gold[None, :]
    mask = both & ~np.eye(count, dtype=bool)
    return Rows(example, edge_features(example.query, example.tools, encoder), target, mask)


def vary_example(
    example: PlanExample, spare: Sequence[Tool], distractors: int
) -> list[PlanExample]:
    """The example as it is, without output schemas, and with 1..``distractors`` tools that gold
    does not call.

    One of three or more tools without any dependency also comes as two of them alone.
    """
    made = [example, drop_output_schemas(example)]
    if distractors:
        count = random.Random(f"count {example.id}").randint(1, distractors)
        made.append(add_distractors(example, spare, count))
    if not example.edges and len(example.gold) > 2:
        two = sorted(random.Random(f"two {example.id}").sample(example.gold, 2))
        kept = tuple(t for t in example.tools if t.name in two)
        alone = replace(example, tools=kept, gold=tuple(two), layers=dict.fromkeys(two, 0))
        made += [alone, drop_output_schemas(alone)]
    return made


def drop_output_schemas(example: PlanExample) -> PlanExample:
    """The example as it looks where tools declare no output."""
    return replace(example, tools=tuple(replace(t, output_schema=None) for t in example.tools))


def join_examples(*parts: PlanExample) -> PlanExample:
    """Two requests or more asked in one breath: nothing of the one needs anything of the other."""
    first, *others = parts
    for other in others:
        first = _join_requests(first, other)
    return first


def _join_requests(first: PlanExample, second: PlanExample) -> PlanExample:
    id = f"{first.id} + {second.id}"
    return replace(
        first,
        id=id,
        query=_join_queries(
            first.query.strip(), second.query.strip(), random.Random(f"joint {id}").choice(JOINTS)
        ),
        tools=shuffle_tools(id, (*first.tools, *second.tools)),
        gold=tuple(sorted({*first.gold, *second.gold})),
        edges=first.edges | second.edges,
        layers=first.layers | second.layers,
    )


def _join_queries(first: str, second: str, joint: str) -> str:
    as_it_is = joint == ". " or second[:2].isupper()
    return f"{first.rstrip('.?!')}{joint}{second if as_it_is else second[:1].lower() + second[1:]}"


def pair_examples(
    examples: Sequence[PlanExample], most: int = 5, rounds: int = 3
) -> list[tuple[PlanExample, ...]]:
    """Examples of one source and one fold that share no tool, two by two, at most ``most`` tools together.

    Every example has up to ``rounds`` partners: in the first round the one that is nearest in
    length, then others.
    """
    groups: dict[tuple[str, int], list[PlanExample]] = {}
    for example in examples:
        groups.setdefault((example.source, get_fold(example)), []).append(example)
    made: list[tuple[PlanExample, ...]] = []
    for key in sorted(groups):
        by_length = sorted(groups[key], key=lambda e: (len(e.gold), compute_digest(e.id)))
        for number in range(rounds):
            left = [*by_length]
            if number:
                random.Random(f"round {number}").shuffle(left)
            made += _iter_pairs(left, most)
    return made


def strangers(
    examples: Sequence[PlanExample], most: int = 5, rounds: int = 2
) -> list[tuple[PlanExample, ...]]:
    """Examples of two sources and one fold, two by two: tools that have nothing to do with each other.

    Those of one source share a domain or a style, so trees that see no others learn little of unrelated tools.
    """
    made: list[tuple[PlanExample, ...]] = []
    for k in sorted({get_fold(e) for e in examples}):
        group = sorted(
            (e for e in examples if get_fold(e) == k),
            key=lambda e: compute_digest([e.source, e.id]),
        )
        for number in range(rounds):
            left = [*group]
            random.Random(f"strangers {number}").shuffle(left)
            made += [
                found for found in _iter_pairs(left, most) if found[0].source != found[1].source
            ]
    return made


def threes(examples: Sequence[PlanExample], most: int = 5) -> list[tuple[PlanExample, ...]]:
    """Couples of strangers with a third request of the first one's source, at most ``most`` tools together."""
    made: list[tuple[PlanExample, ...]] = []
    left: dict[tuple[str, int], list[PlanExample]] = {}
    for e in sorted(examples, key=lambda e: compute_digest([e.id, e.source])):
        left.setdefault((e.source, get_fold(e)), []).append(e)
    for a, b in strangers(examples, most - 1, rounds=1):
        names, room = {t.name for t in (*a.tools, *b.tools)}, most - len(a.gold) - len(b.gold)
        third = left[a.source, get_fold(a)]
        fits = (
            e for e in third if len(e.gold) <= room and names.isdisjoint(t.name for t in e.tools)
        )
        if found := next(fits, None):
            third.remove(found)
            made.append((a, b, found))
    return made


def _iter_pairs(left: list[PlanExample], most: int) -> Iterator[tuple[PlanExample, PlanExample]]:
    while left:
        one = left.pop(0)
        names = {t.name for t in one.tools}
        fits = (k for k, e in enumerate(left[:30]) if names.isdisjoint(t.name for t in e.tools))
        k = next(fits, None)
        if k is not None and len(one.gold) + len(left[k].gold) <= most:
            yield one, left.pop(k)


class Prepared:
    """Examples with the features of all their variants, computed once for all splits."""

    def __init__(
        self, examples: Iterable[PlanExample], settings: Settings, encoder: Encoder | None = None
    ) -> None:
        every = tuple(examples)
        self.examples = tuple(e for e in every if len(e.gold) > 1)
        self.variants: dict[str, list[Rows]] = {}
        for source in sorted({e.source for e in every}):
            spare = collect_tools(e for e in every if e.source == source)
            for e in (e for e in self.examples if e.source == source):
                plain, *more = vary_example(e, spare, settings.distractors)
                self.variants[_make_example_key(e)] = [
                    build_rows(plain, encoder),
                    *(build_rows(v, encoder, True) for v in more),
                ]
        free = (
            e for e in every if e.kind == "dependency"
        )  # in a sequence the second request comes after the first
        self.couples = [
            (parts, [build_rows(e, encoder) for e in _add_bare_variant(join_examples(*parts))])
            for parts in _put_together(free)
        ]

    def rows(self, examples: Iterable[PlanExample]) -> list[Rows]:
        """All variants of the examples, and the couples among them.

        Examples of a single tool are in no split; their couples go where their fold and source go.
        """
        kept = {_make_example_key(e): e for e in examples}
        made = [r for key in kept for r in self.variants.get(key, ())]
        return made + [r for rows in self._coupled(kept) for r in rows]

    def coupled(self, examples: Iterable[PlanExample]) -> list[Rows]:
        """The couples among the examples, as they are."""
        return [rows[0] for rows in self._coupled({_make_example_key(e): e for e in examples})]

    def _coupled(self, kept: Mapping[str, PlanExample]) -> Iterator[list[Rows]]:
        homes = {(e.source, get_fold(e)) for e in kept.values()}
        for parts, rows in self.couples:
            if all(
                _make_example_key(e) in kept
                or (len(e.gold) < 2 and (e.source, get_fold(e)) in homes)
                for e in parts
            ):
                yield rows

    def plain(self, examples: Iterable[PlanExample]) -> list[Rows]:
        """The examples as they are."""
        return [found[0] for e in examples if (found := self.variants.get(_make_example_key(e)))]


def _put_together(examples: Iterable[PlanExample]) -> list[tuple[PlanExample, ...]]:
    every = tuple(examples)
    return [*pair_examples(every), *strangers(every), *threes(every)]


def _add_bare_variant(example: PlanExample) -> list[PlanExample]:
    return [example, drop_output_schemas(example)]


def _make_example_key(example: PlanExample) -> str:
    return f"{example.source} {example.id}"


def compute_pair_weights(rows: Sequence[Rows], settings: Settings) -> Array:
    """One weight per pair: examples by the root of their pairs, sources by ``power``."""
    made: list[Array] = []
    names = [r.example.source for r in rows]
    size = {s: sum(int(r.mask.sum()) for r in rows if r.example.source == s) for s in set(names)}
    total = {
        s: sum(float(r.mask.sum()) ** 0.5 for r in rows if r.example.source == s)
        for s in set(names)
    }
    for r, source in zip(rows, names, strict=True):
        count = int(r.mask.sum())
        scale = size[source] ** settings.power / total[source]
        made.append(np.full(count, scale / max(1, count) ** 0.5))
    every = np.concatenate(made)
    found: Array = every * len(every) / every.sum()
    return found


def grow_forest(rows: Sequence[Rows], settings: Settings) -> Forest:
    """Trees learned from the pairs that count. Where there are vectors, half of the trees do not
    look at them.

    The mean of both is better than either: docs/lab.md.
    """
    plain = export_forest(fit_booster(rows, settings))
    if rows[0].features.shape[-1] == len(NAMES):
        return plain
    return average_forests([plain, export_forest(fit_booster(rows, settings, meanings=True))])


def fit_booster(rows: Sequence[Rows], settings: Settings, meanings: bool = False) -> Any:
    """A lightgbm booster learned from the pairs that count. Deterministic; one thread.

    Without ``meanings`` it sees the first numbers of a pair only, those of
    :mod:`callwright.planning.features`.
    """
    boosting = import_lightgbm("training the edge model")
    names = [*NAMES, *MEANINGS] if meanings else list(NAMES)
    features = np.concatenate([r.features[r.mask][:, : len(names)] for r in rows])
    target = np.concatenate([r.target[r.mask] for r in rows]).astype(np.float32)
    data = boosting.Dataset(
        features, target, weight=compute_pair_weights(rows, settings), feature_name=names
    )
    return boosting.train(build_parameters(settings, objective="binary"), data, settings.rounds)


def log_odds(forest: Forest, rows: Rows) -> Array:
    """The forest's log-odds of every pair that counts; minus infinity for the others."""
    made = np.full(rows.target.shape, -np.inf)
    made[rows.mask] = forest(rows.features[rows.mask])
    return made


def fit_calibration(found: Sequence[tuple[Rows, Array]]) -> tuple[float, float]:
    """Slope and offset of the logistic curve that fits log-odds to labels best, every source
    weighing the same.
    """
    x = np.concatenate([odds[r.mask] for r, odds in found])
    y = np.concatenate([r.target[r.mask] for r, _ in found]).astype(float)
    count = {
        s: sum(int(r.mask.sum()) for r, _ in found if r.example.source == s)
        for s in _collect_sources(found)
    }
    w = np.concatenate([np.full(int(r.mask.sum()), 1.0 / count[r.example.source])
                        for r, _ in found])  # fmt: skip
    return fit_logistic(x, y, w)


def _collect_sources(found: Sequence[tuple[Rows, Array]]) -> set[str]:
    return {r.example.source for r, _ in found}


Predicted = list[tuple[Rows, Array]]


def unseen_sources(
    prepared: Prepared, settings: Settings, joined_too: Predicted | None = None
) -> Predicted:
    """Log-odds for every example by trees that saw nothing of its source; those of couples go to
    ``joined_too``.
    """
    made: Predicted = []
    for split in leave_one_source_out(prepared.examples):
        if not split.train:
            continue  # there is only one source
        forest = grow_forest(prepared.rows((*split.train, *split.validation)), settings)
        made += [(r, log_odds(forest, r)) for r in prepared.plain(split.test)]
        if joined_too is not None:
            joined_too += [(r, log_odds(forest, r)) for r in prepared.coupled(split.test)]
    return made


def unseen_combinations(prepared: Prepared, settings: Settings) -> Predicted:
    """Log-odds for every example by trees that saw no example with its tool combination (five
    folds).
    """
    made: Predicted = []
    for split in iter_folds(prepared.examples):
        forest = grow_forest(prepared.rows((*split.train, *split.validation)), settings)
        made += [(r, log_odds(forest, r)) for r in prepared.plain(split.test)]
    return made


def decode_plan(
    rows: Rows, odds: Array, slope: float, offset: float
) -> tuple[dict[str, int], set[tuple[str, str]]]:
    """Layers and edges by the planner's own rule from the log-odds of the pairs."""
    scaled = slope * odds + offset
    if rows.example.kind == "dependency":
        scaled = cap_unwitnessed(scaled, rows.example.query, rows.example.tools, rows.features)
    pairs = acyclic_edges(compute_likelihood(scaled))
    names = [t.name for t in rows.example.tools]
    depth = [0] * len(names)
    for _ in names:
        for i, j in pairs:
            depth[j] = max(depth[j], depth[i] + 1)
    return dict(zip(names, depth, strict=True)), {(names[i], names[j]) for i, j in pairs}


def score_sources(found: Predicted, slope: float, offset: float) -> dict[str, Scores]:
    """Scores by source, and their mean over :data:`MEASURED` as ``macro``."""
    layers = [decode_plan(r, odds, slope, offset)[0] for r, odds in found]
    made = score_layers([r.example for r, _ in found], layers)
    three = [made[s] for s in MEASURED if s in made]
    if len(three) == len(MEASURED):
        fields = [f for f in three[0].to_dict() if f != "examples"]
        mean = {f: sum(getattr(s, f) for s in three) / len(three) for f in fields}
        made["macro"] = Scores(examples=sum(s.examples for s in three), **mean)
    return made


def train_model(
    names: Sequence[str],
    settings: Settings,
    root: Path | None = None,
    labels: Kind = "dependency",
    encoder: Encoder | None = None,
) -> tuple[EdgeModel, dict[str, Any]]:
    """The model learned from all examples of ``names``, and the card's content: data, settings,
    scores.
    """
    prepared = Prepared(
        [e for n in names for e in load_labelled(n, labels, root)], settings, encoder
    )
    joined_too: Predicted = []
    apart, across = (
        unseen_sources(prepared, settings, joined_too),
        unseen_combinations(prepared, settings),
    )
    slope, offset = fit_calibration([*apart, *joined_too] or across)
    forest = grow_forest(prepared.rows(prepared.examples), settings)
    about = {
        "what": WHAT[labels] + ", boosted trees over callwright.planning.features",
        "labels": labels,
        "features": DIGEST,
        "vocabulary": vocabulary_digest(),
        "calibration": {
            "slope": slope,
            "offset": offset,
            "on": "predictions for sources left out of training, joined requests included",
        },
        "data": {n: _describe_data(n, prepared.examples) for n in names},
        "settings": asdict(settings),
        "scores": {
            "five folds by tool combination": {
                k: s.to_dict() for k, s in score_sources(across, slope, offset).items()
            },
            "source left out of training": {
                k: s.to_dict() for k, s in score_sources(apart, slope, offset).items()
            },
        },
    }
    if encoder is not None:
        about |= {"encoder": encoder.name, "meanings": MEANT}
    return EdgeModel(forest, slope, offset, about, encoder), about


def _describe_data(name: str, examples: Sequence[PlanExample]) -> dict[str, Any]:
    source = list_sources()[name]
    return {
        "examples": sum(e.source == name for e in examples),  # with at least two tools
        "licence": source.licence,
        "from": source.where,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Train on every source whose licence allows it, write weights and card. Prints the scores and
    where they are.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    args = _build_parser().parse_args(given)
    names = (args.sources or ",".join(SOURCES if args.labels == "dependency" else SEQUENCES)).split(
        ","
    )
    kept = require_sources(names, args.private)
    encoder = open_encoder(args.encoder, cache=args.cache) if args.encoder else None
    shipped = WITH_ENCODER if encoder else SHIPPED
    require_place(
        args.out, args.name or shipped.stem, shipped, private=args.private, labels=args.labels
    )
    settings = replace(Settings(), rounds=args.rounds, seed=args.seed)
    model, about = train_model(names, settings, args.data, args.labels, encoder)
    about = {**about, "command": render_command("edges", given), "private": kept}
    card = write_forest(args.out, args.name or shipped.stem, model.forest, about)
    for title, scores in about["scores"].items():
        rows = {
            name: Scores(**{**row, "examples": int(row["examples"])})
            for name, row in scores.items()
        }
        sys.stdout.write(f"{title}\n{render_table(rows)}\n\n")
    sys.stdout.write(f"{args.out / card['name']}.npz, sha256 {card['sha256']}\n")
    return 0


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="callwright train layers --model edges", description=__doc__)
    p.add_argument(
        "--sources", help="data sources, by comma (default: those whose licence allows it)"
    )
    p.add_argument(
        "--labels",
        choices=get_args(Kind),
        default="dependency",
        help="sequence: plain execution order",
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument("--rounds", type=int, default=Settings().rounds)
    p.add_argument("--seed", type=int, default=Settings().seed)
    p.add_argument(
        "--encoder",
        help="read sentence vectors as well: minilm, a model folder, https://host/v1#model",
    )
    p.add_argument(
        "--cache",
        type=Path,
        default=cache_dir() / "vectors.sqlite",
        help="file that keeps the vectors",
    )
    add_options(p, SHIPPED, "")
    return p


if __name__ == "__main__":
    raise SystemExit(main())
