"""Tools that are declared in data alone: each is one action on one table of the state.

``tools.toml`` names for each the ``action``, the ``table`` and ``key``, the argument that holds an
entry's id. ``fields`` are arguments that an entry holds under another name, ``fixed`` are values
that a call gives an entry beside its arguments, and ``hidden`` are fields that a list leaves out.
``refers`` is argument -> table: what it refers to has to be there. ``prefix`` begins a new id.
"""

from __future__ import annotations

import copy
import unicodedata
from typing import Any

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.agents.worlds.failures import get_entry, take_number

State = dict[str, Any]


def run_action(row: JsonObject, state: State, **given: Any) -> Any:
    """The answer of the tool that ``row`` declares. Raises Refused where an id is unknown."""
    action, table = row["action"], state[row["table"]]
    if action == "list":
        found = [item for item in table.items() if _is_fitting(item[1], given)]
        hidden = row.get("hidden", ())
        return [
            {row["key"]: key} | {k: v for k, v in entry.items() if k not in hidden}
            for key, entry in found
        ]
    for name, other in row.get("refers", {}).items():
        get_entry(state[other], given[name], name.removesuffix("_id"))
    if action == "add":
        key = f"{row['prefix']}{take_number(state, row['table'])}"
        table[key] = {}
    else:
        key = given.pop(row["key"])
    entry = get_entry(table, key, row["key"].removesuffix("_id"))
    if action == "remove":
        del table[key]
        return {row["key"]: key, "status": "deleted"}
    for name, value in (given | copy.deepcopy(row.get("fixed", {}))).items():
        field = row.get("fields", {}).get(name, name)
        entry[field] = [*entry[field], value] if action == "extend" else value
    return {row["key"]: key, **entry}


def _is_fitting(entry: JsonObject, given: JsonObject) -> bool:
    """Return True if an entry fits every argument; texts fit without regard to case and accents."""
    first, last = given.get("from_date", ""), given.get("to_date", "~")
    texts = {name: value for name, value in given.items() if name in entry}
    return first <= entry.get("date", first) <= last and all(
        _fold_text(value.strip()) in _fold_text(entry[name]) for name, value in texts.items()
    )


def _fold_text(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))
