"""One world: the tools that a task offers, over a state of its own, and a log of all calls."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from callwright.jsontext import write
from callwright.nouns.types import Json, JsonObject
from callwright.schema.compiled import compiled_for
from callwright.schema.violations import from_errors
from callwright_lab.benchmarks.agents.task_set import OFFICE, TaskSet, load_tools
from callwright_lab.benchmarks.agents.worlds import figures, office, shop, tables
from callwright_lab.benchmarks.agents.worlds.failures import Refused

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function for room in (shop, office, figures) for function in room.TOOLS
}


def _find_function(name: str, row: JsonObject) -> Callable[..., Any]:
    """The function of a tool: its own, or the action that its row declares."""
    return partial(tables.run_action, row) if "action" in row else FUNCTIONS[name]


def _choose_language(value: Any, language: str) -> Any:
    """A state with one of the spellings of each text that has one for every language."""
    if not isinstance(value, dict):
        return copy.deepcopy(value)
    if language in value:
        return value[language]
    return {key: _choose_language(part, language) for key, part in value.items()}


@dataclass(frozen=True, slots=True)
class Called:
    """One call that reached the world. ``content`` is the tool's answer, or why there is none;
    ``effect`` what its tool declares.
    """

    tool: str
    arguments: Json
    is_ok: bool
    content: Json
    effect: str = ""

    @property
    def is_write(self) -> bool:
        """Return True if the call has changed the world or may have."""
        return self.is_ok and self.effect != "read"

    @property
    def text(self) -> str:
        """The answer as a model reads it."""
        return write(self.content).decode()


class World:
    """A fresh state with the tools ``offered``. ``log`` holds every call, also those refused."""

    def __init__(
        self, offered: Sequence[str], task_set: TaskSet = OFFICE, language: str = "en"
    ) -> None:
        self.tools = {name: load_tools(task_set)[name] for name in offered}
        self.state = _choose_language(task_set.read_data("world"), language)
        self._rows = task_set.declarations
        self.log: list[Called] = []

    def call(self, name: str, arguments: Json) -> Called:
        """Carry a call out. A tool that does not exist and arguments against the schema are
        answers too: nothing is raised.
        """
        try:
            found = self._run(name, arguments)
            called = Called(name, arguments, True, found, self._rows[name]["effect"])
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
        found: Json = _find_function(name, self._rows[name])(self.state, **arguments)
        return copy.deepcopy(found)
