"""What the rules know besides the calls: tools, what was said, how far they may go. Indexes are made when needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from callwright.gate import Gate, Sources
from callwright.refine.result import Settings
from callwright.refine.stated import Talk
from callwright.types import Message, Tool


class Situation:
    """Tools in view and the conversation so far, for one refinement."""

    def __init__(
        self,
        tools: Sequence[Tool],
        query: str = "",
        messages: Sequence[Message] = (),
        settings: Settings | None = None,
    ) -> None:
        self.tools = tuple(tools)
        self.by_name = {t.name: t for t in self.tools}
        self.gate = Gate(self.tools)
        self.settings = settings or Settings()
        said = [m.content for m in messages if m.content]
        if query and (not said or said[-1] != query):
            said.append(query)
        self.query = query or next((m.content for m in reversed(messages) if m.role == "user"), "")
        self.said = said
        self.asked = [m.content for m in messages if m.role == "user" and m.content] or said

    @cached_property
    def sources(self) -> Sources:
        """Everything said, indexed: where values may come from."""
        return Sources(conversation=self.said)

    @cached_property
    def talk(self) -> Talk:
        """Everything said, as text to pick values from."""
        return Talk("\n".join(self.said))

    @property
    def informed(self) -> bool:
        """Whether anything was said at all: without a conversation nobody can tell what is unsourced."""
        return bool(self.said)
