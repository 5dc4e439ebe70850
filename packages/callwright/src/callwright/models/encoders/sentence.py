"""A sentence-transformers folder run by PyTorch, for encoders nobody exported to ONNX
(ToolBench-IR, for one).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.nouns.errors import MissingExtra, WeightsError, convert_errors

if TYPE_CHECKING:
    from numpy import ndarray


class SentenceEncoder:
    """Texts -> unit vectors by sentence-transformers on the CPU. Nothing is downloaded: ``folder``
    must be whole.

    Raises MissingExtra where sentence-transformers is absent and WeightsError if the folder cannot
    be used.
    """

    def __init__(self, folder: Path, *, batch: int = 8) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtra(
                f"the encoder folder {folder} (no .onnx file in it)", "sentence"
            ) from None
        self.name = folder.name
        self._batch = batch
        with convert_errors(
            WeightsError,
            f"encoder {folder}",
            hint="it should be a whole sentence-transformers folder",
        ):
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self.width = int(self.encode(["width"]).shape[1])

    def encode(self, texts: Sequence[str]) -> ndarray[Any, Any]:
        """Unit vectors, float32 of shape (len(texts), width)."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), np.float32)
        found = self._model.encode(
            list(texts), batch_size=self._batch, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(found, np.float32)
