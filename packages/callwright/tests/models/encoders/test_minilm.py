from __future__ import annotations

import numpy as np

from callwright.models.encoders.onnx import OnnxEncoder

PARAPHRASES = [
    ("What is the weather in Paris tomorrow?", "Tell me tomorrow's forecast for Paris."),
    ("Convert 20 dollars to euros.", "How many euros do I get for twenty dollars?"),
    ("Find a flight from Oslo to Lisbon.", "I need to fly to Lisbon, leaving from Oslo."),
]
FP32 = [
    0.7900,
    0.7717,
    0.9016,
]  # cosines of these pairs by the model's fp32 weights in sentence-transformers


def test_paraphrases_are_nearer_than_anything_unrelated(minilm: OnnxEncoder) -> None:
    left, right = (minilm.encode([pair[side] for pair in PARAPHRASES]) for side in (0, 1))
    cosine = left @ right.T
    unrelated = cosine[~np.eye(len(PARAPHRASES), dtype=bool)]
    assert cosine.diagonal().min() > unrelated.max() + 0.2


def test_vectors_are_384_wide_unit_float32(minilm: OnnxEncoder) -> None:
    found = minilm.encode(["one", "two words"])
    assert minilm.width == 384
    assert found.shape == (2, 384)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_int8_weights_give_the_cosines_of_the_fp32_model(minilm: OnnxEncoder) -> None:
    texts = [text for pair in PARAPHRASES for text in pair]
    found = minilm.encode(texts)
    got = [float(found[i] @ found[i + 1]) for i in range(0, len(texts), 2)]
    assert np.allclose(got, FP32, atol=0.005), got
