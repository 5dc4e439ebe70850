"""A graph proposes what is near: as a scan would find it, also after updates, on disk and among
what is gone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.retrieval.neighbours import Neighbours

WIDTH = 24


def vectors(digests: list[str]) -> np.ndarray:
    """Of each digest its own, the same every time."""
    made = [np.random.default_rng(int(d, 16)).normal(size=WIDTH) for d in digests]
    return np.array([v / np.linalg.norm(v) for v in made], np.float32).reshape(len(digests), WIDTH)


def digests(numbers: range | list[int]) -> list[str]:
    return [f"{(n + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}" for n in numbers]


def nearest(held: list[str], asked: np.ndarray, count: int) -> list[int]:
    return sorted(set(np.argsort(-(vectors(held) @ asked.T), axis=0)[:count].ravel().tolist()))


def test_what_is_near_is_found_nearly_always() -> None:
    held = digests(range(3_000))
    asked = vectors(digests(range(10_000, 10_020)))
    near = Neighbours.build(held, vectors(held))
    found = [set(near.nearest(asked[i : i + 1], 50).tolist()) for i in range(20)]
    hits = [len(got & set(nearest(held, asked[i : i + 1], 10))) for i, got in enumerate(found)]
    assert sum(hits) >= 198


def test_each_of_several_asked_vectors_is_looked_for() -> None:
    held = digests(range(200))
    near = Neighbours.build(held, vectors(held))
    assert near.nearest(vectors([held[7], held[90]]), 1).tolist() == [7, 90]


NUMBERS = st.sets(st.integers(0, 40), min_size=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=5))
def test_updated_it_finds_what_it_would_find_built_anew(steps: list[set[int]]) -> None:
    before = digests(sorted(steps[0]))
    near = Neighbours.build(before, vectors(before))
    asked = vectors(digests([1000]))
    for numbers in steps[1:]:
        held = digests(sorted(numbers, key=lambda n: n * 7 % 41))
        near = near.updated(held, vectors(held))
        assert near.nearest(asked, 100).tolist() == list(range(len(held))), (
            "all of them, and none that is gone"
        )


def test_the_graph_that_was_updated_still_stands() -> None:
    old, new = digests(range(30)), digests(range(20, 60))
    near = Neighbours.build(old, vectors(old))
    near.updated(new, vectors(new))
    assert near.nearest(vectors(old[5:6]), 100).tolist() == list(range(30))


def test_mapped_from_disk_it_finds_the_same_and_can_be_updated(tmp_path: Path) -> None:
    held = digests(range(60))
    near = Neighbours.build(held, vectors(held))
    near.save(tmp_path / "near")
    loaded = Neighbours.load(tmp_path / "near", held)
    asked = vectors(digests([99]))
    assert (
        loaded.nearest(asked, 5).tolist()
        == near.nearest(asked, 5).tolist()
        == nearest(held, asked, 5)
    )
    more = digests(range(70))
    assert loaded.updated(more, vectors(more)).nearest(asked, 5).tolist() == nearest(more, asked, 5)
