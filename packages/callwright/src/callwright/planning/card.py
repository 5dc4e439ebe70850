"""Trained weights on disk: ``name.npz`` with the arrays and ``name.json``, the card that says what
they are.

The card pins the arrays by sha256 and names shape, encoder, data, command and scores. Arrays are
stored as float16, or as int8 with one scale per row; they are read back as float32. Nothing is
unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from callwright.nouns.errors import WeightsError
from callwright.nouns.types import JsonObject
from callwright.planning.network import Network, Shape
from callwright.weights.arrays import FORMAT, Array, read_arrays, write_arrays

_HEAD = ("format", "name", "sha256", "encoder", "shape")
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


def write_network(
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
    card = write_arrays(
        folder,
        name,
        _pack_arrays(network.weights, precision),
        {"encoder": encoder, "shape": network.shape.to_dict(), "precision": precision, **about},
    )
    return _read_card(card, folder / f"{name}.json")


def read_network(path: Path) -> tuple[Network, Card]:
    """The network stored at ``path`` (the ``.npz``, its card beside it).

    Raises WeightsError if a file is missing, cut short, changed since its card was written, or not
    a layer network.
    """
    arrays, row = read_arrays(path)
    card = _read_card(row, path.with_suffix(".json"))
    return Network(card.shape, _unpack_arrays(arrays)), card


def _read_card(row: JsonObject, path: Path) -> Card:
    if missing := [key for key in _HEAD if key not in row]:
        raise WeightsError(f"the card {path} lacks {', '.join(missing)}")
    about = {key: value for key, value in row.items() if key not in _HEAD}
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
