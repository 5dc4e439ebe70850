"""Computes the quality of plans, rankings and graphs with pure functions that training and
benchmarks share.

Everywhere, gold is a mapping tool -> layer (0 first) and a set of (from, to) dependencies between
tools. Tools that gold does not name (distractors) count nowhere. Functions return (hits, of) so
that scores can be pooled over examples; :func:`share` turns such a pair into a number.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2, sqrt

Edge = tuple[str, str]
Count = tuple[float, float]
Z95 = 1.959963984540054


def pool_share(counts: Iterable[Count]) -> float:
    """Pooled share: sum of hits / sum of the whole; 0.0 where there is nothing to count."""
    hits = whole = 0.0
    for hit, of in counts:
        hits += hit
        whole += of
    return hits / whole if whole else 0.0


def layer_accuracy(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(tools in exactly their gold layer, gold tools)."""
    return sum(layers[t] == k for t, k in gold.items()), len(gold)


def layer_error(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(sum of absolute layer differences, gold tools): the share of it is the mean absolute error
    in layers.
    """
    return sum(abs(layers[t] - k) for t, k in gold.items()), len(gold)


def order_accuracy(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(pairs ordered as in gold, pairs of gold tools in different gold layers). A tie is not
    ordered as in gold.
    """
    pairs = [(a, b) for a, b in combinations(gold, 2) if gold[a] != gold[b]]
    right = sum(
        (layers[a] < layers[b]) == (gold[a] < gold[b]) and layers[a] != layers[b] for a, b in pairs
    )
    return right, len(pairs)


def relation_accuracy(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(pairs related as in gold: before, after or in the same layer; all pairs of gold tools)."""
    pairs = list(combinations(gold, 2))
    return sum(
        _get_sign(layers[a] - layers[b]) == _get_sign(gold[a] - gold[b]) for a, b in pairs
    ), len(pairs)


def _get_sign(value: int) -> int:
    return (value > 0) - (value < 0)


def score_validity(edges: Collection[Edge], layers: Mapping[str, int]) -> Count:
    """(1 if no gold dependency is broken, 1). A dependency is broken unless its target is in a
    later layer.
    """
    return float(all(layers[a] < layers[b] for a, b in edges)), 1


def score_exact_match(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(1 if every gold tool is in its layer, 1)."""
    return float(all(layers[t] == k for t, k in gold.items())), 1


def edge_counts(
    gold: Collection[Edge], edges: Collection[Edge], tools: Collection[str]
) -> tuple[int, int, int]:
    """(true positives, predicted, gold) among edges whose both ends are in ``tools``."""
    predicted = {e for e in edges if e[0] in tools and e[1] in tools}
    return len(predicted & set(gold)), len(predicted), len(gold)


def pool_f1(counts: Iterable[tuple[int, int, int]]) -> float:
    """F1 of pooled (true positives, predicted, gold); 0.0 where nothing was predicted or
    expected.
    """
    right = predicted = expected = 0
    for a, b, c in counts:
        right, predicted, expected = right + a, predicted + b, expected + c
    return 2 * right / (predicted + expected) if predicted + expected else 0.0


@dataclass(frozen=True, slots=True)
class Overlap:
    """Overlap of a found set with the gold set: shares in 0..1 (Beyond ReAct, Evaluation
    Metrics).
    """

    precision: float
    recall: float
    f1: float


def score_overlap(found: Collection[Hashable], gold: Collection[Hashable]) -> Overlap:
    """Precision |found & gold| / |found|, recall |found & gold| / |gold| and their harmonic mean.

    A share of nothing, which the paper leaves open: 1 where nothing was wanted and nothing given,
    else 0. So a plan of one tool is not punished for having no edges, and an invented edge is.
    """
    a, b = set(found), set(gold)
    if not a and not b:
        return Overlap(1.0, 1.0, 1.0)
    right = len(a & b)
    precision, recall = right / len(a) if a else 0.0, right / len(b) if b else 0.0
    return Overlap(precision, recall, 2 * right / (len(a) + len(b)))


@dataclass(frozen=True, slots=True)
class GraphScore:
    """One planned graph against gold, or the macro average of several: nodes, edges, and the share
    that is exact.
    """

    nodes: Overlap
    edges: Overlap
    exact: float


def graph_score(
    nodes: Collection[Hashable],
    edges: Collection[Edge],
    gold_nodes: Collection[Hashable],
    gold_edges: Collection[Edge],
) -> GraphScore:
    """Node P/R/F1, edge P/R/F1, and 1.0 if both sets are gold's (DAG Exact Match), else 0.0."""
    exact = set(nodes) == set(gold_nodes) and set(edges) == set(gold_edges)
    return GraphScore(
        score_overlap(nodes, gold_nodes), score_overlap(edges, gold_edges), float(exact)
    )


def average_scores(scores: Sequence[GraphScore]) -> GraphScore:
    """The plain mean of every share over plans. F1 is the mean of F1s, not that of the mean shares.
    Needs a score.
    """

    def mean(values: Iterable[float]) -> float:
        return sum(values) / len(scores)

    def part(some: Sequence[Overlap]) -> Overlap:
        return Overlap(
            mean(x.precision for x in some), mean(x.recall for x in some), mean(x.f1 for x in some)
        )

    nodes, edges = part([s.nodes for s in scores]), part([s.edges for s in scores])
    return GraphScore(nodes, edges, mean(s.exact for s in scores))


def compact_layers(layers: Mapping[str, int], tools: Collection[str]) -> dict[str, int]:
    """The layers of ``tools`` only, empty layers closed up: what is left when the others are taken
    away.
    """
    used = sorted({layers[t] for t in tools})
    place = {k: i for i, k in enumerate(used)}
    return {t: place[layers[t]] for t in tools}


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its confidence interval."""

    value: float
    low: float
    high: float


def paired_bootstrap(
    a: Sequence[float],
    b: Sequence[float],
    *,
    level: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Mean of a - b over tasks, with the percentile interval of resampled tasks (Efron 1979).
    Deterministic.

    ``a`` and ``b`` hold one value per task, in the same order. Raises ValueError where they do not
    match.
    """
    import numpy as np

    if len(a) != len(b) or not a:
        raise ValueError(f"{len(a)} and {len(b)} values are not pairs")
    apart = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    drawn = np.random.default_rng(seed).integers(0, len(apart), size=(samples, len(apart)))
    low, high = np.quantile(apart[drawn].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(apart.mean()), float(low), float(high))


def clustered_bootstrap(
    values: Sequence[float],
    clusters: Sequence[str],
    *,
    level: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """A mean with the percentile interval of resampled clusters (Field and Welsh 2007):
    values of one cluster, such as one template filled in five times, are drawn together.
    Deterministic.

    ``clusters`` names each value's. Raises ValueError where they do not match.
    """
    import numpy as np

    if len(values) != len(clusters) or not values:
        raise ValueError(f"{len(values)} values and {len(clusters)} clusters do not match")
    number = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    of = np.array([number[name] for name in clusters])
    sums = np.bincount(of, np.asarray(values, dtype=float))
    sizes = np.bincount(of)
    drawn = np.random.default_rng(seed).integers(0, len(sums), size=(samples, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(sums.sum() / sizes.sum()), float(low), float(high))


def wilson_interval(successes: float, trials: int, z: float = Z95) -> Interval:
    """A proportion with Wilson's score interval (Wilson 1927). Raises ValueError without trials."""
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials is no proportion")
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    spread = (
        z
        / (1 + z * z / trials)
        * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    )
    return Interval(share, max(0.0, middle - spread), min(1.0, middle + spread))


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Share of the relevant items that are among the first ``k`` ranked."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def all_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1.0 if every relevant item is among the first ``k`` ranked."""
    return float(set(relevant) <= set(ranked[:k]))


def ndcg_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Normalised discounted cumulative gain of the first ``k``, gains 0 and 1 (Järvelin &
    Kekäläinen 2002).
    """
    gain = sum(1 / log2(place + 2) for place, item in enumerate(ranked[:k]) if item in relevant)
    return gain / sum(1 / log2(place + 2) for place in range(min(k, len(set(relevant)))))
