"""The user's settings of one server: which of its tools exist for clients, what they do, which need
no approval, and how much they may be used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from callwright.gateway.session.names import Claim
from callwright.tools.declared_effects import DeclaredEffects
from callwright.tools.servers import explain_hidden, is_matched, list_idle

SECONDS = 60.0
_Patterns = Literal["allow", "deny", "approve", "pinned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPolicy:
    """``name`` is the configuration's, ``prefix`` stands before the names of its tools ("": none).

    ``allow`` and ``deny`` are shell patterns on the server's own names: a tool exists for clients
    where one of ``allow`` fits (none: all do) and none of ``deny``. ``approve``: patterns of tools
    whose calls need no approval. ``effects`` are the user's own word, which is believed. ``trusted``
    believes the server's annotations; ``vouched``: they are our own, by the methods of a document's
    operations. ``calls``: how many a client may make in an hour (None: any
    number). ``seconds``: how long a call may take. ``pinned``: patterns of tools that clients see
    where others are found by search.
    """

    name: str
    prefix: str = ""
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    approve: Sequence[str] = ()
    effects: DeclaredEffects = field(default_factory=DeclaredEffects)
    trusted: bool = False
    vouched: bool = False
    calls: int | None = None
    seconds: float = SECONDS
    pinned: Sequence[str] = ()

    def claim(self, name: str) -> Claim:
        """Return the claim of one of its tools or prompts to a name."""
        return self.name, self.prefix, name

    def explain_hidden(self, tool: str) -> str:
        """Return the reason why a tool does not exist for clients; "" where it does."""
        return explain_hidden(self.name, tool, self.allow, self.deny)

    def list_idle(self, names: Collection[str]) -> Iterator[str]:
        """The patterns that fit none of the server's tools, as the servers file has them: their
        words are likely misspelled.
        """
        settings = {key: getattr(self, key) for key in get_args(_Patterns)}
        return list_idle({**settings, "effects": [one for one, _ in self.effects.rules]}, names)

    def is_pinned(self, tool: str) -> bool:
        """Return True if clients always see this tool."""
        return is_matched(tool, self.pinned)
