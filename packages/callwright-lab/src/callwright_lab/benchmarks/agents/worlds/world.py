"""One world: the tools that a task offers, over a state of its own, and a log of all calls."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from callwright.jsontext import write
from callwright.nouns.types import DESTRUCTIVE, READ_LOCAL, WRITE, Json, JsonObject, Tool
from callwright.schema.compiled import compiled_for
from callwright.schema.violations import from_errors
from callwright_lab.benchmarks.agents.worlds import figures, office, shop
from callwright_lab.benchmarks.agents.worlds.failures import Refused

DATA = Path(__file__).resolve().parent.parent / "data"
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function for room in (shop, office, figures) for function in room.TOOLS
}
_EFFECTS = {"read": READ_LOCAL, "write": WRITE, "destructive": DESTRUCTIVE}


@cache
def load_declarations() -> Mapping[str, JsonObject]:
    """Tool -> its row in ``data/tools.toml``."""
    return tomllib.loads((DATA / "tools.toml").read_text(encoding="utf-8"))


@cache
def load_tools() -> Mapping[str, Tool]:
    """Every tool of the worlds with its schema and its declared effects."""
    return {name: _build_tool(name, row) for name, row in load_declarations().items()}


def _build_tool(name: str, row: JsonObject) -> Tool:
    schema: JsonObject = {
        "type": "object",
        "properties": row["properties"],
        "required": row["required"],
        "additionalProperties": False,
    }
    return Tool(name, row["description"], schema, effects=_EFFECTS[row["effect"]])


@cache
def _load_state() -> JsonObject:
    return tomllib.loads((DATA / "world.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Called:
    """One call that reached the world. ``content`` is the tool's answer, or why there is none."""

    tool: str
    arguments: Json
    is_ok: bool
    content: Json

    @property
    def is_write(self) -> bool:
        """Return True if the call has changed the world or may have."""
        return self.is_ok and load_declarations()[self.tool]["effect"] != "read"

    @property
    def text(self) -> str:
        """The answer as a model reads it."""
        return write(self.content).decode()


class World:
    """A fresh state with the tools ``offered``. ``log`` holds every call, also those refused."""

    def __init__(self, offered: Sequence[str]) -> None:
        self.tools = {name: load_tools()[name] for name in offered}
        self.state = copy.deepcopy(_load_state())
        self.log: list[Called] = []

    def call(self, name: str, arguments: Json) -> Called:
        """Carry a call out. A tool that does not exist and arguments against the schema are
        answers too: nothing is raised.
        """
        try:
            called = Called(name, arguments, True, self._run(name, arguments))
        except Refused as error:
            called = Called(name, arguments, False, {"error": str(error)})
        self.log.append(called)
        return called

    def _run(self, name: str, arguments: Json) -> Json:
        tool = self.tools.get(name)
        if tool is None:
            raise Refused(f"there is no tool {name}")
        if not isinstance(arguments, dict):
            raise Refused("the arguments are no JSON object")
        if wrong := from_errors(compiled_for(tool), arguments):
            raise Refused("; ".join(violation.message for violation in wrong))
        found: Json = FUNCTIONS[name](self.state, **arguments)
        return copy.deepcopy(found)
