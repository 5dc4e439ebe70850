"""How good is a plan, a ranking, a graph: pure functions, used by training and benchmarks alike.

Everywhere, gold is a mapping tool -> layer (0 first) and a set of (from, to) dependencies between tools. Tools that
gold does not name (distractors) count nowhere. Functions return (hits, of) so that scores can be pooled over
examples; :func:`share` turns such a pair into a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

Edge = tuple[str, str]
Count = tuple[float, float]


def share(counts: Iterable[Count]) -> float:
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
    """(sum of absolute layer differences, gold tools): the share of it is the mean absolute error in layers."""
    return sum(abs(layers[t] - k) for t, k in gold.items()), len(gold)


def order_accuracy(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(pairs ordered as in gold, pairs of gold tools in different gold layers). A tie is not ordered as in gold."""
    pairs = [(a, b) for a, b in combinations(gold, 2) if gold[a] != gold[b]]
    right = sum((layers[a] < layers[b]) == (gold[a] < gold[b]) and layers[a] != layers[b] for a, b in pairs)
    return right, len(pairs)


def relation_accuracy(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(pairs related as in gold: before, after or in the same layer; all pairs of gold tools)."""
    pairs = list(combinations(gold, 2))
    return sum(_sign(layers[a] - layers[b]) == _sign(gold[a] - gold[b]) for a, b in pairs), len(pairs)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def valid(edges: Collection[Edge], layers: Mapping[str, int]) -> Count:
    """(1 if no gold dependency is broken, 1). A dependency is broken unless its target is in a later layer."""
    return float(all(layers[a] < layers[b] for a, b in edges)), 1


def exact(gold: Mapping[str, int], layers: Mapping[str, int]) -> Count:
    """(1 if every gold tool is in its layer, 1)."""
    return float(all(layers[t] == k for t, k in gold.items())), 1


def edge_counts(gold: Collection[Edge], edges: Collection[Edge], tools: Collection[str]) -> tuple[int, int, int]:
    """(true positives, predicted, gold) among edges whose both ends are in ``tools``."""
    predicted = {e for e in edges if e[0] in tools and e[1] in tools}
    return len(predicted & set(gold)), len(predicted), len(gold)


def f1(counts: Iterable[tuple[int, int, int]]) -> float:
    """F1 of pooled (true positives, predicted, gold); 0.0 where nothing was predicted or expected."""
    right = predicted = expected = 0
    for a, b, c in counts:
        right, predicted, expected = right + a, predicted + b, expected + c
    return 2 * right / (predicted + expected) if predicted + expected else 0.0


def compact(layers: Mapping[str, int], tools: Collection[str]) -> dict[str, int]:
    """The layers of ``tools`` only, empty layers closed up: what is left when the others are taken away."""
    used = sorted({layers[t] for t in tools})
    place = {k: i for i, k in enumerate(used)}
    return {t: place[layers[t]] for t in tools}
