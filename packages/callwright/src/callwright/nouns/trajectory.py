"""A trajectory: what one agent did for one request, whatever wrote it down.

What ``verify``, ``explore``, training and the judges read; ``transcripts`` turns the records of
others into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from callwright.nouns.types import Simulated, Tool, ToolCall, ToolResult, compute_digest

Pair: TypeAlias = tuple[ToolCall, ToolResult | None]


@dataclass(frozen=True, slots=True)
class Step:
    """One round: what the agent thought, what it called, and what came back, result ``i`` for call
    ``i``.

    ``code`` is the reply's program where it wrote one (Tool-MVR, Table 17). A call without a result
    was never carried out; ``shown`` is what the agent was told then or instead (a program's
    print-out), "" where the results say it.
    """

    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    code: str = ""
    shown: str = ""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every call with its result; None where it has none."""
        by_id = {result.id: result for result in self.results}
        return tuple((call, by_id.get(call.id)) for call in self.calls)

    @property
    def ok(self) -> bool:
        """Return True if the step has calls and all of them succeeded."""
        return bool(self.calls) and all(
            result is not None and result.ok for _, result in self.pairs
        )


@dataclass(frozen=True, slots=True)
class Trajectory:
    """(Q, T, S) of Tool-MVR's Eq. (1) to (3): the request, the tools on offer, the rounds, and the
    final answer.

    ``answer`` is None where there is none; with ``given_up`` the agent said so, and ``answer`` may
    hold its reason. ``id`` names the row in its source.
    """

    id: str
    query: str
    tools: tuple[Tool, ...]
    steps: tuple[Step, ...] = ()
    answer: str | None = None
    given_up: bool = False

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for step in self.steps for call in step.calls)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(result for step in self.steps for result in step.results)

    @property
    def simulated(self) -> tuple[Simulated, ...]:
        """In which ways results were simulated, each once; none where all are the tools' own."""
        return tuple(sorted({result.simulated for result in self.results if result.simulated}))

    @property
    def key(self) -> str:
        """Digest of request and tools: rows with the same key ask the same."""
        return compute_digest([self.query, sorted(tool.digest for tool in self.tools)])

    def tool(self, name: str) -> Tool | None:
        """The offered tool of that name; None where nobody offered it."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def before(self, step: int) -> Trajectory:
        """S_<t of Eq. (5): the rounds before round ``step``, without what came after and without an
        answer.
        """
        return replace(self, steps=self.steps[:step], answer=None, given_up=False)

    def pairs(self) -> Iterator[tuple[int, ToolCall, ToolResult | None]]:
        """Every call in order with the number of its round and its result."""
        for at, step in enumerate(self.steps):
            for call, result in step.pairs:
                yield at, call, result
