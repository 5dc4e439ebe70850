"""The gateway's :class:`~callwright.gateway.session.exposure.Exposure`: what is listed, what is said
of the rest, and what a call of ``search_tools`` or ``call_tool`` means.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache
from threading import Lock

from callwright.gateway.exposure.exposure import Exposed, ExposureSettings, expose_tools
from callwright.gateway.exposure.meta_tools import (
    describe_meta_tools,
    read_call,
    read_search,
    render_found,
)
from callwright.gateway.exposure.tool_search import ToolSearch
from callwright.gateway.session.argument_check import check_call
from callwright.gateway.session.catalog import GatewayCatalog
from callwright.gateway.session.exposure import Answer, Meant, Resolved
from callwright.gateway.session.names import CALL_TOOL, SEARCH_TOOLS
from callwright.nouns.types import CheckedCall, JsonObject, ToolCall
from callwright.repair.gate import Gate
from callwright.tools.lists.tools import tool_from_wire


class SearchExposure:
    """Lists by :class:`.exposure.ExposureSettings`, searches by :class:`.tool_search.ToolSearch`.

    What it makes of a catalogue is kept until there is another one. ``open_search`` is called when
    somebody searches first.
    """

    def __init__(
        self,
        settings: ExposureSettings | None = None,
        open_search: Callable[[], ToolSearch] = ToolSearch,
    ) -> None:
        self._settings = settings or ExposureSettings()
        self._open_search = open_search
        self._search: ToolSearch | None = None
        self._searched: GatewayCatalog | None = None
        self._made: tuple[GatewayCatalog, Exposed] | None = None
        self._lock = Lock()

    def list_tools(self, catalog: GatewayCatalog) -> Sequence[JsonObject]:
        return self._expose(catalog).definitions

    def describe(self, catalog: GatewayCatalog) -> str:
        return self._expose(catalog).announcement

    def resolve(
        self, name: str, arguments: JsonObject | str | None, catalog: GatewayCatalog
    ) -> Resolved:
        if name not in (SEARCH_TOOLS, CALL_TOOL):
            return Meant(name, arguments)
        given = _repair_arguments(name, {} if arguments is None else arguments)
        if name == SEARCH_TOOLS:
            return self._answer_search(given, catalog)

        def get_keys(tool: str) -> Container[str]:
            offer = catalog.find(tool)
            found: Container[str] = offer.tool.input_schema.get("properties", {}) if offer else ()
            return found

        meant = read_call(given, get_keys)
        return _refuse_call(meant) if isinstance(meant, str) else Meant(*meant)

    def prepare(self, catalog: GatewayCatalog) -> None:
        """Make the vectors of a search by meaning, where the search is listed."""
        if self._expose(catalog).has_search:
            self._find_search(catalog).encode()

    def _answer_search(self, given: JsonObject, catalog: GatewayCatalog) -> Resolved:
        asked = read_search(given)
        if isinstance(asked, str):
            return _refuse_call(asked)
        servers = sorted({offer.server for offer in catalog})
        if asked.server and asked.server not in servers:
            return _refuse_call(
                f"there is no server {asked.server!r}; there are: {', '.join(servers)}"
            )
        found = self._find_search(catalog).find(asked)
        text = render_found(asked, found, len(catalog), self.describe(catalog))
        return Answer({"content": [{"type": "text", "text": text}]})

    def _find_search(self, catalog: GatewayCatalog) -> ToolSearch:
        """The search over exactly this catalogue."""
        with self._lock:  # it is prepared in a thread, and searched in others
            search = self._search = self._search or self._open_search()
            if self._searched is not catalog:
                search.update(catalog)
                self._searched = catalog
        return search

    def _expose(self, catalog: GatewayCatalog) -> Exposed:
        made = self._made
        if made is None or made[0] is not catalog:
            made = self._made = catalog, expose_tools(catalog, self._settings)
        return made[1]


@cache
def _open_gate() -> Gate:
    """The gate for calls of the gateway's own tools."""
    return Gate(tool_from_wire(one, formats=()) for one in describe_meta_tools(""))


def _repair_arguments(name: str, arguments: JsonObject | str) -> JsonObject:
    """The arguments of a call of the gateway's own tools. Those that lack what they need are
    repaired as any call's are; {} where they are no object.
    """
    gate = _open_gate()
    (tool,) = (one for one in gate.tools if one.name == name)
    given = arguments if isinstance(arguments, dict) else {}
    if all(key in given for key in tool.input_schema["required"]):
        return given
    checked = check_call(gate, tool, ToolCall("", name, arguments))
    return checked.arguments if isinstance(checked, CheckedCall) else given


def _refuse_call(text: str) -> Answer:
    return Answer({"content": [{"type": "text", "text": text}], "isError": True})
