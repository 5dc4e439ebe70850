"""An index on disk: written beside the old one and swapped in whole, read memory-mapped.

``index.json`` names the folder that holds the data, so a reader sees the old index or the new one,
never a mixture.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, convert_errors
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import JsonObject, compute_digest
from callwright.retrieval.dense import Dense
from callwright.retrieval.documents import Documents
from callwright.retrieval.features import Fields
from callwright.retrieval.index import ToolIndex
from callwright.retrieval.lexical import Lexical
from callwright.retrieval.neighbours import EXACT, Neighbours, is_available

if TYPE_CHECKING:
    from numpy import ndarray

FORMAT = 2  # of the files; goes up when they cannot be read by what was before

_HEAD = "index.json"


def save(index: ToolIndex, folder: Path) -> None:
    """Write an index to a folder, in place of the one that is there. One writer at a time.

    Nothing is written where the folder holds these tools already, and the vectors if there are any.
    Raises ConfigError if the folder cannot be written.
    """
    name = None if index.encoder is None or index.vectors is None else index.encoder.name
    tools = compute_digest([FORMAT, index.documents.digests])
    with convert_errors(
        ConfigError, f"the index {folder} cannot be written", hint="name another folder"
    ):
        if _is_current(folder, tools, name):
            return
        folder.mkdir(parents=True, exist_ok=True)
        data = compute_digest([tools, name])
        part = folder / f"{data}.{os.getpid()}.part"
        _write_data(index, part)
        shutil.rmtree(folder / data, ignore_errors=True)  # left by a writer that was stopped
        part.rename(folder / data)
        _replace_head(
            folder / _HEAD, {"format": FORMAT, "data": data, "tools": tools, "encoder": name}
        )
        for old in folder.iterdir():
            if old.is_dir() and old.name != data:
                shutil.rmtree(
                    old, ignore_errors=True
                )  # Windows keeps what is mapped: the next writer clears it


def load(folder: Path, encoder: Encoder | None = None, *, exact: int = EXACT) -> ToolIndex:
    """Return the index that :func:`save` wrote. Stored vectors are used if ``encoder`` made them;
    otherwise they are computed again.

    Without an encoder the index is searched by words only. Raises ConfigError if there is no
    readable index.
    """
    import numpy as np

    head = _read_head(folder)
    data = folder / head["data"]
    with convert_errors(
        ConfigError,
        f"the index {folder} cannot be read",
        hint="delete the folder and build the index again",
    ):
        documents = Documents.load(data)
        words = Fields(
            tools=Lexical.load(data / "tools"),
            parents=Lexical.load(data / "parents"),
            parent_of=np.load(data / "parent_of.npy", mmap_mode="r").view(np.ndarray),
        )
        if encoder is None:
            return ToolIndex(documents, fields=words, exact=exact)
        if head["encoder"] != encoder.name:
            return ToolIndex(
                documents, encoder, encoder.encode([d.text for d in documents]), exact=exact
            )
        vectors = np.load(data / "vectors.npy", mmap_mode="r")
        return ToolIndex(
            documents,
            encoder,
            vectors,
            _with_vectors(words, vectors, data, documents.digests),
            exact,
        )


def _with_vectors(
    words: Fields, vectors: ndarray[Any, Any], data: Path, digests: Sequence[str]
) -> Fields:
    import numpy as np

    parents = np.load(data / "parent_vectors.npy", mmap_mode="r")
    near = (
        Neighbours.load(data / "near", digests)
        if (data / "near").is_file() and is_available()
        else None
    )
    return replace(words, tool_vectors=Dense(vectors), parent_vectors=Dense(parents), near=near)


def is_index(folder: Path) -> bool:
    """Return True if the folder holds a saved index."""
    return (folder / _HEAD).is_file()


def _is_current(folder: Path, tools: str, encoder: str | None) -> bool:
    if not is_index(folder):
        return False
    with suppress(ConfigError):
        head = _read_head(folder)
        return head["tools"] == tools and encoder in (None, head["encoder"])
    return False


def _read_head(folder: Path) -> JsonObject:
    try:
        head = parse((folder / _HEAD).read_bytes())
    except (OSError, JsonError) as error:
        raise ConfigError(
            f"{folder} holds no index: {error}", hint="callwright retrieve --index makes one"
        ) from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ConfigError(
            f"the index {folder} is of another version",
            hint="delete the folder and build the index again",
        )
    return head


def _write_data(index: ToolIndex, folder: Path) -> None:
    import numpy as np

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    index.documents.save(folder)
    fields = index.fields
    fields.tools.save(folder / "tools")
    fields.parents.save(folder / "parents")
    arrays: dict[str, ndarray[Any, Any]] = {"parent_of": fields.parent_of}
    if fields.tool_vectors is not None and fields.parent_vectors is not None:
        arrays |= {
            "vectors": fields.tool_vectors.vectors,
            "parent_vectors": fields.parent_vectors.vectors,
        }
    if fields.near is not None:
        fields.near.save(folder / "near")
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def _replace_head(path: Path, head: JsonObject) -> None:
    import orjson

    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(orjson.dumps(head))
    part.replace(path)
