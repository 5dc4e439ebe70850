"""ACEBench's normal and special rows: conversations, tools and gold, in English and Chinese.

The data are read where the user has them and are never copied. A row keeps the suite's own texts,
which its prompt shows as they are; :meth:`AceRow.turns` and :attr:`AceRow.tools` are the same for a
client that sends messages and ``tools``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from callwright.nouns.types import Json, JsonObject
from callwright_lab.datasets.examples import json_type, read_lines

WHERE = (
    "data_all/data_en and data_all/data_zh of a checkout of github.com/ACEBench/ACEBench (MIT), in"
    " <data>/acebench/"
)
Language = Literal["en", "zh"]
Half = Literal["dev", "final"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
NORMAL = (
    "normal_single_turn_single_function",
    "normal_single_turn_parallel_function",
    "normal_multi_turn_user_switch",
    "normal_multi_turn_user_adjust",
    "normal_similar_api",
    "normal_preference",
    "normal_atom_bool",
    "normal_atom_enum",
    "normal_atom_number",
    "normal_atom_list",
    "normal_atom_object_deep",
    "normal_atom_object_short",
)
SPECIAL = ("special_incomplete", "special_error_param", "special_irrelevant")
CATEGORIES = (*NORMAL, *SPECIAL)
"""The suite's categories that one reply decides. Its ``agent`` categories need a simulated user."""

_TURN = re.compile(r"^(user|system): ?", re.M)


@dataclass(frozen=True, slots=True)
class AceRow:
    """One row. ``gold`` is the suite's ``ground_truth``: calls by name, a list of such, the names
    or values that a special row is about, or the sentence that an irrelevant one wants.
    """

    id: str
    category: str
    language: Language
    question: str
    functions: tuple[JsonObject, ...]
    gold: Json
    time: str = ""
    profile: str = ""

    @property
    def is_special(self) -> bool:
        return self.category in SPECIAL

    @property
    def conversation_id(self) -> str:
        """The id that the steps of one conversation share; any other row's own id."""
        return self.id.rpartition("_")[0] if "multi_turn" in self.category else self.id

    @property
    def id_digest(self) -> str:
        """SHA-256 of ``acebench`` and the id, in hex: it decides the half and the order of
        drawing.
        """
        return hashlib.sha256(f"acebench{self.id}".encode()).hexdigest()

    @property
    def half(self) -> Half:
        """``final`` where the digest is odd."""
        return "final" if int(self.id_digest, 16) % 2 else "dev"

    @property
    def gold_calls(self) -> tuple[Mapping[str, Any], ...]:
        """The candidates of gold, each of which maps names to arguments; none of a special row."""
        if self.is_special:
            return ()
        return tuple(self.gold) if isinstance(self.gold, list) else (dict(self.gold),)

    @property
    def turns(self) -> tuple[tuple[str, str], ...]:
        """(``user`` or ``system``, text) of the conversation; ``system`` is the assistant."""
        parts = _TURN.split(self.question)
        return tuple(
            (role, text.strip()) for role, text in zip(parts[1::2], parts[2::2], strict=True)
        )

    @property
    def tools(self) -> tuple[JsonObject, ...]:
        """The tools as ``tools`` of a chat request describes them: name, description and a JSON
        Schema.
        """
        return tuple(_build_tool(function) for function in self.functions)


def _build_tool(function: Mapping[str, Any]) -> JsonObject:
    given = function.get("parameters") or function.get("arguments") or function.get("_arguments")
    schema = _standardise_schema(given or {})
    return {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": {**schema, "type": "object", "properties": schema.get("properties") or {}},
    }


def _standardise_schema(schema: Json) -> Json:
    """The schema with JSON Schema's names of types (``dict`` and ``float`` are the suite's own) and
    without ``results``, which is no keyword of a schema.
    """
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key != "results"}
    if "type" in made and (kind := json_type(made["type"])):
        made["type"] = kind
    if isinstance(inner := made.get("properties"), dict):
        made["properties"] = {name: _standardise_schema(value) for name, value in inner.items()}
    if "items" in made:
        made["items"] = _standardise_schema(made["items"])
    return made


def iter_rows(root: Path, language: Language, category: str) -> Iterator[AceRow]:
    """The rows of one category. ``root`` is the folder of the data sets. ConfigError without it."""
    folder, name = root / "acebench" / f"data_{language}", f"data_{category}.json"
    answers = {
        row["id"]: row["ground_truth"] for row in _read_file(folder / "possible_answer" / name)
    }
    for row in _read_file(folder / name):
        functions = row["function"]
        yield AceRow(
            row["id"],
            category,
            language,
            row["question"],
            tuple(functions if isinstance(functions, list) else [functions]),
            answers[row["id"]],
            row.get("time") or "",
            row.get("profile") or "",
        )


def _read_file(path: Path) -> list[Any]:
    return read_lines(path, WHERE)
