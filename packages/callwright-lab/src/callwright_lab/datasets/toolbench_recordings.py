"""Real replies in ToolBench's files: the runs of ToolEval (StableToolBench's baselines) and
ToolBench's answers.

The runs as published cut every message to 100 characters; a reply that is cut is none, and is
counted as left out. ToolBench's answers hold replies as they came, cut only beyond 1,024 or 2,048
characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse, parse_literal
from callwright.nouns.errors import ConfigError, build_read_error, convert_errors
from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.simulation.published_runs import RunCall, Runs
from callwright_lab.transcripts.tooleval import find_first_name, toolbench_tool

WHERE = "the runs of ToolEval and the answers of ToolBench: github.com/OpenBMB/ToolBench"
_FINISH = "Finish"


def read_toolbench_runs(path: Path) -> Runs:
    """The runs of a file; without tools where it holds none. Raises ConfigError for what cannot be
    read as such.
    """
    with convert_errors(ConfigError, f"{path} cannot be read as runs of ToolBench", hint=WHERE):
        return _collect_calls(_list_rows(_read_json_file(path)))


def _collect_calls(rows: Iterable[Mapping[str, Any]]) -> Runs:
    tools: dict[str, Tool] = {}
    calls: list[tuple[RunCall, Tool]] = []
    cut = unknown = 0
    for row in rows:
        offered = {
            tool.name: tool
            for tool in map(toolbench_tool, _list_tool_specs(row))
            if tool.name != _FINISH
        }
        tools |= offered
        for name, arguments, reply in _iter_calls(row):
            if name == _FINISH:
                continue
            made = _build_call(name, arguments, reply)
            if name not in offered:
                unknown += 1
            elif made is None:
                cut += 1
            else:
                calls.append((made, offered[name]))
    return Runs(tuple(calls), tuple(tools.values()), cut, unknown)


def _read_json_file(path: Path) -> Any:
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise build_read_error(path, error) from None
    except JsonError as error:
        raise ConfigError(f"{path} is not JSON: {error}", hint=WHERE) from None


def _list_rows(document: Any) -> list[Mapping[str, Any]]:
    """The runs of one document: a map from query ids to runs, or one answer."""
    if not isinstance(document, Mapping):
        return []
    if "answer_generation" in document:
        return [document]
    rows = [row for row in document.values() if isinstance(row, Mapping)]
    return [
        row for row in rows if "available_tools" in row and isinstance(row.get("answer"), Mapping)
    ]


def _list_tool_specs(row: Mapping[str, Any]) -> list[JsonObject]:
    found = (
        row["answer_generation"].get("function")
        if "answer_generation" in row
        else row["available_tools"]
    )
    return [spec for spec in found or () if isinstance(spec, dict) and spec.get("name")]


def _iter_calls(row: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Every call of a run: name, arguments, reply; None where a message is cut. Dead branches are
    real too.
    """
    if "answer_generation" in row:
        yield from _iter_tree_calls(row.get("tree", {}).get("tree") or {}, "")
        return
    waiting = list(row["answer"].get("answer_details") or ())
    while waiting:
        node = waiting.pop()
        waiting += node.get("next") or ()
        if node.get("role") == "tool":
            message = _parse_value(node.get("message"))
            read = message if isinstance(message, Mapping) else {}
            name = str(read.get("name") or find_first_name(str(node.get("message"))))
            yield name, read.get("arguments"), read.get("response")


def _iter_tree_calls(node: Mapping[str, Any], action: str) -> Iterator[tuple[str, Any, Any]]:
    kind, said = node.get("node_type"), str(node.get("description") or "")
    if kind == "Action Input" and action and node.get("observation") is not None:
        yield action, said, node["observation"]
    for child in node.get("children") or ():
        yield from _iter_tree_calls(child, said if kind == "Action" else action)


def _build_call(name: str, arguments: Any, reply: Any) -> RunCall | None:
    given = _parse_value(arguments) if arguments != "" else {}
    answered = _parse_value(reply)
    if not isinstance(given, dict) or not isinstance(answered, dict):
        return None
    return RunCall(name, given, ToolOutput(answered))


def _parse_value(text: Any) -> Any:
    """Parse a text as JSON or a Python literal; return None if it is neither."""
    try:
        return parse_literal(text) if isinstance(text, str) else text
    except JsonError:
        return None
