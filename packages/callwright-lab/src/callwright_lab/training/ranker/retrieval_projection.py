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

from callwright.weights.arrays import Array


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
    adam = _Adam(np.zeros_like(identity))
    for epoch in range(settings.epochs):
        rate = settings.rate * (1 - epoch / settings.epochs)
        order = rng.permutation(len(lessons))
        for start in range(0, len(order), settings.batch):
            batch = [lessons[i] for i in order[start : start + settings.batch]]
            moved = [Lesson(one.asked, tuple(place[list(one.needed)])) for one in batch]
            gradient = _find_gradient(identity + adam.value, moved, kept, settings.temperature)
            gradient += 2 * settings.penalty / len(identity) * adam.value
            adam.descend(gradient, rate)
    return np.asarray(identity + adam.value, np.float32)


class _Adam:
    """A value that follows its gradient (Kingma and Ba 2015; 0.9, 0.999, 1e-8)."""

    def __init__(self, value: Array) -> None:
        self.value = value
        self._first: Array = np.zeros_like(value)
        self._second: Array = np.zeros_like(value)
        self._step = 0

    def descend(self, gradient: Array, rate: float) -> None:
        """Take one step against the gradient."""
        self._step += 1
        self._first = 0.9 * self._first + 0.1 * gradient
        self._second = 0.999 * self._second + 0.001 * gradient**2
        first = self._first / (1 - 0.9**self._step)
        second = self._second / (1 - 0.999**self._step)
        self.value = self.value - rate * first / (np.sqrt(second) + 1e-8)


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
