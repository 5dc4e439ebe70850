"""Answers in place of tools, with a mark: from recordings, then from a model that imitates the tool
(Tool-MVR, 3.2.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import JsonObject, Tool, ToolCall, ToolOutput
from callwright.simulation.recording import Recording
from callwright.simulation.simulator import Simulator
from callwright.tools.overlay import ToolOverlay
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.memory import make_question_key


class StandIn:
    """Answers for tools. The same call is answered alike for all rows of a sweep, also by the
    model, which is asked once; each question to it is charged to the row that asks.

    A call is on record of a tool with the same name and the same parameters, however they are
    described.
    """

    def __init__(
        self, recording: Recording | None = None, imitator: ChatModel | None = None
    ) -> None:
        self._recording, self._imitator = recording or Recording(), imitator
        self._known: dict[str, Recording] = {}  # by the digest of the tool

    @property
    def imitates(self) -> bool:
        """Return True if a model answers unrecorded calls, which takes time."""
        return self._imitator is not None

    def recorded(self, tool: Tool, arguments: JsonObject) -> ToolOutput | None:
        """Return the recorded output of this call; None if there is none."""
        return self._of(tool).find(tool, arguments)

    async def answer(
        self, tool: Tool, arguments: JsonObject, meter: Meter, query: str = ""
    ) -> ToolOutput:
        """The answer, which says that it is simulated; where there is none the call has failed with
        ``not_executable``. Raises ModelError, and BudgetSpent where no question may be asked."""
        model = meter.metered(self._imitator) if self._imitator is not None else None
        simulator = Simulator(self._of(tool), model)

        async def ask() -> ToolOutput:
            made = await simulator.simulate(ToolCall("", tool.name, arguments), tool, query)
            return ToolOutput(made.content, made.failure, made.simulated)

        if model is None or self.recorded(tool, arguments) is not None:
            return await ask()
        return await meter.told_alike(
            make_question_key("imitated", tool.name, tool.digest, arguments), ask
        )

    def _of(self, tool: Tool) -> Recording:
        if tool.digest not in self._known:
            then = self._recording.tools.get(tool.name, tool)
            alike = then.properties.keys() == tool.properties.keys()
            calls = self._recording.examples(then if alike else tool)
            self._known[tool.digest] = Recording(
                [replace(call, digest=tool.digest) for call in calls]
            )
        return self._known[tool.digest]


def find_dead_tools(overlays: Mapping[str, ToolOverlay]) -> frozenset[str]:
    """The tools that an overlay calls dead, of the entries that fit them (``Catalog.overlays``): a
    tool that has changed since may be alive again.
    """
    return frozenset(
        name for name, entry in overlays.items() if entry.status.strip().lower().startswith("dead")
    )
