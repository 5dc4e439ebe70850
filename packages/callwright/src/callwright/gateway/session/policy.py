"""The user's settings of one server: which of its tools exist for clients, what they do, which need
no approval, and how much they may be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from callwright.tools.declared_effects import DeclaredEffects

SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPolicy:
    """``name`` is the configuration's, ``prefix`` stands before the names of its tools ("": none).

    ``allow`` and ``deny`` are shell patterns on the server's own names: a tool exists for clients
    where one of ``allow`` fits (none: all do) and none of ``deny``. ``approve``: patterns of tools
    whose calls need no approval. ``effects`` are the user's own word, which is believed. ``trusted``
    believes the server's annotations. ``calls``: how many a client may make in an hour (None: any
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
    calls: int | None = None
    seconds: float = SECONDS
    pinned: Sequence[str] = ()

    def explain_hidden(self, tool: str) -> str:
        """Return the reason why a tool does not exist for clients; "" where it does."""
        if is_matched(tool, self.deny):
            return f'"deny" of the server {self.name!r} in the servers file names it'
        if self.allow and not is_matched(tool, self.allow):
            return f'"allow" of the server {self.name!r} in the servers file does not name it'
        return ""

    def is_pinned(self, tool: str) -> bool:
        """Return True if clients always see this tool."""
        return is_matched(tool, self.pinned)


def is_matched(name: str, patterns: Sequence[str]) -> bool:
    """Return True if one of these shell patterns fits a name."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
