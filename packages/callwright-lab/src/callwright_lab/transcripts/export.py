"""Records as a data set of Hugging Face's ``datasets`` (optional): a folder for ``load_from_disk``,
or Parquet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import JsonObject

_SCALARS: dict[type, str] = {str: "string", bool: "bool", int: "int64", float: "float64"}


def to_dataset(rows: Sequence[JsonObject]) -> Any:
    """The records as a ``datasets.Dataset``, in order; each comes back as it was put in, but that a
    member which only other records have is None, and an integer of more than 64 bits is a text.

    Members that are texts, numbers or booleans throughout are columns of that type; everything else
    (messages, tools) is JSON (``datasets.Json``), because Arrow has no type for arguments that
    differ from row to row. MissingExtra where the library is not installed.
    """
    try:
        from datasets import Dataset, Features, Json, Value
    except ImportError:
        raise MissingExtra("exporting a data set", "train", "callwright-lab") from None
    names = list(dict.fromkeys(name for row in rows for name in row))
    kinds = {name: _infer_column_type([row[name] for row in rows if name in row]) for name in names}
    features = Features({name: Value(kind) if kind else Json() for name, kind in kinds.items()})
    return Dataset.from_list(
        [{name: row.get(name) for name in names} for row in rows], features=features
    )


def save_dataset(rows: Sequence[JsonObject], path: Path) -> None:
    """Write the records as Parquet where the name ends so, else as a folder for
    ``datasets.load_from_disk``.
    """
    made = to_dataset(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        made.to_parquet(str(path))
    else:
        made.save_to_disk(str(path))


def _infer_column_type(values: Sequence[Any]) -> str:
    """The type of a column; "" where its values are of several, or are no scalars."""
    types = {type(value) for value in values if value is not None}
    large = any(type(value) is int and abs(value) >= 2**63 for value in values)
    return _SCALARS.get(types.pop(), "") if len(types) == 1 and not large else ""
