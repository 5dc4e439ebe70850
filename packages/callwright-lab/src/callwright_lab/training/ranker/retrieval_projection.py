"""Learns the projection of requests' vectors (:mod:`callwright.retrieval.projection`).

The matrix starts as the identity. For every query the tools that it needs are told from all others
of the catalogue by the highest cosine with any of its clauses (softmax over the catalogue, one
needed tool at a time), by Adam (Kingma and Ba 2015), with the distance from the identity as
penalty. That distance is the setting that matters: without it some hundred thousand numbers learn a
few hundred queries by heart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from callwright.weights.trees import Array


@dataclass(frozen=True, slots=True)
class ProjectionSettings:
    """Everything that a projection depends on besides the data."""

    epochs: int = 8
    rate: float = 2e-3
    penalty: float = 20.0  # of the mean squared distance from the identity, a column each
    temperature: float = 0.05
    batch: int = 64
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Lesson:
    """One query: the unit vectors (Q, D) of the request and its clauses, and the rows of the needed
    tools.
    """

    asked: Array
    needed: tuple[int, ...]


def fit_projection(
    lessons: Sequence[Lesson], tools: Array, apart: Array, settings: ProjectionSettings
) -> Array:
    """The matrix (D, D) float32 learned from lessons over ``tools`` (N, D), unit vectors.

    Tools that ``apart`` (N,) marks are not looked at, not even as what is not needed. Raises
    ValueError where a lesson needs one of them. Deterministic on one machine.
    """
    if any(apart[list(lesson.needed)].any() for lesson in lessons):
        raise ValueError("a lesson needs a tool that is kept apart")
    rng = np.random.default_rng(settings.seed)
    place = np.cumsum(~apart) - 1
    kept = np.ascontiguousarray(tools[~apart], dtype=np.float32)
    identity = np.eye(tools.shape[1], dtype=np.float32)
    change = np.zeros_like(identity)
    first, second, step = np.zeros_like(identity), np.zeros_like(identity), 0
    for epoch in range(settings.epochs):
        rate = settings.rate * (1 - epoch / settings.epochs)
        order = rng.permutation(len(lessons))
        for start in range(0, len(order), settings.batch):
            batch = [lessons[i] for i in order[start : start + settings.batch]]
            moved = [Lesson(one.asked, tuple(place[list(one.needed)])) for one in batch]
            gradient = _find_gradient(identity + change, moved, kept, settings.temperature)
            gradient += 2 * settings.penalty / len(identity) * change
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            change -= (rate * (first / (1 - 0.9**step))) / (
                np.sqrt(second / (1 - 0.999**step)) + 1e-8
            )
    return np.asarray(identity + change, np.float32)


def _find_gradient(
    matrix: Array, lessons: Sequence[Lesson], tools: Array, temperature: float
) -> Array:
    """The gradient of the lessons' mean loss by the matrix, (D, D)."""
    asked = np.concatenate([lesson.asked for lesson in lessons])
    turned = asked @ matrix
    norms = np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9)
    unit = turned / norms
    cosines = unit @ tools.T
    by_cosine = np.zeros_like(cosines)
    start = 0
    for lesson in lessons:
        rows = slice(start, start := start + len(lesson.asked))
        by_score = _find_score_gradient(
            cosines[rows].max(axis=0) / temperature, np.array(lesson.needed)
        )
        nearest = cosines[rows].argmax(axis=0)
        by_cosine[rows][nearest, np.arange(len(tools))] = by_score / temperature / len(lessons)
    by_unit = by_cosine @ tools
    by_turned = (by_unit - unit * (unit * by_unit).sum(axis=1, keepdims=True)) / norms
    found: Array = asked.T @ by_turned
    return found


def _find_score_gradient(scores: Array, needed: Array) -> Array:
    """The gradient by the scores (N,) of the mean over needed tools of -log of each one's share
    beside all that are not needed.
    """
    shifted = np.exp(scores - scores.max())
    others = shifted.copy()
    others[needed] = 0.0
    rest = max(float(others.sum()), 1e-30)
    missed = rest / (shifted[needed] + rest)
    found: Array = others * (missed.mean() / rest)
    found[needed] = -missed / len(needed)
    return found
