"""A tool source in front of another: what it does not change, the one behind does."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.protocols import Confirmations, NotDone, ToolSource
from callwright.nouns.types import JsonObject, Tool, ToolOutput


class WrappedSource:
    """Passes everything on to ``source``, also the question what became of a call.

    Subclasses change one thing and leave the rest.
    """

    def __init__(self, source: ToolSource) -> None:
        self.source = source

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(getattr(self.source, "secrets", ()))

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        return tuple(getattr(self.source, "unconfirmed", ()))

    def consult(self, trust: Confirmations) -> None:
        """The source behind asks what the user has confirmed, if it came from elsewhere."""
        if consult := getattr(self.source, "consult", None):
            consult(trust)

    async def open(self) -> Sequence[Tool]:
        return await self.source.open()

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        return await self.source.call(tool, arguments)

    async def outcome(
        self, tool: Tool, arguments: JsonObject, key: str
    ) -> ToolOutput | NotDone | None:
        """Return the outcome from the wrapped source; None if it cannot be asked."""
        ask = getattr(self.source, "outcome", None)
        found: ToolOutput | NotDone | None = await ask(tool, arguments, key) if ask else None
        return found

    async def aclose(self) -> None:
        await self.source.aclose()
