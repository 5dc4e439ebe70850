"""Tools known by their description alone: for planning and checking, never for calling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright.nouns.errors import CatalogError, Failure
from callwright.nouns.types import DESTRUCTIVE, JsonObject, Tool, ToolOutput
from callwright.tools.lists.tools import FORMS, list_entries, tool_from_wire


class ListSource:
    """Tools without anybody to run them. A call is answered with ``Failure("not_executable")``."""

    def __init__(
        self, tools: Sequence[Tool], *, name: str = "list", problems: Sequence[str] = ()
    ) -> None:
        self._name = name
        self._tools = tuple(tools)
        self.problems = tuple(problems)

    @classmethod
    def read(cls, raw: Any, *, name: str = "list") -> ListSource:
        """Tool descriptions in any style. Equal ones are one tool; what cannot be read is in
        ``problems``.
        """
        tools: dict[str, Tool] = {}
        problems: list[str] = []
        for place, item in enumerate(list_entries(raw)):
            try:
                tool = tool_from_wire(item, source=name, unsaid=DESTRUCTIVE)
            except CatalogError as error:
                problems.append(f"{name}, entry {place}: {error.message}")
            else:
                tools.setdefault(tool.digest, tool)
        return cls(tuple(tools.values()), name=name, problems=problems)

    @property
    def name(self) -> str:
        return self._name

    async def open(self) -> Sequence[Tool]:
        if not self._tools:
            raise CatalogError(
                f"{self._name} holds no usable tool",
                hint="; ".join(self.problems[:3]) or f"a list of {FORMS}",
            )
        return self._tools

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        del arguments  # nobody is asked
        return not_executable(tool)

    async def aclose(self) -> None:
        """Nothing is held."""


def not_executable(tool: Tool) -> ToolOutput:
    """The answer of a tool that nobody here can run."""
    said = f"{tool.name} is known by its description only ({tool.source or 'a list'})"
    return ToolOutput(failure=Failure("not_executable", said, not_done=True))
