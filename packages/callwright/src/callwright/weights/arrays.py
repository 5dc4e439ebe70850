"""Weights on disk: ``name.npz`` with the arrays and ``name.json``, the card, whose ``sha256`` pins
them. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from callwright.jsontext import parse
from callwright.nouns.errors import WeightsError
from callwright.nouns.types import JsonObject

Array: TypeAlias = np.ndarray[Any, Any]

FORMAT = 1


def write_arrays(
    folder: Path, name: str, arrays: Mapping[str, Array], about: JsonObject
) -> JsonObject:
    """Store arrays and their card, and return the card. Same arrays, same bytes."""
    data = _encode_npz(arrays)
    card = {"format": FORMAT, "name": name, "sha256": hashlib.sha256(data).hexdigest(), **about}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.npz").write_bytes(data)
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return card


def read_arrays(path: Path) -> tuple[dict[str, Array], JsonObject]:
    """The arrays at ``path`` (the ``.npz``) by their names, and their card.

    Raises WeightsError if either is missing, cut short, or changed since the card was written.
    """
    card_path = path.with_suffix(".json")
    try:
        card = parse(card_path.read_bytes())
        data = path.read_bytes()
    except OSError as exc:
        raise WeightsError(f"the weights {exc.filename} cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise WeightsError(f"the card {card_path} is not JSON: {exc}") from exc
    if not isinstance(card, dict) or card.get("format") != FORMAT or "sha256" not in card:
        raise WeightsError(f"the card {card_path} is not of format {FORMAT}")
    if hashlib.sha256(data).hexdigest() != card["sha256"]:
        raise WeightsError(
            f"{path} is not the file its card describes (sha256 differs)",
            hint="fetch or train both again: the .npz and the .json belong together",
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            return dict(found), card
    except (ValueError, OSError, zipfile.BadZipFile) as exc:
        raise WeightsError(f"{path} holds no arrays: {exc}") from exc


def _encode_npz(arrays: Mapping[str, Array]) -> bytes:
    """An .npz whose bytes depend on the arrays only: names sorted, no time stamps."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name in sorted(arrays):
            part = io.BytesIO()
            found = np.asarray(arrays[name], order="C")
            np.lib.format.write_array(part, found, allow_pickle=False)  # type: ignore[no-untyped-call, unused-ignore]
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), part.getvalue(), zipfile.ZIP_DEFLATED)
    return out.getvalue()
