"""Holds the documents of all tools of an index: names in memory, the rest read from a map on
demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import orjson

from callwright.jsontext import parse
from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.types import Json
from callwright.retrieval.document import Document

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]


class Documents(Sequence[Document]):
    """Documents ordered by name, each name once. Immutable.

    Names, digests and parents are lists; a whole document is a line of JSON in ``blob``, which may
    be a memory map: at 100,000 tools nobody waits for what nobody reads.
    """

    def __init__(
        self,
        names: Sequence[str],
        digests: Sequence[str],
        parents: Sequence[str],
        spans: Array,  # (N, 2) int64: where each line is
        blob: Any,  # uint8, all the lines
    ) -> None:
        self.names = names
        self.digests = digests
        self.parents = parents
        self._spans = spans
        self._blob = blob

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Documents:
        """These documents, put in order."""
        return cls._none().updated({d.name: d for d in documents}).documents

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> Document: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Document]: ...
    def __getitem__(self, at: int | slice) -> Document | Sequence[Document]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        start, end = self._spans[at]
        return Document(**parse(self._blob[start:end].tobytes()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Documents) and (self.names, self.digests) == (
            other.names,
            other.digests,
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Return the position of each name."""
        return {name: i for i, name in enumerate(self.names)}

    def updated(self, fresh: Mapping[str, Document], without: Set[str] = frozenset()) -> Change:
        """With the fresh ones, by name, and without those of some names. Kept lines are copied, not
        read.
        """
        import numpy as np

        stay = [i for i, name in enumerate(self.names) if name not in without and name not in fresh]
        added = list(fresh.values())
        names = [*(self.names[i] for i in stay), *(d.name for d in added)]
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        moved = np.full(len(self), -1, np.int64)
        moved[stay] = place[: len(stay)]
        lines, blob = _serialize_lines(added)
        joined = Documents(
            [names[i] for i in order],
            _reorder_items([*(self.digests[i] for i in stay), *(d.digest for d in added)], order),
            _reorder_items([*(self.parents[i] for i in stay), *(d.parent for d in added)], order),
            np.concatenate([self._spans[stay], lines + len(self._blob)])[order],
            np.concatenate([self._blob, blob]),
        )
        return Change(joined, moved, dict(zip(place[len(stay) :].tolist(), added, strict=True)))

    def save(self, folder: Path) -> None:
        """Write them to a folder."""
        import numpy as np

        (folder / "names.json").write_bytes(
            _serialize_json([self.names, self.digests, self.parents])
        )
        sizes = self._spans[:, 1] - self._spans[:, 0]
        with (folder / "documents.jsonl").open("wb") as file:
            for start, end in self._spans.tolist():
                file.write(self._blob[start:end])
        ends = np.cumsum(sizes)
        np.save(folder / "spans.npy", np.stack([ends - sizes, ends], axis=1))

    @classmethod
    def load(cls, folder: Path) -> Documents:
        """Return the documents that :meth:`save` wrote, memory-mapped."""
        import numpy as np

        names, digests, parents = parse((folder / "names.json").read_bytes())
        spans = np.load(folder / "spans.npy", mmap_mode="r").view(np.ndarray)
        if not names:
            return cls._none()  # an empty file cannot be mapped
        blob = np.memmap(folder / "documents.jsonl", np.uint8, "r").view(np.ndarray)
        return cls(names, digests, parents, spans, blob)

    @classmethod
    def _none(cls) -> Documents:
        import numpy as np

        return cls((), (), (), np.zeros((0, 2), np.int64), np.zeros(0, np.uint8))


@dataclass(frozen=True)
class Change:
    """Result of an update: the new place of each old one (-1: gone), and the fresh documents by
    their place.
    """

    documents: Documents
    moved: Array
    fresh: Mapping[int, Document]


def _serialize_lines(documents: Sequence[Document]) -> tuple[Array, Array]:
    import numpy as np

    lines = [_serialize_json(asdict(d)) + b"\n" for d in documents]
    ends = np.cumsum([0, *map(len, lines)])
    return np.stack([ends[:-1], ends[1:]], axis=1), np.frombuffer(b"".join(lines), np.uint8)


def _reorder_items(items: Sequence[str], order: Sequence[int]) -> list[str]:
    return [items[i] for i in order]


def _serialize_json(value: Json) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # half a character: a file cannot hold it
        return orjson.dumps(join_surrogates(value)[0])
