"""The default encoder: all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0), int8 weights, 384
wide, frozen.

Mean pooling over tokens, L2 normalisation and 256 tokens, as its authors publish it.
"""

from __future__ import annotations

from pathlib import Path

from callwright.models.encoders.onnx import OnnxEncoder

NAME = "minilm-int8"
WIDTH = 384
MAX_LENGTH = 256


def open_minilm(
    model: Path | None = None,
    tokenizer: Path | None = None,
    *,
    max_length: int = MAX_LENGTH,
    threads: int = 1,
) -> OnnxEncoder:
    """MiniLM from the given files, or from the pinned ones, fetched and checked on first use.

    Raises WeightsError if they can be had nowhere and MissingExtra without the extra ``encoder``.
    """
    from callwright import weights

    return OnnxEncoder(
        model or weights.fetch("minilm-int8"),
        tokenizer or weights.fetch("minilm-tokenizer"),
        name=NAME,
        max_length=max_length,
        threads=threads,
    )
