"""The tools of clients that declare no effects, for ``callwright tools effects``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from callwright.nouns.redaction import redact_secrets
from callwright.nouns.types import Json, Tool
from callwright.proxy.session.answers.sse import json_bytes
from callwright.tools.lists.tools import tool_to_openai


class UndeclaredTools:
    """One tool of each name, as it was offered first. With more than ``most`` bytes of JSON it is
    full, and takes no more.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._found: dict[str, Json] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, tools: Iterable[Tool], secrets: Sequence[str] = ()) -> bool:
        """Take note of tools, without these secrets. Returns True if they are the first."""
        are_first = not self._found
        for tool in tools:
            if tool.name not in self._found and self._left > 0:
                entry = redact_secrets(tool_to_openai(tool), secrets)
                self._found[tool.name] = entry
                self._left -= len(json_bytes(entry))
        return are_first and bool(self._found)

    def to_json(self) -> bytes:
        """A list of tools, as chat completions have them."""
        return json_bytes([*self._found.values()])
