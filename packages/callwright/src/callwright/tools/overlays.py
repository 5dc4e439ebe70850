"""An overlay among the sources: it offers no tool, and says more of those that the others offer."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.tools.lists.source import not_executable
from callwright.tools.overlay import Overlay


class OverlaySource:
    """A source without tools. :func:`callwright.tools.open_catalog` lays its ``overlay`` over all
    others.
    """

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay

    @property
    def name(self) -> str:
        return self.overlay.name

    async def open(self) -> Sequence[Tool]:
        return ()

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        del arguments  # nobody is asked
        return not_executable(tool)

    async def aclose(self) -> None:
        """Nothing is held."""
