"""The best mode of retrieval that is installed here, and the file that keeps its vectors."""

from __future__ import annotations

from importlib.util import find_spec

from callwright.retrieval.features import Mode

VECTORS = "vectors.db"  # what was encoded once is not encoded again by the next run


def best_mode(encoder: str | None = None) -> Mode:
    """``ranked`` where vectors can be made without fetching anything, or where the user names an
    encoder; else ``lexical``.
    """
    from callwright import weights

    if encoder is not None:
        return "ranked"
    here = all(find_spec(library) for library in ("onnxruntime", "tokenizers"))
    return (
        "ranked"
        if here and all(weights.find(name) for name in ("minilm-int8", "minilm-tokenizer"))
        else "lexical"
    )
