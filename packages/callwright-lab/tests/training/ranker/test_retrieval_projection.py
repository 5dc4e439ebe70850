"""The projection of requests' vectors: its gradient, what it learns, and what it may not look at."""

from __future__ import annotations

import numpy as np
import pytest

from callwright_lab.training.ranker.retrieval_projection import (
    Lesson,
    ProjectionSettings,
    _find_gradient,
    fit_projection,
)

WIDTH = 6
NEEDED = np.array([1, 5])


def _draw_units(count: int, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, WIDTH))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def _compute_loss(matrix: np.ndarray, asked: np.ndarray, tools: np.ndarray) -> float:
    """As the module says it: the mean over needed tools of -log of its share beside the others."""
    turned = asked @ matrix
    turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    powers = np.exp((turned @ tools.T).max(axis=0) / 0.1)
    rest = np.delete(powers, NEEDED).sum()
    return float(np.mean(-np.log(powers[NEEDED] / (powers[NEEDED] + rest))))


def test_the_gradient_is_that_of_the_loss() -> None:
    tools, asked = _draw_units(12, 0), _draw_units(5, 1)
    matrix = np.eye(WIDTH) + 0.1 * _draw_units(WIDTH, 2)
    lessons = [Lesson(asked[:3], tuple(NEEDED)), Lesson(asked[3:], tuple(NEEDED))]
    found = _find_gradient(matrix, lessons, tools, 0.1)
    for row, column in np.ndindex(WIDTH, WIDTH):
        step = np.zeros_like(matrix)
        step[row, column] = 1e-6
        slope = sum(
            sign * _compute_loss(matrix + sign * step, part, tools) / 2
            for part in (asked[:3], asked[3:])
            for sign in (1, -1)
        )
        assert found[row, column] == pytest.approx(slope / 2e-6, abs=1e-6)


def test_what_every_request_says_is_learned_to_be_no_wish() -> None:
    """Requests lie between their tool and one direction that all of them share."""
    tools = np.eye(WIDTH, dtype=np.float32)
    chatter = tools[0]
    asked = [tools[i] + 2 * chatter for i in range(1, WIDTH)]
    lessons = [
        Lesson((vector / np.linalg.norm(vector))[None].astype(np.float32), (i,))
        for i, vector in enumerate(asked, 1)
    ]
    nobody = np.zeros(WIDTH, bool)
    settings = ProjectionSettings(epochs=60, rate=0.05, penalty=0.1)
    matrix = fit_projection(lessons, tools, nobody, settings)
    unseen = tools[2] + 1.5 * chatter + 0.5 * tools[5]
    assert int((unseen @ tools.T).argmax()) == 0
    assert int((unseen @ matrix @ tools.T).argmax()) == 2
    assert np.array_equal(matrix, fit_projection(lessons, tools, nobody, settings))


def test_a_tool_that_is_kept_apart_teaches_nothing() -> None:
    tools = _draw_units(8, 3).astype(np.float32)
    lessons = [Lesson(_draw_units(2, 4).astype(np.float32), (0, 1))]
    apart = np.arange(8) == 7
    moved = tools.copy()
    moved[7] = -moved[7]
    settings = ProjectionSettings(epochs=2)
    assert np.array_equal(
        fit_projection(lessons, tools, apart, settings),
        fit_projection(lessons, moved, apart, settings),
    )
    with pytest.raises(ValueError, match="kept apart"):
        fit_projection(lessons, tools, np.arange(8) == 1, settings)
