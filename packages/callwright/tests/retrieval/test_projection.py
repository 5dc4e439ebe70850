"""The projection turns vectors of its own encoder and no others."""

from __future__ import annotations

import numpy as np

from callwright.retrieval.projection import Projection, build_identity

SWAP = Projection(np.array([[0, 2], [1, 0]], np.float32), "letters")


def test_vectors_are_turned_and_of_length_one() -> None:
    turned = SWAP(np.array([[0.6, 0.8], [1.0, 0.0]], np.float32), "letters")
    assert np.allclose(np.linalg.norm(turned, axis=1), 1.0)
    assert np.allclose(turned[1], [0.0, 1.0])


def test_vectors_of_another_encoder_pass_unchanged() -> None:
    given = np.array([[0.6, 0.8]], np.float32)
    assert SWAP(given, "other") is given
    assert build_identity()(given, "letters") is given
    wide = np.ones((1, 3), np.float32)
    assert SWAP(wide, "letters") is wide
