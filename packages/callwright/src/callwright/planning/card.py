"""Trained weights on disk: ``name.npz`` with the arrays and ``name.json``, the card that says what
they are.

The card pins the arrays by sha256 and names shape, encoder, data, command and scores. Arrays are
stored as float16, or as int8 with one scale per row; they are read back as float32. Nothing is
unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from callwright.jsontext import parse
from callwright.nouns.errors import WeightsError
from callwright.nouns.types import JsonObject
from callwright.planning.network import Array, Network, Shape

FORMAT = 1
SCALE = "|scale"  # behind the name of an int8 array: the name of its scales

Precision = Literal["float32", "float16", "int8"]


@dataclass(frozen=True, slots=True)
class Card:
    """Description of a weight file. ``about`` is free-form: data, licences, command, scores,
    settings.
    """

    name: str
    sha256: str
    shape: Shape
    encoder: str  # Encoder.name: vectors of another encoder would mean nothing to these weights
    about: JsonObject = field(default_factory=dict)

    def to_dict(self) -> JsonObject:
        head = {"format": FORMAT, "name": self.name, "sha256": self.sha256, "encoder": self.encoder}
        return head | {"shape": self.shape.to_dict()} | self.about


def write(
    folder: Path,
    name: str,
    network: Network,
    encoder: str,
    about: JsonObject,
    precision: Precision = "float16",
) -> Card:
    """Store ``network`` as ``folder/name.npz`` with its card ``folder/name.json``. Same weights,
    same bytes.
    """
    data = _serialize_npz(_pack_arrays(network.weights, precision))
    card = Card(
        name,
        hashlib.sha256(data).hexdigest(),
        network.shape,
        encoder,
        {"precision": precision, **about},
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.npz").write_bytes(data)
    text = json.dumps(card.to_dict(), indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return card


def read(path: Path) -> tuple[Network, Card]:
    """The network stored at ``path`` (the ``.npz``, its card beside it).

    Raises WeightsError if a file is missing, cut short, changed since its card was written, or not
    a layer network.
    """
    card = read_card(path.with_suffix(".json"))
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise WeightsError(f"the weights {path} cannot be read: {exc.strerror}") from exc
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise WeightsError(
            f"{path} is not the file its card describes (sha256 differs)",
            hint="fetch or train both again: the .npz and the .json belong together",
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = _unpack_arrays(dict(found))
    except (ValueError, OSError, zipfile.BadZipFile) as exc:
        raise WeightsError(f"{path} holds no arrays: {exc}") from exc
    return Network(card.shape, arrays), card


def read_card(path: Path) -> Card:
    """The card at ``path``. Raises WeightsError if it is not there or is none."""
    try:
        row = parse(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise WeightsError(f"the card {path} cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise WeightsError(f"the card {path} is not JSON: {exc}") from exc
    if not isinstance(row, dict) or row.get("format") != FORMAT:
        raise WeightsError(f"{path} is not a card of format {FORMAT}")
    head = ("format", "name", "sha256", "encoder", "shape")
    if missing := [key for key in head if key not in row]:
        raise WeightsError(f"the card {path} lacks {', '.join(missing)}")
    about = {key: value for key, value in row.items() if key not in head}
    return Card(
        str(row["name"]),
        str(row["sha256"]),
        Shape.from_dict(row["shape"]),
        str(row["encoder"]),
        about,
    )


def round_weights(network: Network, precision: Precision) -> Network:
    """The network as it will be after storing and reading it back: what ought to be scored."""
    return Network(network.shape, _unpack_arrays(_pack_arrays(network.weights, precision)))


def _pack_arrays(arrays: Mapping[str, Array], precision: Precision) -> dict[str, Array]:
    if precision != "int8":
        return {name: found.astype(precision) for name, found in arrays.items()}
    packed: dict[str, Array] = {}
    for name, found in arrays.items():
        if found.ndim < 2:
            packed[name] = found.astype(np.float16)
            continue
        scale = np.maximum(np.abs(found).max(axis=1, keepdims=True) / 127, 1e-12).astype(np.float32)
        packed[name] = np.round(found / scale).astype(np.int8)
        packed[name + SCALE] = scale
    return packed


def _unpack_arrays(arrays: Mapping[str, Array]) -> dict[str, Array]:
    plain = {
        name: found.astype(np.float32) for name, found in arrays.items() if not name.endswith(SCALE)
    }
    scales = {
        name.removesuffix(SCALE): found for name, found in arrays.items() if name.endswith(SCALE)
    }
    return {
        name: found * scales[name] if name in scales else found for name, found in plain.items()
    }


def _serialize_npz(arrays: Mapping[str, Any]) -> bytes:
    """An .npz whose bytes depend on the arrays only: names sorted, no time stamps."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name in sorted(arrays):
            part = io.BytesIO()
            found = np.ascontiguousarray(arrays[name])
            np.lib.format.write_array(part, found, allow_pickle=False)  # type: ignore[no-untyped-call, unused-ignore]
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), part.getvalue(), zipfile.ZIP_DEFLATED)
    return out.getvalue()
