"""A frozen plan: what tools return cannot make the run call anything that its plan does not hold.

The plan is made of the request alone, before any tool has spoken. From then on the executor lets
through

* ``plan``: calls of the plan's tools only. Arguments that it leaves open may still be filled at run
  time, from what the steps before returned and :mod:`agent.safety.filling` lets through; those that
  it says stay as they are;
* ``arguments``: besides, only the arguments that the plan itself says, values and references to
  earlier results. No model fills or repairs any of them, and nothing is filled in from results.

This is the executor's policy, not a strategy's habit: whoever asks for another call gets a refusal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from callwright.agent.safety.filling import Filling, Rules
from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Plan
from callwright.nouns.types import JsonObject, Skip, ToolCall

Level: TypeAlias = Literal["", "plan", "arguments"]
LEVELS: tuple[Level, ...] = ("plan", "arguments")

_OUTSIDE = "it is not in the plan, and the plan is frozen"
_UNSAID = "the plan does not say its arguments, and they are frozen"


class Freeze:
    """Permissions that a run's plan gives. Before :meth:`fix` nothing is allowed at all, unless
    ``level`` is "".

    ``filling`` decides what may fill the open arguments, by ``rules`` and the built-in ones.
    """

    def __init__(self, level: Level = "", rules: Rules | None = None) -> None:
        if level and level not in LEVELS:
            raise ConfigError(f"--freeze {level} is unknown", hint="levels: " + ", ".join(LEVELS))
        self.level = level
        self.filling = Filling(rules, on=bool(level))
        self._tools: frozenset[str] | None = None if level else frozenset()

    @property
    def stated(self) -> JsonObject:
        """Return the settings for a run's first event, which suffice to freeze a resumed run in the
        same way.
        """
        return {"freeze": self.level, "may_fill": self.filling.rules}

    @classmethod
    def anew(cls, stated: Mapping[str, Any]) -> Freeze:
        """One that no plan has fixed yet. Journals of earlier versions state nothing."""
        return cls(stated.get("freeze", ""), stated.get("may_fill"))

    @property
    def on(self) -> bool:
        return bool(self.level)

    @property
    def arguments(self) -> bool:
        """Return True if arguments are frozen too."""
        return self.level == "arguments"

    def fix(self, plan: Plan) -> None:
        """From here on this plan holds. Once only: a later revision is not the plan that was
        frozen.
        """
        if self.on and self._tools is None:
            self._tools = frozenset(slot.tool for slot in plan.slots)

    def tools(self, allowed: Collection[str]) -> frozenset[str]:
        """Of these tools those that may be called."""
        return (
            frozenset(allowed) if not self.on else frozenset(allowed) & (self._tools or frozenset())
        )

    def why_refused(self, tool: str, *, planned: bool) -> str:
        """Why a call of this tool may not be made, or "". ``planned``: the plan says its
        arguments.
        """
        if not self.on:
            return ""
        if self.arguments and not planned:
            return _UNSAID
        return "" if self.tools([tool]) else _OUTSIDE

    def refused(self, calls: Sequence[ToolCall], *, planned: bool) -> list[Skip]:
        """The calls that may not be made, and why: what is not drafted at all, because
        :func:`~callwright.agent.safety.clear.clear` would not let it leave.
        """
        found = ((call, self.why_refused(call.tool, planned=planned)) for call in calls)
        return [Skip(call.tool, why, call.slot, refused=True) for call, why in found if why]
