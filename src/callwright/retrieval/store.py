"""An index on disk: written beside the old one and swapped in whole, read memory-mapped.

``index.json`` names the folder that holds the data, so a reader sees the old index or the new one, never a mixture.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.errors import ConfigError, boundary
from callwright.jsontext import JsonError, parse
from callwright.protocols import Encoder
from callwright.retrieval.dense import Dense
from callwright.retrieval.document import Document
from callwright.retrieval.features import Fields
from callwright.retrieval.index import ToolIndex
from callwright.retrieval.lexical import Lexical
from callwright.types import JsonObject, digest

if TYPE_CHECKING:
    from numpy import ndarray

FORMAT = 1  # of the files; goes up when they cannot be read by what was before

_HEAD = "index.json"


def save(index: ToolIndex, folder: Path) -> None:
    """Write an index to a folder, in place of the one that is there. One writer at a time.

    Raises ConfigError if the folder cannot be written.
    """
    name = None if index.encoder is None or index.vectors is None else index.encoder.name
    data = digest([FORMAT, name, [d.digest for d in index.documents]])
    head = {"format": FORMAT, "data": data, "tools": len(index), "encoder": name}
    with boundary(ConfigError, f"the index {folder} cannot be written", hint="name another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / data).is_dir():
            part = folder / f"{data}.{os.getpid()}.part"
            _write(index, part)
            part.rename(folder / data)
        _swap(folder / _HEAD, head)
        for old in folder.iterdir():
            if old.is_dir() and old.name != data:
                shutil.rmtree(old)


def load(folder: Path, encoder: Encoder | None = None) -> ToolIndex:
    """What :func:`save` wrote. Vectors are used where ``encoder`` is the one that made them, else made anew.

    Without an encoder the index is searched by words only. Raises ConfigError where there is no readable index.
    """
    import numpy as np

    head = _head(folder)
    data = folder / head["data"]
    with boundary(ConfigError, f"the index {folder} cannot be read", hint="delete the folder and build it anew"):
        documents = tuple(Document(*row) for row in parse((data / "documents.json").read_bytes()))
        parent_of = np.load(data / "parent_of.npy", mmap_mode="r")
        words = Fields(
            tools=Lexical.load(data / "tools", len(documents)),
            parents=Lexical.load(data / "parents", int(parent_of.max(initial=-1)) + 1),
            parent_of=parent_of,
        )
        if encoder is None:
            return ToolIndex(documents, fields=words)
        if head["encoder"] != encoder.name:
            return ToolIndex(documents, encoder, encoder.encode([d.text for d in documents]))
        vectors = np.load(data / "vectors.npy", mmap_mode="r")
        parents = np.load(data / "parent_vectors.npy", mmap_mode="r")
        both = Fields(words.tools, words.parents, parent_of, Dense(vectors), Dense(parents))
        return ToolIndex(documents, encoder, vectors, both)


def is_index(folder: Path) -> bool:
    """Whether an index was saved there."""
    return (folder / _HEAD).is_file()


def _head(folder: Path) -> JsonObject:
    try:
        head = parse((folder / _HEAD).read_bytes())
    except (OSError, JsonError) as error:
        raise ConfigError(f"{folder} holds no index: {error}", hint="callwright retrieve --index makes one") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ConfigError(f"the index {folder} is of another version", hint="delete the folder and build it anew")
    return head


def _write(index: ToolIndex, folder: Path) -> None:
    import numpy as np
    import orjson

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rows = [[d.name, d.digest, d.parent, d.terms, d.text] for d in index.documents]
    (folder / "documents.json").write_bytes(orjson.dumps(rows))
    fields = index.fields
    fields.tools.save(folder / "tools")
    fields.parents.save(folder / "parents")
    arrays: dict[str, ndarray[Any, Any]] = {"parent_of": fields.parent_of}
    if fields.tool_vectors is not None and fields.parent_vectors is not None:
        arrays |= {"vectors": fields.tool_vectors.vectors, "parent_vectors": fields.parent_vectors.vectors}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def _swap(path: Path, head: JsonObject) -> None:
    import orjson

    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(orjson.dumps(head))
    part.replace(path)
