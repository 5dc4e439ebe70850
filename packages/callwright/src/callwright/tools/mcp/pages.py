"""Answers of a server before the SDK reads them: one bad description in a list does not cost the
others, and a structured result without content is a result.

The SDK validates a page whole. What it would refuse is left out here, tool by tool, and so is what
is beyond the bounds; each with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.jsontext import is_deeper, write
from callwright.nouns.types import to_canonical_json

MAX_PAGES = 200
MAX_TOOLS = 10_000
MAX_BYTES = 16_000_000  # of all descriptions of one server, as JSON
MAX_TOOL_BYTES = 2_500_000
MAX_LEVELS = 100

_LATEST = "2026-07-28"
_CHANGED = "notifications/tools/list_changed"


class ToolPages:
    """Follows the messages of one connection. ``problems``: what was left out of its last list, and
    why. ``is_outdated``: the server has said since that its list has changed.
    """

    def __init__(self, *, max_tools: int = MAX_TOOLS, max_bytes: int = MAX_BYTES) -> None:
        self._max_tools, self._max_bytes = max_tools, max_bytes
        self._asked: dict[Any, str] = {}  # by the id of a request without an answer: its method
        self._version = _LATEST
        self.is_outdated = False  # the server says that its list is another one now
        self._begin()

    def _begin(self) -> None:
        self.problems: list[str] = []
        self._names: set[str] = set()
        self._tools = self._bytes = self._pages = 0

    def note_sent(self, message: Any) -> None:
        """A message to the server."""
        method = getattr(message, "method", "")
        if method not in ("initialize", "tools/list") or not hasattr(message, "id"):
            return
        self._asked[message.id] = method
        if method == "tools/list" and not (message.params or {}).get("cursor"):
            self._begin()

    def admit(self, message: Any) -> None:
        """A message of the server. The answer to ``tools/list`` loses what cannot be used. A
        structured result without ``content``, which clients of the SDK for TypeScript read and the
        SDK for Python refuses, gets its text.
        """
        self.is_outdated |= getattr(message, "method", "") == _CHANGED
        if not hasattr(message, "result") and not hasattr(message, "error"):
            return
        result = getattr(message, "result", None)
        method = self._asked.pop(getattr(message, "id", None), "")
        if not isinstance(result, dict):
            return
        if "content" not in result and result.get("structuredContent") is not None:
            text = to_canonical_json(result["structuredContent"])
            result["content"] = [{"type": "text", "text": text}]
        if method == "initialize":
            self._version = str(result.get("protocolVersion", _LATEST))
        elif method and isinstance(result.get("tools"), list):
            message.result = self._admitted(result)

    def _admitted(self, page: dict[str, Any]) -> dict[str, Any]:
        first = self._tools + 1
        self._pages += 1
        tools = [
            tool
            for place, tool in enumerate(page["tools"], first)
            if self._may_stay(tool, f"entry {place}")
        ]
        full = self._full(page)
        if full:
            self.problems.append(f"only the first {len(self._names)} tools are used: {full}")
            page = {key: value for key, value in page.items() if key != "nextCursor"}
        page = {**page, "tools": tools}
        if _why_refused(page, self._version) and not _why_refused(
            {**page, "tools": []}, self._version
        ):
            page["tools"] = [tool for tool in tools if self._is_valid(tool, page)]
        return page

    def _full(self, page: Mapping[str, Any]) -> str:
        if self._tools > self._max_tools:
            return f"the server lists more than {self._max_tools}"
        if self._bytes > self._max_bytes:
            return f"their descriptions are longer than {self._max_bytes} bytes"
        return f"the list does not end after {MAX_PAGES} pages" * bool(
            self._pages >= MAX_PAGES and page.get("nextCursor")
        )

    def _may_stay(self, tool: Any, place: str) -> bool:
        """Return True if a description is within the bounds; otherwise record the reason."""
        self._tools += 1
        if self._tools > self._max_tools or self._bytes > self._max_bytes:
            return False
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            return self._leave_out(
                place, "it has no name" if isinstance(tool, dict) else "it is no object"
            )
        if is_deeper(tool, MAX_LEVELS):
            return self._leave_out(
                name, f"its description is nested more than {MAX_LEVELS} levels deep"
            )
        size = len(write(tool))
        if size > MAX_TOOL_BYTES:
            return self._leave_out(
                name, f"its description is {size} bytes long, more than {MAX_TOOL_BYTES}"
            )
        self._bytes += size
        if self._bytes > self._max_bytes:
            return False
        if name in self._names:
            return self._leave_out(name, "the server lists the name twice, and the first is used")
        self._names.add(name)
        return True

    def _is_valid(self, tool: dict[str, Any], page: dict[str, Any]) -> bool:
        why = _why_refused({**page, "tools": [tool]}, self._version)
        if why:
            self._names.discard(tool["name"])
        return not why or self._leave_out(tool["name"], f"its description is malformed: {why}")

    def _leave_out(self, name: str, why: str) -> bool:
        self.problems.append(f"{name[:80]!r} left out: {why}")
        return False


def _why_refused(page: dict[str, Any], version: str) -> str:
    """Return the reason why the SDK would refuse a page of a protocol version; "" if it would
    accept it.
    """
    from mcp_types import ListToolsResult
    from mcp_types.methods import validate_server_result
    from pydantic import ValidationError

    try:
        validate_server_result("tools/list", version, page)
        ListToolsResult.model_validate(page, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][2:])
        return f"{place[:80]}: {first['msg'][:120]}" if place else first["msg"][:120]
    except (
        KeyError,
        ValueError,
    ):  # a version without a table of its own: the SDK does not look closer either
        return ""
    return ""
