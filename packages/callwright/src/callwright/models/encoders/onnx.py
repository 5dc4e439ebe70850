"""A sentence encoder from two files: an ONNX graph and a Hugging Face ``tokenizer.json``.

Takes any BERT-like graph (inputs ``input_ids``, ``attention_mask``, maybe ``token_type_ids``) that
answers either token states (B, S, D), which are pooled here, or finished vectors (B, D).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from callwright.nouns.errors import ConfigError, MissingExtra, WeightsError, convert_errors

if TYPE_CHECKING:
    from numpy import ndarray

Pooling = Literal["mean", "cls"]


class OnnxEncoder:
    """Texts -> unit vectors by onnxruntime on the CPU. Deterministic; thread-safe; padding does not
    matter.

    ``threads`` is onnxruntime's intra-op count. Texts longer than ``max_length`` tokens are cut.
    Raises MissingExtra without the extra ``encoder`` and WeightsError if a file cannot be used.
    """

    def __init__(
        self,
        model: Path,
        tokenizer: Path,
        *,
        name: str = "",
        pooling: Pooling = "mean",
        max_length: int = 256,
        batch: int = 8,
        threads: int = 1,
    ) -> None:
        try:
            import onnxruntime
            import tokenizers
        except ImportError:
            raise MissingExtra("a local text encoder", "encoder") from None
        if max_length < 3 or batch < 1 or threads < 1:
            raise ConfigError("an encoder needs max_length >= 3, batch >= 1 and threads >= 1")
        for path in (model, tokenizer):
            if not path.is_file():
                raise WeightsError(f"the encoder file {path} is not there")
        self.name = name or model.parent.name
        self._pooling = pooling
        self._batch = batch
        with convert_errors(WeightsError, f"encoder {model}"):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length)
        self._inputs = {i.name for i in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self.width = int(self._run([self._tokenizer.encode("width").ids]).shape[1])

    def encode(self, texts: Sequence[str]) -> ndarray[Any, Any]:
        """Unit vectors, float32 of shape (len(texts), width), in the order of ``texts``."""
        import numpy as np

        out = np.zeros((len(texts), self.width), np.float32)
        tokens = [e.ids for e in self._tokenizer.encode_batch([t or " " for t in texts])]
        for rows in _by_length(tokens, self._batch):
            out[rows] = self._run([tokens[i] for i in rows])
        return out

    def _run(self, tokens: Sequence[Sequence[int]]) -> ndarray[Any, Any]:
        """One batch of token ids to unit vectors (B, D)."""
        import numpy as np

        longest = max(1, max(map(len, tokens)))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(tokens):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with convert_errors(WeightsError, f"encoder {self.name}"):
            states = self._session.run(
                [self._output], {k: v for k, v in feed.items() if k in self._inputs}
            )[0]
        return _normalize_vectors(states if states.ndim == 2 else self._pool(states, mask))

    def _pool(self, states: ndarray[Any, Any], mask: ndarray[Any, Any]) -> ndarray[Any, Any]:
        """Token states (B, S, D) to one vector per text (B, D)."""
        import numpy as np

        if self._pooling == "cls":
            return np.asarray(states[:, 0])
        weight = mask[..., None].astype(np.float32)
        return np.asarray((states * weight).sum(1) / np.maximum(weight.sum(1), 1))


def open_folder(folder: Path, *, threads: int = 1) -> OnnxEncoder:
    """The encoder of a model folder as exporters write it: ``[onnx/]model.onnx`` and
    ``tokenizer.json``.

    Pooling and maximum length are read from sentence-transformers' ``1_Pooling/config.json`` and
    ``sentence_bert_config.json`` where they are there; otherwise mean pooling, 256 tokens.
    """
    model = find_onnx(folder)
    if model is None:
        raise ConfigError(
            f"{folder} holds no .onnx file", hint="export it to model.onnx beside tokenizer.json"
        )
    pooling = _read_settings(folder / "1_Pooling" / "config.json")
    cls = bool(pooling.get("pooling_mode_cls_token") or pooling.get("pooling_mode") == "cls")
    length = _read_settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return OnnxEncoder(
        model,
        folder / "tokenizer.json",
        name=folder.name,
        pooling="cls" if cls else "mean",
        max_length=length if isinstance(length, int) else 256,
        threads=threads,
    )


def find_onnx(folder: Path) -> Path | None:
    """The graph of a model folder: model.onnx first, then onnx/model.onnx, then the first other
    .onnx file.
    """
    found = [folder / "model.onnx", folder / "onnx" / "model.onnx", *sorted(folder.glob("*.onnx"))]
    return next(
        (path for path in [*found, *sorted(folder.glob("onnx/*.onnx"))] if path.is_file()), None
    )


def _read_settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    from callwright.jsontext import parse

    found = parse(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _by_length(tokens: Sequence[Sequence[int]], batch: int) -> Iterator[list[int]]:
    """Row numbers in batches of similar length, so that little is padded."""
    order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


def _normalize_vectors(vectors: ndarray[Any, Any]) -> ndarray[Any, Any]:
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), np.float32)
