"""Texts to unit vectors. The default is MiniLM on onnxruntime; any other encoder is named by a
spec.

===========================================  ==================================================================
``minilm``                                   all-MiniLM-L6-v2, int8, 384 wide; fetched on first use
a folder with an ``.onnx`` file              run by onnxruntime, with the ``tokenizer.json`` beside it
a folder of sentence-transformers            run by PyTorch (ToolBench-IR as its authors publish it)
``https://host/v1#model``                    an OpenAI-compatible embeddings endpoint
===========================================  ==================================================================
"""

from __future__ import annotations

from pathlib import Path

from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Encoder

__all__ = ["open_encoder"]


def open_encoder(
    spec: str | None = None, *, cache: Path | None = None, threads: int = 1
) -> Encoder:
    """The encoder that ``spec`` names (None: MiniLM); it remembers what it encoded, in ``cache``
    too if given.

    Raises ConfigError for a spec that names nothing, MissingExtra where a library is absent,
    WeightsError where files are missing or broken.
    """
    from callwright.models.encoders.cached import CachedEncoder

    return CachedEncoder(_open_spec((spec or "minilm").strip(), threads), cache)


def _open_spec(spec: str, threads: int) -> Encoder:
    if spec in ("minilm", "minilm-int8"):
        from callwright.models.encoders.minilm import open_when_needed

        return open_when_needed(threads=threads)
    if spec.startswith(("http://", "https://")):
        from callwright.models.encoders.endpoint import EndpointEncoder

        url, _, model = spec.partition("#")
        return EndpointEncoder(url, model)
    folder = Path(spec).expanduser()
    if not folder.is_dir():
        raise ConfigError(
            f"there is no encoder {spec!r}",
            hint=(
                "--encoder takes minilm, a model folder, or https://host/v1#model for an embeddings"
                " endpoint"
            ),
        )
    return _open_folder(folder, threads)


def _open_folder(folder: Path, threads: int) -> Encoder:
    from callwright.models.encoders.onnx import find_onnx, open_folder

    if find_onnx(folder) is not None:
        return open_folder(folder, threads=threads)
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise ConfigError(
            f"{folder} is not an encoder: no .onnx file, no modules.json, no config.json"
        )
    from callwright.models.encoders.sentence import SentenceEncoder

    return SentenceEncoder(folder)
