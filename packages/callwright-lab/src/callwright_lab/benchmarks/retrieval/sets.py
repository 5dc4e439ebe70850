"""The query sets of the retrieval bench: what they ask for, which tools are gold, and where to get
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.types import JsonObject, Tool
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.benchmarks.refine.api_bank import ApiBank
from callwright_lab.datasets.examples import read_lines
from callwright_lab.datasets.toolbench_tools import is_toolbench, tool_from_toolbench
from callwright_lab.training.ranker.retrieval_data import (
    Query,
    Task,
    read_all_groups,
    seal_tools,
)

TOOLRET_WHERE = (
    "ToolRet (Shi et al. 2025): the data sets mangopy/ToolRet-Queries and mangopy/ToolRet-Tools as"
    " published on Hugging Face (parquet), in <data>/toolret/queries/TASK/ and"
    " <data>/toolret/tools/CATEGORY/"
)
_SAYS_USER = re.compile(r"<user>(.*?)</user>", re.DOTALL)


def read_api_bank(root: Path) -> Task:
    """API-Bank's levels in ToolRL's form: which of all tools of the set the dialogue calls next.

    The query is what the user has said so far. The tools are those that any prompt lists; the rows
    of one prompt list a handful each, so that the whole set makes a small catalogue.
    """
    tools: dict[str, Tool] = {}
    queries: list[Query] = []
    for task in ApiBank(root).tasks():
        tools |= {tool.name: tool for tool in task.tools}
        said = " ".join(text.strip() for text in _SAYS_USER.findall(task.messages[-1].content))
        gold = frozenset(call.tool for call in task.gold)
        if said:
            queries.append(Query(task.category, said, gold))
    return Task(tuple(tools.values()), tuple(q for q in queries if q.relevant <= tools.keys()))


def read_toolret(root: Path) -> Task:
    """ToolRet: every tool of its three corpora is the catalogue, tasks are grouped by category.

    A row of the queries has ``query`` and ``labels`` (JSON: a list of ``id``, ``relevance``), a row
    of the tools ``id`` and ``documentation``. The instruction that goes with a query is not read.
    Raises ConfigError where they are missing, MissingExtra where parquet cannot be read.
    """
    folder = root / "toolret"
    tools = {
        row["id"]: _build_tool(row["id"], row["documentation"])
        for row in _iter_rows(folder / "tools")
    }
    queries = [
        Query(row.get("category") or "toolret", row["query"], gold)
        for row in _iter_rows(folder / "queries")
        if (gold := _parse_gold(row["labels"])) and gold <= tools.keys()
    ]
    return Task(tuple(tools.values()), tuple(queries))


SETS: Mapping[str, Callable[[Path], Task]] = {
    "stabletoolbench": read_all_groups,
    "seal-tools": lambda root: seal_tools(root / "seal_tools"),
    "api-bank": read_api_bank,
    "toolret": read_toolret,
}
"""By name, each read from the folder that holds the data sets. Raises ConfigError that says where
to get it.
"""


def _iter_rows(folder: Path) -> Iterator[JsonObject]:
    """The rows of every parquet or JSON lines file below a folder, files in order of their
    paths.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".parquet", ".jsonl"))
    if not files:
        raise ConfigError(f"there is no data in {folder}", hint=TOOLRET_WHERE)
    for path in files:
        yield from (
            _iter_parquet_rows(path)
            if path.suffix == ".parquet"
            else read_lines(path, TOOLRET_WHERE)
        )


def _iter_parquet_rows(path: Path) -> Iterator[JsonObject]:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("reading parquet files", "train", "callwright-lab") from None
    with ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield from batch.to_pylist()


def _parse_gold(labels: Any) -> frozenset[str]:
    found = parse(labels) if isinstance(labels, str) else labels
    return frozenset(label["id"] for label in found or () if label.get("relevance", 1) > 0)


def _build_tool(name: str, documentation: Any) -> Tool:
    """A tool called by its id, which is unique; what its documentation calls it stands in the
    description.

    Documentation is an object of one of several shapes, or a text that is no JSON at all.
    """
    try:
        found = parse(documentation) if isinstance(documentation, str) else documentation
    except JsonError:
        found = None
    if not isinstance(found, dict):
        return Tool(name, str(documentation))
    called = str(found.get("name") or found.get("api_name") or "")
    about = str(
        found.get("description") or found.get("api_description") or found.get("functionality") or ""
    )
    schema = _build_parameters(found)
    return Tool(name, f"{called}: {about}" if called else about or str(documentation), schema)


def _build_parameters(found: JsonObject) -> JsonObject:
    if is_toolbench(found) and (found.get("name") or found.get("api_name")):
        return tool_from_toolbench(found).input_schema
    given = found.get("parameters")
    named = given if isinstance(given, dict) else {}
    if "properties" in named:
        return tool_from_wire({"name": "tool", "parameters": named}).input_schema
    return {
        "type": "object",
        "properties": {str(key): _describe_value(value) for key, value in named.items()},
    }


def _describe_value(value: Any) -> JsonObject:
    about = value.get("description") if isinstance(value, dict) else value
    return {"description": about} if isinstance(about, str) else {}
