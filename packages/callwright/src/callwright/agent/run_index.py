"""Values computed from the facts of a run, memoised: where values stand, the gate over its tools,
the equal call that was made before.

It follows one :class:`~callwright.agent.state.RunState` after the other. Calls on their way add to
``made`` before their results are facts, so that of two equal calls at the same time one is made.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable

from callwright.agent.safety.repeats import asks_user
from callwright.agent.state import Asked, RunState
from callwright.language.questions import only_asks_to_be_told
from callwright.nouns.types import Tool, ToolResult
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex


class RunIndex:
    """The indexes of one run's state."""

    def __init__(self, state: RunState, gate: Gate | None = None) -> None:
        self.gate = gate or Gate(state.tools)
        self.spoken = list_spoken(state.asked)
        self.is_only_told = is_only_told(state.asked, state.tools)
        self.sources = build_sources(state.asked, (*state.earlier, *state.valid_results))
        self.made = {made.key: made.id for made in state.made}
        self.unrepaired = {*state.unrepaired}
        # tool -> id of a write of which nobody knows, and for which it is not called
        self.doubts = {**state.lasting.blocked}
        self.tools = {tool.name: tool for tool in state.tools}
        self._tools = state.tools
        self._earlier = {result.id for result in state.earlier}

    def add_results(self, results: Iterable[ToolResult]) -> None:
        """More results that count; of failed ones the error may name what is right."""
        for result in results:
            self.sources.add_result(result)

    def drop_results(self, stale: Collection[str]) -> None:
        """Results that no longer count."""
        self.sources = self.sources.without(stale)

    def reopen_calls(self, calls: Container[str]) -> None:
        """The same calls may be made once more."""
        self.made = {key: id_ for key, id_ in self.made.items() if id_ not in calls}

    def take_tools(self, tools: tuple[Tool, ...]) -> None:
        """The tools of the state, as they are known by now."""
        if tools is not self._tools:
            self._tools, self.gate = tools, Gate(tools)
            self.tools = {tool.name: tool for tool in tools}

    def rebuild(self, state: RunState) -> None:
        """Follow a state that is no successor of the last one. What is in doubt stays so."""
        self.take_tools(state.tools)
        self.spoken = list_spoken(state.asked)
        self.sources = build_sources(state.asked, (*state.earlier, *state.valid_results))
        self.made = {made.key: made.id for made in state.made}
        self.unrepaired = {*state.unrepaired}

    def build_sources_before_writes(self) -> ProvenanceIndex | None:
        """The sources without what the writes of this run returned; None where there are none."""
        writes = {name for name, tool in self.tools.items() if tool.effects.declares_write}
        wrote = {r.id for r in self.sources.results if r.tool in writes} - self._earlier
        return self.sources.without(wrote) if wrote else None

    def take_doubts(self, state: RunState) -> None:
        """The tools that are not called because of a write of which nobody knows."""
        self.doubts = {**state.lasting.blocked}


def build_sources(asked: Asked, results: Iterable[ToolResult] = ()) -> ProvenanceIndex:
    """The index of what was asked and what came back."""
    today = asked.days[0] if asked.days else None
    return ProvenanceIndex(asked.query, asked.conversation, results, days=asked.days, today=today)


def is_only_told(asked: Asked, tools: Iterable[Tool] = ()) -> bool:
    """Return True if the user only asks to be told something, and answers no question; not where
    the instructions name a tool, which they may want called whatever is asked.
    """
    if not only_asks_to_be_told(asked.query) or asks_user(asked.conversation):
        return False
    told = [message.content for message in asked.conversation if message.role == "system"]
    return not any(tool.name in text for tool in tools for text in told)


def list_spoken(asked: Asked) -> tuple[str, ...]:
    """The words of the user: the messages of the conversation, and the query."""
    users = (m.content for m in asked.conversation if m.role == "user")
    return (*users, asked.query)
