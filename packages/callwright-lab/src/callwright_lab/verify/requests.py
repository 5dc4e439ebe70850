"""Requests to be verified, each with the tools on offer: read from JSON lines and from ToolBench's
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import Tool, compute_digest
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.datasets.toolbench_tools import is_toolbench, tool_from_toolbench
from callwright_lab.transcripts import read_text

_HINT = (
    'a line is {"id": …, "query": "…", "tools": [names or descriptions], "needed": [names]},'
    " without the last two too"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the tools that are offered for it. ``needed`` names those that it is known to
    need, () where that is not known; ``unknown`` are names of tools that nobody offers. ``group``
    is the file that it came from.
    """

    id: str
    query: str
    tools: tuple[Tool, ...]
    needed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    group: str = ""

    @property
    def key(self) -> str:
        """Digest of all that a verdict depends on."""
        return compute_digest(
            [
                self.query,
                sorted(tool.digest for tool in self.tools),
                sorted(self.needed),
                self.unknown,
            ]
        )


def read_requests(path: Path, catalogue: Sequence[Tool] = ()) -> list[Asked]:
    """The requests of a file, or of every .json and .jsonl file in a folder.

    ``catalogue`` are the tools that rows name; rows that name none are offered all of them.
    ToolBench's query files bring their own. Raises ConfigError that names the row, or where there
    is none.
    """
    files = (
        sorted(p for p in path.iterdir() if p.suffix in (".json", ".jsonl"))
        if path.is_dir()
        else [path]
    )
    if not files:
        raise ConfigError(f"{path} holds no .json or .jsonl file", hint=_HINT)
    by_name = {tool.name: tool for tool in catalogue}
    made: list[Asked] = []
    for file in files:
        for number, (where, row) in enumerate(request_rows(file), 1):
            made.append(_build_asked(row, by_name, where, file.stem, number))
    if not made:
        raise ConfigError(f"there is no request in {path}", hint=_HINT)
    return made


def request_rows(path: Path) -> list[tuple[str, Any]]:
    """The rows of one file, each with its place, not read any further: JSON lines, a JSON list, one
    object.

    Outside of .json and .jsonl a line that is no JSON is a request as text. Raises ConfigError that
    names the line.
    """
    text = read_text(path)
    lines = [
        (f"line {at} of {path}", line)
        for at, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if path.suffix != ".jsonl":
        try:
            found = parse(text)
        except JsonError as error:
            if path.suffix == ".json" and not (lines and _is_json(lines[0][1])):
                raise ConfigError(f"{path} is not JSON: {error}", hint=_HINT) from None
        else:
            listed = found if isinstance(found, list) else [found]
            return [(f"row {number} of {path}", row) for number, row in enumerate(listed, 1)]
    plain = path.suffix not in (".json", ".jsonl")
    return [(where, _parse_row(line, where, plain=plain)) for where, line in lines]


def _is_json(line: str) -> bool:
    try:
        parse(line)
    except JsonError:
        return False
    return True


def _parse_row(line: str, where: str, *, plain: bool) -> Any:
    if plain and line.lstrip()[0] not in "{[":
        return {"query": line.strip()}
    try:
        return parse(line)
    except JsonError as error:
        raise ConfigError(f"{where} is not JSON: {error.reason}", hint=_HINT) from None


def _build_asked(
    row: Any, catalogue: Mapping[str, Tool], where: str, group: str, number: int
) -> Asked:
    if not isinstance(row, Mapping) or not isinstance(row.get("query"), str):
        raise ConfigError(f'{where} has no text "query"', hint=_HINT)
    name = str(row.get("id", row.get("query_id", number)))
    try:
        if isinstance(row.get("api_list"), list):
            return _parse_toolbench_row(row, f"{group}/{name}", group)
        tools, unknown = _resolve_tools(row.get("tools"), catalogue)
    except CatalogError as error:
        raise ConfigError(f"{where}: {error.message}", hint=_HINT) from None
    needed = _collect_needed_names(row.get("needed"), row.get("gold_calls"))
    offered = {tool.name for tool in tools}
    lost = tuple(dict.fromkeys([*unknown, *(n for n in needed if n not in offered)]))
    return Asked(name, row["query"], tools, tuple(n for n in needed if n in offered), lost, group)


def _resolve_tools(raw: Any, catalogue: Mapping[str, Tool]) -> tuple[tuple[Tool, ...], list[str]]:
    """The tools that a row names or describes; all of the catalogue where it does neither."""
    if raw is None:
        return tuple(catalogue.values()), []
    made: dict[str, Tool] = {}
    unknown: list[str] = []
    for one in raw if isinstance(raw, list) else [raw]:
        if not isinstance(one, str):
            tool = tool_from_wire(one)
            made[tool.name] = tool
        elif one in catalogue:
            made[one] = catalogue[one]
        else:
            unknown.append(one)
    return tuple(made.values()), unknown


def _collect_needed_names(needed: Any, gold_calls: Any) -> tuple[str, ...]:
    """The names of needed tools, said as such or as gold calls."""
    if isinstance(needed, list):
        listed = needed
    elif isinstance(gold_calls, list):
        listed = gold_calls
    else:
        listed = []
    named = (one.get("tool") if isinstance(one, Mapping) else one for one in listed)
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str)))


def _parse_toolbench_row(row: Mapping[str, Any], name: str, group: str) -> Asked:
    apis = [api for api in row["api_list"] if isinstance(api, Mapping) and is_toolbench(api)]
    made = {(str(a.get("tool_name")), str(a.get("api_name"))): tool_from_toolbench(a) for a in apis}
    pairs = list(_iter_pairs(row.get("relevant APIs", row.get("relevant_apis"))))
    needed = tuple(dict.fromkeys(made[pair].name for pair in pairs if pair in made))
    unknown = tuple(" ".join(pair) for pair in pairs if pair not in made)
    tools = {tool.name: tool for tool in made.values()}
    return Asked(name, row["query"], tuple(tools.values()), needed, unknown, group)


def _iter_pairs(raw: Any) -> Iterator[tuple[str, str]]:
    for pair in raw if isinstance(raw, list) else ():
        if isinstance(pair, list) and len(pair) == 2:
            yield str(pair[0]), str(pair[1])
