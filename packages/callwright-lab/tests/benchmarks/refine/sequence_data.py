"""Gold call sequences of public data, read in place (see docs/lab-parts.md)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from callwright.nouns.types import Tool, ToolCall
from callwright_lab.datasets import nested as data_nested
from callwright_lab.datasets.examples import read_json, read_lines
from callwright_lab.datasets.sources import data_root


@dataclass(frozen=True)
class Case:
    """One request, the tools offered and the right calls; a call's id is its label (or labels)."""

    query: str
    tools: tuple[Tool, ...]
    calls: tuple[ToolCall, ...]


def missing_data() -> str:
    """Why the data cannot be read; "" where they can."""
    if find_spec("nestful") is None:
        return "nestful-wrapper is not installed"
    return "" if (data_root() / "nestools").is_dir() else "needs shared data: nestools"


@cache
def gold_cases(source: str) -> list[Case]:
    root = data_root()
    if source == "nestools":
        return list(_nestools(root))
    if source == "seal_tools":
        return list(_seal(root))
    folder = data_nested.wrapper_folder()
    if source == "complexfuncbench":
        return list(_nestful(folder / "complexfuncbench" / "complexfuncbench"))
    parts = [folder / "non-executable" / f"non-executable-{p}" for p in ("glaive", "sgd")]
    return [c for path in [folder / "executable" / "executable", *parts] for c in _nestful(path)]


def _nestful(path: Path) -> Iterator[Case]:
    specs = read_json(path.with_name(path.name + "-spec.json"), "nestful-wrapper")
    rows = read_json(path.with_name(path.name + "-data.json"), "nestful-wrapper")
    tools = {s["name"]: data_nested._catalogue_tool(s, "nestful") for s in specs}
    for row in rows:
        calls = [c for c in row["output"] if c["name"] in tools]
        if calls and len(calls) >= len(row["output"]) - 1:
            yield Case(
                row["input"],
                _offered(tools, [c["name"] for c in calls]),
                tuple(ToolCall(c["label"], c["name"], c["arguments"]) for c in calls),
            )


def _offered(tools: dict[str, Tool], called: list[str]) -> tuple[Tool, ...]:
    """The tools that are called, and six others."""
    others = [name for name in tools if name not in called]
    beside = random.Random(" ".join(called)).sample(others, min(6, len(others)))
    return tuple(tools[name] for name in sorted({*called, *beside}))


def _nestools(root: Path) -> Iterator[Case]:
    for row in read_lines(root / "nestools" / "test_data.jsonl", data_nested.NESTOOLS_WHERE):
        tools = tuple(data_nested.described_tool(s, "nestools") for s in row["api"])
        calls = tuple(
            ToolCall(" ".join(c["responses"]), c["api_name"], c["parameters"]) for c in row["call"]
        )
        yield Case(row["task"], tools, calls)


def _seal(root: Path) -> Iterator[Case]:
    folder = root / "seal_tools"
    specs = read_lines(folder / "tool.jsonl", data_nested.SEAL_WHERE)
    tools = {s["api_name"]: data_nested.described_tool(s, "seal_tools") for s in specs}
    for row in read_lines(folder / "dev.jsonl", data_nested.SEAL_WHERE):
        calls = tuple(
            ToolCall(" ".join(c["responses"]), c["api"], c["parameters"]) for c in row["calling"]
        )
        if all(c.tool in tools for c in calls):
            yield Case(row["query"], tuple(tools[c.tool] for c in calls), calls)
