"""Requests with the tools that each needs, and the catalogues they are asked of: what rankers learn
from.

What is held apart is held apart by tool: :func:`assign_folds` never puts two requests that need a tool of
the same parent (the API, the field, the server) into different folds, for such requests are often
one template filled in twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import read_lines
from callwright_lab.datasets.nested import SEAL_WHERE, described_tool, response_needs
from callwright_lab.datasets.toolbench_tools import tool_from_toolbench

FOLDS = 5
SEED = "callwright-retrieval-1"  # changing it changes every split: never do

STABLETOOLBENCH_WHERE = (
    "solvable_queries/test_instruction/*.json from github.com/THUNLP-MT/StableToolBench"
    " (Apache-2.0), in <data>/stabletoolbench/queries/"
)


@dataclass(frozen=True, slots=True)
class Query:
    """One request and the names of the tools that it needs. ``group`` is how its source groups
    requests.
    """

    group: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Task:
    """A catalogue and the queries asked of it."""

    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]


def read_stabletoolbench(*folders: Path) -> Task:
    """StableToolBench's solvable queries: every ``*.json`` of the folders, and the candidates of
    all of them. Six files are the 765 queries of its authors.

    A query whose relevant tools are not among the candidates is left out: nobody could find them.
    Raises ConfigError where there is no query.
    """
    tools: dict[tuple[str, str], Tool] = {}
    asked: list[tuple[str, str, list[tuple[str, str]]]] = []
    files = [path for folder in folders for path in folder.glob("*.json")]
    for path in sorted(files, key=lambda path: path.name):
        for row in parse(path.read_bytes()):
            for api in row["api_list"]:
                key = (api["tool_name"], api["api_name"])
                if key not in tools:
                    tools[key] = tool_from_toolbench(api)
            asked.append(
                (path.stem, row["query"], [(tool, api) for tool, api in row["relevant APIs"]])
            )
    queries = tuple(
        Query(group, text, frozenset(tools[key].name for key in relevant))
        for group, text, relevant in asked
        if relevant and all(key in tools for key in relevant)
    )
    if not queries:
        raise ConfigError(
            f"{folders[0]} holds no StableToolBench queries",
            hint=f"{STABLETOOLBENCH_WHERE}; --data, or CALLWRIGHT_DATA",
        )
    return Task(tuple({tool.name: tool for tool in tools.values()}.values()), queries)


def read_all_groups(root: Path) -> Task:
    """StableToolBench's queries below a data root: in ``stabletoolbench/queries`` and, where the
    other groups are kept beside it, ``stabletoolbench_rest/queries``.
    """
    return read_stabletoolbench(
        root / "stabletoolbench" / "queries", root / "stabletoolbench_rest" / "queries"
    )


def seal_tools(folder: Path) -> Task:
    """Seal-Tools (Wu et al. 2024), dev and in-domain test: a query needs one tool, several, or
    nested ones.

    All 4,076 tools are the catalogue; a tool's parent is its field. Nested: a call takes what
    another one returns. Raises ConfigError where the files are missing.
    """
    specs = read_lines(folder / "tool.jsonl", SEAL_WHERE)
    tools = {s["api_name"]: described_tool(s, f"seal_tools {s['field']}") for s in specs}
    queries: list[Query] = []
    for part in ("dev", "test_in_domain"):
        for row in read_lines(folder / f"{part}.jsonl", SEAL_WHERE):
            relevant = frozenset(call["api"] for call in row["calling"])
            if relevant <= tools.keys():
                nested = any(response_needs(row["calling"]).values())
                if nested:
                    kind = "nested"
                elif len(relevant) > 1:
                    kind = "several"
                else:
                    kind = "one"
                queries.append(Query(f"{part.partition('_')[0]}, {kind}", row["query"], relevant))
    return Task(tuple(tools.values()), tuple(queries))


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that a ranker may learn from: its reader, given the data root, and where it is
    from.
    """

    read: Callable[[Path], Task]
    licence: str
    where: str


SOURCES: Mapping[str, Source] = {
    "stabletoolbench": Source(read_all_groups, "Apache-2.0", STABLETOOLBENCH_WHERE),
    "seal_tools": Source(lambda root: seal_tools(root / "seal_tools"), "Apache-2.0", SEAL_WHERE),
}


def join_tasks(tasks: Sequence[Task]) -> Task:
    """The tasks as one: all their tools are one catalogue. Of tools of one name the first is kept,
    and queries that need a later one of that name are left out.
    """
    tools: dict[str, Tool] = {}
    queries: list[Query] = []
    for task in tasks:
        taken = {tool.name for tool in task.tools} & tools.keys()
        tools |= {tool.name: tool for tool in task.tools if tool.name not in taken}
        queries += [query for query in task.queries if not query.relevant & taken]
    return Task(tuple(tools.values()), tuple(queries))


def assign_folds(task: Task) -> list[int]:
    """The fold 0..4 of each query; queries that need tools of one parent are in one fold, folds of
    about one size.

    Queries are joined as long as they share a parent; the groups, largest first and of one size by
    a hash of their name, go where there are fewest queries.
    """
    group = join_queries(task)
    size = Counter(group)
    held = [0] * FOLDS
    fold: dict[str, int] = {}
    for name in sorted(
        size, key=lambda g: (-size[g], hashlib.sha256(f"{SEED}\0{g}".encode()).hexdigest())
    ):
        fold[name] = held.index(min(held))
        held[fold[name]] += size[name]
    return [fold[name] for name in group]


def join_queries(task: Task) -> list[str]:
    """The group of each query: those that need tools of one parent are together, and so on as long
    as they share one.
    """
    parent = find_parents(task)
    return _join_groups(
        [sorted({parent[name] for name in query.relevant}) for query in task.queries]
    )


def find_parents(task: Task) -> dict[str, str]:
    """Each tool's parent by its name; a tool from nowhere is its own."""
    return {tool.name: tool.source or tool.name for tool in task.tools}


def _join_groups(sets: Sequence[Sequence[str]]) -> list[str]:
    """The group of each set: sets that share an item are in one group, by its least item."""
    above: dict[str, str] = {}

    def top(item: str) -> str:
        while (up := above.setdefault(item, item)) != item:
            item = up
        return item

    for items in sets:
        for item in items[1:]:
            low, high = sorted((top(items[0]), top(item)))
            above[high] = low
    return [top(items[0]) for items in sets]
