"""Chooses the tools that a client is shown, and says which are not. Pure.

The same servers and settings make the same list, byte for byte, in the order of the configuration: a
client's prompt cache holds. A tool that is hidden can still be called, by ``call_tool``
or by its own name; what must not be called is left out by a server's ``allow`` and ``deny``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from callwright.gateway.exposure.meta_tools import describe_meta_tools
from callwright.gateway.session.catalog import GatewayTool
from callwright.nouns.types import JsonObject

ExposureMode: TypeAlias = Literal["all", "search", "pinned"]
MODES: tuple[ExposureMode, ...] = get_args(ExposureMode)
LIMIT = 40
"""Tools that a client is shown without a search: above about so many, models choose worse and each
request carries tens of thousands of tokens.
"""
_NAMED = 40  # servers that an announcement names
_LONGEST = 40  # characters of a server's name in it


@dataclass(frozen=True, slots=True)
class ExposureSettings:
    """``mode`` None: all tools up to ``limit`` of them, and a search above."""

    mode: ExposureMode | None = None
    limit: int = LIMIT


@dataclass(frozen=True, slots=True)
class Exposed:
    """The definitions that a client is listed, and what it is told of the others.

    ``announcement`` is "" where nothing is hidden. ``has_search``: ``search_tools`` and
    ``call_tool`` are among the definitions. ``hidden``: tools that are not listed, by server.
    """

    definitions: tuple[JsonObject, ...]
    hidden: Mapping[str, int]
    announcement: str
    has_search: bool


def expose_tools(offers: Iterable[GatewayTool], settings: ExposureSettings) -> Exposed:
    """Return what a client is shown: the two tools of the search first, then tools in their order."""
    ordered = list(offers)
    mode = settings.mode or ("all" if len(ordered) <= settings.limit else "search")
    shown = [offer for offer in ordered if mode == "all" or offer.policy.is_pinned(offer.name)]
    hidden = Counter(offer.server for offer in ordered)
    hidden.subtract(Counter(offer.server for offer in shown))
    left = {server: count for server, count in sorted(hidden.items()) if count}
    has_search = mode == "search"
    announcement = _announce_hidden(left, has_search=has_search)
    meta = describe_meta_tools(announcement) if has_search else ()
    return Exposed((*meta, *(offer.to_wire() for offer in shown)), left, announcement, has_search)


def _announce_hidden(hidden: Mapping[str, int], *, has_search: bool) -> str:
    """Return the sentences that name the servers with hidden tools; "" where there are none."""
    if not hidden:
        return ""
    count = sum(hidden.values())
    first = f"{count} tool{'s' * (count != 1)} of this gateway {'are' if count != 1 else 'is'} not"
    how = (
        "listed: find them with search_tools and call them with call_tool."
        if has_search
        else "listed: the gateway was started with --expose pinned. A tool is called by its full name."
    )
    named = [f"{_shorten_name(server)} ({hidden[server]})" for server in list(hidden)[:_NAMED]]
    more = len(hidden) - len(named)
    rest = [f"and {more} more"] if more else []
    return f"{first} {how} Servers with hidden tools: {', '.join([*named, *rest])}."


def _shorten_name(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
