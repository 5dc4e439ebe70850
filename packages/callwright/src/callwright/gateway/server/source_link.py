"""Tools of an OpenAPI document or a Python module as if an MCP server offered them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex
from urllib.parse import quote

from callwright.gateway.configuration import ServerEntry
from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.link import Flight, Progress
from callwright.gateway.session.commands import Failed, Rejected, Returned, Told
from callwright.gateway.session.profile import Kind
from callwright.nouns.errors import CatalogError
from callwright.nouns.protocols import CALL_KEY, ToolSource
from callwright.nouns.types import JsonObject, Tool, ToolOutput, to_plain_text
from callwright.tools.catalog import list_problems
from callwright.tools.lists.tools import tool_to_mcp
from callwright.tools.openapi.response import BINARY_KEYS
from callwright.tools.sources import sources_of
from callwright.tools.trust import TrustStore

_METHOD_NOT_FOUND = -32601  # JSON-RPC 2.0, 5.1
_OWN_WORDS = ("tool_error", "error_payload", "crashed")  # failures that the tool itself states


class SourceLink:
    """A tool source that is open. There is one for each key, as of any server. Clients are sent no
    output schemas: some check results by them and raise, and an API may answer otherwise than its
    document says. A write that was done would then look like one that failed.
    """

    retries = True  # a source's own client does
    auth = None

    def __init__(self, entry: ServerEntry, key: ConnectionKey) -> None:
        self.key, self.used, self.listing = key, 0.0, asyncio.Lock()
        self._entry = entry
        self._sources: list[ToolSource] = []
        self._tools: dict[str, tuple[ToolSource, Tool]] = {}
        self._running = 0
        self._is_open = False
        self.problems: Sequence[str] = ()

    @property
    def is_open(self) -> bool:
        return self._is_open

    @property
    def is_busy(self) -> bool:
        return self._running > 0

    @property
    def is_outdated(self) -> bool:
        return False

    @property
    def is_modern(self) -> bool:
        return True

    def has(self, capability: str) -> bool:
        """Tools are all there is."""
        return capability == "tools"

    async def open(self) -> Sequence[JsonObject]:
        """Read the document or module. Raises CatalogError."""
        self._sources = sources_of(_build_spec(self._entry))
        for source in self._sources:
            if consult := getattr(source, "consult", None):
                consult(_Believed() if self._entry.policy.trusted else TrustStore())
            for tool in await source.open():
                if tool.name in self._tools:
                    raise CatalogError(f"{self._entry.name!r} offers {tool.name!r} twice")
                self._tools[tool.name] = source, tool
        self._is_open = True
        self.problems = [said for source in self._sources for said in list_problems(source)]
        return await self.list_again()

    async def list_again(self) -> Sequence[JsonObject]:
        tools = [replace(tool, output_schema=None) for _, tool in self._tools.values()]
        return [tool_to_mcp(tool) for tool in tools]

    async def list_all(self, kind: Kind) -> list[JsonObject]:
        del kind
        return []

    async def send(
        self, method: str, params: JsonObject, flight: Flight, progress: Progress | None = None
    ) -> Told:
        del flight, progress
        found = self._tools.get(str(params.get("name")))
        if method != "tools/call" or found is None:
            return Rejected(_METHOD_NOT_FOUND, f"{self._entry.name!r} has no {method}")
        source, tool = found
        self._running += 1
        CALL_KEY.set(token_hex(16))  # of this request's task alone
        try:
            return _read_output(await source.call(tool, params.get("arguments") or {}))
        finally:
            self._running -= 1

    @property
    def instructions(self) -> str:
        return ""

    async def watch(self, uri: str) -> Told:
        return Rejected(_METHOD_NOT_FOUND, f"{self._entry.name!r} has no resource {uri!r}")

    async def unwatch(self, uri: str) -> None:
        del uri

    async def set_level(self, level: str) -> None:
        del level

    def cancel_task(self, task: str) -> None:
        """Do nothing: tools of this kind run as no tasks."""

    async def announce_roots(self) -> None: ...

    async def close(self) -> None:
        self._is_open = False
        for source in self._sources:
            await source.aclose()


class _Believed:
    """Confirms whatever it is asked: the user's own servers file says that a source is trusted."""

    def is_trusted(self, kind: str, where: str, digest: str) -> bool:
        del kind, where, digest
        return True


def _build_spec(entry: ServerEntry) -> str:
    if not entry.base_url or entry.source.endswith(".py"):
        return entry.source
    joint = "&" if "?" in entry.source and "://" not in entry.source else "?"
    return f"{entry.source}{joint}base_url={quote(entry.base_url, safe=':/')}"


def _read_output(output: ToolOutput) -> Told:
    """An output as the result of a server. What the tool itself said no to is a result too."""
    failure = output.failure
    if failure is not None and (failure.outcome_unknown or failure.kind not in _OWN_WORDS):
        return Failed(failure)
    content = failure.message if failure is not None else output.content
    text = "" if content is None else to_plain_text(content)
    if failure is None and isinstance(content, dict) and content.keys() == BINARY_KEYS:
        kind = str(content["content_type"]).partition("/")[0]
        if kind in ("image", "audio"):  # a client shows it; as text it is of no use to a model
            block = {"type": kind, "data": content["base64"], "mimeType": content["content_type"]}
            return Returned({"content": [block], "isError": False})
    result: JsonObject = {
        "content": [{"type": "text", "text": text}],
        "isError": failure is not None,
    }
    if failure is None and isinstance(content, dict):
        result["structuredContent"] = content
    return Returned(result)
