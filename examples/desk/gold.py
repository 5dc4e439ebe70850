"""How a desk task is written down: a query, the tools in view, and a function that works out what
is right.

The function calls the real tools; every value that an answer must hold comes from what they
returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from callwright.nouns.errors import ToolError
from callwright.nouns.types import ToolOutput
from callwright.repair.diagnose import failure_in

from . import world
from .faults import Fault, FaultKind, FaultyDesk
from .tools import BY_NAME

Kind = Literal["single", "chain", "parallel", "write", "unsolvable", "crowded"] | FaultKind
Fact = dict[str, Any]
Json = dict[str, Any]


@dataclass
class Gold:
    """Collects the right calls and what a right answer holds while a task's function runs.

    With ``faults`` every call goes through them, as a strategy's calls do.
    """

    faults: tuple[Fault, ...] = ()
    calls: list[Json] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    forbidden: list[Fact] = field(default_factory=list)
    must: list[list[str]] | None = None
    limitation: bool = False
    note_facts: dict[str, list[Fact]] = field(default_factory=dict)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a real tool and keep the call as gold."""
        found = self._content(tool, arguments) if self.faults else call_tool(tool, arguments)
        self.calls.append({"tool": tool, "arguments": arguments})
        return found

    def fails(self, tool: str, **arguments: Any) -> str:
        """A gold call that ends in an error; the error is what the answer has to report."""
        self.calls.append({"tool": tool, "arguments": arguments, "fails": True})
        try:
            found = BY_NAME[tool](**arguments)
        except ToolError as error:
            return str(error)
        raise AssertionError(f"{tool}({arguments}) was to fail and returned {found}")

    def refused(self, tool: str, **arguments: Any) -> str:
        """A call that is right by the documentation, and what the server says to it: text with the
        way on.
        """
        self.calls.append({"tool": tool, "arguments": arguments, "fails": True})
        output = self._output(tool, arguments)
        failure = output.failure or failure_in(output.content)
        assert failure is not None, f"{tool}({arguments}) was to fail and returned {output.content}"
        return failure.message

    def _content(self, tool: str, arguments: Json) -> Any:
        output = self._output(tool, arguments)
        failure = output.failure or failure_in(output.content)
        assert failure is None, f"{tool}({arguments}) was to answer: {failure}"
        return output.content

    def _output(self, tool: str, arguments: Json) -> ToolOutput:
        return asyncio.run(through(self.faults, tool, arguments))

    def expect(self, *facts: Fact) -> None:
        self.facts += facts

    def forbid(self, *patterns: str) -> None:
        self.forbidden += [{"kind": "pattern", "pattern": p} for p in patterns]


@dataclass(frozen=True)
class Task:
    """One task. ``work`` runs the gold calls on a fresh desk and returns a right answer in
    words.
    """

    id: str
    kind: Kind
    query: str
    tools: tuple[str, ...]
    work: Callable[[Gold], str]
    faults: tuple[Fault, ...] = ()
    view: int = 0  # so many tools in view, filled up with the desk's others


async def through(faults: tuple[Fault, ...], tool: str, arguments: Json) -> ToolOutput:
    """One call of a desk with faults."""
    desk = FaultyDesk(faults)
    offered = {each.name: each for each in await desk.open()}
    return await desk.call(offered[tool], arguments)


def call_tool(tool: str, arguments: Json) -> Any:
    """One call of a desk without faults."""
    return BY_NAME[tool](**arguments) if tool in BY_NAME else call_server(tool, arguments)


def call_server(tool: str, arguments: Json) -> Any:
    """Run a tool of the two MCP servers in this process: the same functions that the servers
    serve.
    """
    if tool == "convert_time":
        from mcp_server_time.server import TimeServer  # type: ignore[import-untyped]

        shift = (arguments["source_timezone"], arguments["time"], arguments["target_timezone"])
        return TimeServer().convert_time(*shift).model_dump()
    import git
    from mcp_server_git import server

    rest = {k: v for k, v in arguments.items() if k != "repo_path"}
    with git.Repo(world.home() / arguments["repo_path"]) as repo:
        return getattr(server, tool)(repo, **rest)


def number(value: float, unit: str = "", *, share: float = 0.0, within: float = 0.0) -> Fact:
    """A number with a unit; ``share`` of the value or an absolute ``within`` is the tolerance."""
    return {
        "kind": "number",
        "value": value,
        "tolerance": round(max(abs(value) * share, within), 6),
        "unit": unit,
    }


def clock(value: str, minutes: int = 1) -> Fact:
    """A time of day, "HH:MM"."""
    return {"kind": "time", "value": value, "minutes": minutes}


def day(value: str) -> Fact:
    """A date, "YYYY-MM-DD"."""
    return {"kind": "date", "value": value}


def text(*aliases: str) -> Fact:
    """One of these names."""
    return {"kind": "text", "any": list(aliases)}


def pattern(expression: str) -> Fact:
    """A regular expression over the folded answer."""
    return {"kind": "pattern", "pattern": expression}


def paired(*pairs: tuple[list[str], Fact]) -> Fact:
    """Several values, each with its own label."""
    return {
        "kind": "paired",
        "labels": [names for names, _ in pairs],
        "facts": [fact for _, fact in pairs],
    }


def choice(winner: list[str], losers: list[list[str]], more: list[str], less: list[str]) -> Fact:
    """Which of several is the one; ``more`` and ``less`` are the words that say so."""
    return {"kind": "choice", "winner": winner, "losers": losers, "more": more, "less": less}


def either(*facts: Fact) -> Fact:
    """One of several ways to say the same."""
    return {"kind": "any", "of": list(facts)}


def fresh(folder: Path) -> Path:
    """A new desk in ``folder`` that the tools use from now on."""
    return world.use(world.build(folder))
