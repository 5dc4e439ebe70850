"""Live tools for error cases: what declares that it only reads is called, and nothing else outside
a sandbox; what verification found dead is imitated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from callwright.agent.strategies.code import build_functions
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatModel, ToolSource
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolOutput, ToolResult
from callwright.simulation.simulator import SimulatedSource
from callwright.tools.catalog import Catalog
from callwright.tools.overlay import Overlay
from callwright.tools.overlays import OverlaySource
from callwright.tools.sources import SourceSpec, sources_of
from callwright.tools.wrapped import WrappedSource
from callwright_lab.benchmarks.recovery.cases import ErrorCase
from callwright_lab.benchmarks.recovery.world import World, build_simulated_source
from callwright_lab.verify.mock_tools import find_dead_tools


@dataclass(frozen=True)
class LiveTools:
    """Settings of the tools that execute calls: ``sources`` holds the tools and ``overlay`` the
    findings of verification. Calls to dead tools are answered from recordings, then by ``model``.
    ``sandbox``: changes are discarded, so every tool may be called.
    """

    sources: tuple[SourceSpec, ...]
    overlay: Overlay | None = None
    sandbox: bool = False
    model: ChatModel | None = None

    def answering(self, steps: Sequence[Step] = ()) -> list[ToolSource]:
        """The tools as sources that are not open yet. ``steps`` hold what the dead have answered so
        far.
        """
        made = [
            Answering(source, self, steps) for spec in self.sources for source in sources_of(spec)
        ]
        return [*made, *([OverlaySource(self.overlay)] if self.overlay else [])]

    @contextmanager
    def of(self, case: ErrorCase) -> Iterator[Sequence[SourceSpec]]:
        """The tools for one run from an error case, opened and closed by the run."""
        gold = ToolResult("", case.gold.tool, case.gold.arguments, case.gold.content)
        known = [] if case.gold.content is None else [Step(results=(gold,))]
        yield self.answering([*case.before, case.wrong, *known])


class Answering(WrappedSource):
    """One source of live tools, but for its dead ones and for what it may not call."""

    def __init__(self, source: ToolSource, live: LiveTools, steps: Sequence[Step]) -> None:
        super().__init__(source)
        self._live, self._steps = live, steps
        self._stand_in: SimulatedSource | None = None
        self.gone: frozenset[str] = frozenset()  # its dead tools; known when it is open

    async def open(self) -> Sequence[Tool]:
        tools = await super().open()
        self.gone = (
            find_dead_tools(self._live.overlay.apply(tools).fitting)
            if self._live.overlay
            else frozenset()
        )
        self._stand_in = build_simulated_source(
            [t for t in tools if t.name in self.gone], self._steps, self._live.model
        )
        return tools

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        if self._stand_in is not None and tool.name in self.gone:
            return await self._stand_in.call(tool, arguments)
        if not (self._live.sandbox or tool.effects.read_only):
            return ToolOutput(
                failure=Failure(
                    "not_executable", f"{tool.name} may write, and is not called outside a sandbox"
                )
            )
        return await super().call(tool, arguments)


def live_world(catalog: Catalog, sources: Iterable[ToolSource] = ()) -> World:
    """The tools of an open catalogue, over ``sources`` of :meth:`LiveTools.answering`."""

    async def call(tool: Tool, arguments: JsonObject) -> ToolOutput:
        return await catalog.call(tool.name, arguments)

    gone = [source.gone for source in sources if isinstance(source, Answering)]
    return World(catalog.tools, call, live=True, simulated=frozenset().union(*gone))


def as_offered(run: Trajectory, catalog: Catalog) -> Trajectory:
    """The trajectory with the catalogue's documentation, its calls by the catalogue's names:
    programs know tools and parameters by names that are Python's.
    """
    written = build_functions(catalog.tools)

    def tool(name: str) -> Tool | None:
        if name in catalog:
            return catalog[name]
        if name in written:
            return written[name].tool
        return None

    def named(name: str, given: Json) -> tuple[str, Json]:
        found = tool(name)
        if found is None or not isinstance(given, dict):
            return (found.name if found else name), given
        keys: Mapping[str, str] = next(
            one.keys for one in written.values() if one.tool.name == found.name
        )
        return found.name, {
            k if k in found.properties else keys.get(k, k): v for k, v in given.items()
        }

    def call(one: ToolCall) -> ToolCall:
        name, given = named(one.tool, one.arguments)
        return replace(one, tool=name, arguments=given)

    def result(one: ToolResult) -> ToolResult:
        name, given = named(one.tool, one.arguments)
        return replace(one, tool=name, arguments=given)

    steps = [
        replace(s, calls=tuple(map(call, s.calls)), results=tuple(map(result, s.results)))
        for s in run.steps
    ]
    return replace(run, tools=tuple(tool(t.name) or t for t in run.tools), steps=tuple(steps))
