"""The default encoder: all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0), int8 weights, 384
wide, frozen.

Mean pooling over tokens, L2 normalisation and 256 tokens, as its authors publish it.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from callwright.models.encoders.lazy import LazyEncoder
from callwright.models.encoders.onnx import OnnxEncoder
from callwright.nouns.errors import MissingExtra

NAME = "minilm-int8"
WIDTH = 384
MAX_LENGTH = 256


def open_when_needed(*, threads: int = 1) -> LazyEncoder:
    """MiniLM from the pinned files, which are fetched and checked at once and loaded with the first
    text. Raises as :func:`open_minilm`.
    """
    from callwright import weights

    if not all(find_spec(library) for library in ("onnxruntime", "tokenizers")):
        raise MissingExtra("a local text encoder", "encoder")
    files = weights.fetch("minilm-int8"), weights.fetch("minilm-tokenizer")
    return LazyEncoder(NAME, WIDTH, lambda: open_minilm(*files, threads=threads))


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
