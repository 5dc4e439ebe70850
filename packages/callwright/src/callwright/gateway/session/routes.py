"""Finds the server that a prompt, a resource or a template belongs to.

Prompts are named as tools are. A resource keeps its URI, since results of tools name it too; where
two servers have one URI, it is the first one's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callwright.gateway.session.names import MOST, assign_names
from callwright.gateway.session.policy import ServerPolicy
from callwright.gateway.session.profile import Kind, Profile
from callwright.nouns.types import Json, JsonObject

_MOST_LINKS = 10_000


@dataclass(frozen=True)
class Routes:
    """All that servers offer beside tools. ``prompts``: by the name that clients know, the server
    and its own definition; ``resources`` by URI and ``templates`` by URI template likewise.
    ``problems``: what is left out.
    """

    prompts: Mapping[str, tuple[str, JsonObject]] = field(default_factory=dict)
    resources: Mapping[str, tuple[str, JsonObject]] = field(default_factory=dict)
    templates: Mapping[str, tuple[str, JsonObject]] = field(default_factory=dict)
    problems: Sequence[str] = ()

    def list_prompts(self) -> list[JsonObject]:
        """The definitions of prompts under the names that clients know."""
        return [{**raw, "name": name} for name, (_, raw) in self.prompts.items()]

    def list_resources(self) -> list[JsonObject]:
        """The definitions of resources, as they are."""
        return [raw for _, raw in self.resources.values()]

    def list_templates(self) -> list[JsonObject]:
        """The definitions of templates, as they are."""
        return [raw for _, raw in self.templates.values()]

    def find_server(self, uri: str) -> str:
        """The server that has a resource; "" where none is known to have it. Of templates that fit,
        the one with the longest beginning that is no variable counts.
        """
        if uri in self.resources:
            return self.resources[uri][0]
        fitting = [
            (len(start), server)
            for template, (server, _) in self.templates.items()
            if uri.startswith(start := template.partition("{")[0])
        ]
        return max(fitting, key=lambda one: one[0])[1] if fitting else ""


def build_routes(profiles: Sequence[tuple[ServerPolicy, Profile]], most: int = MOST) -> Routes:
    """Put what servers offer beside tools into one table each."""
    problems: list[str] = []
    prompts = [
        (policy, raw)
        for policy, profile in profiles
        for raw in profile.get("prompts")
        if isinstance(raw.get("name"), str)
    ]
    names = assign_names([policy.claim(raw["name"]) for policy, raw in prompts], most)
    return Routes(
        {name: (policy.name, raw) for name, (policy, raw) in zip(names, prompts, strict=True)},
        _take_first(profiles, "resources", "uri", problems),
        _take_first(profiles, "templates", "uriTemplate", problems),
        problems,
    )


def _take_first(
    profiles: Sequence[tuple[ServerPolicy, Profile]], kind: Kind, key: str, problems: list[str]
) -> dict[str, tuple[str, JsonObject]]:
    taken: dict[str, tuple[str, JsonObject]] = {}
    for policy, profile in profiles:
        for raw in profile.get(kind):
            uri = raw.get(key)
            if not isinstance(uri, str):
                continue
            if uri in taken and taken[uri][0] != policy.name:
                problems.append(
                    f"{uri[:200]!r} of {policy.name} left out: {taken[uri][0]} has that URI too"
                )
                continue
            taken.setdefault(uri, (policy.name, raw))
    return taken


class SeenLinks:
    """The servers whose results named a resource that no list has: it can be read there."""

    def __init__(self) -> None:
        self._servers: OrderedDict[str, str] = OrderedDict()

    def note_result(self, server: str, result: JsonObject) -> None:
        """Remember the links in a result."""
        blocks = result.get("content")
        for block in blocks if isinstance(blocks, list) else ():
            uri = _get_uri(block)
            if uri:
                self._servers[uri] = server
                self._servers.move_to_end(uri)
        while len(self._servers) > _MOST_LINKS:
            self._servers.popitem(last=False)

    def find_server(self, uri: str) -> str:
        """The server that named a resource; "" where none did."""
        return self._servers.get(uri, "")


def _get_uri(block: Json) -> str:
    if not isinstance(block, dict):
        return ""
    inner = block.get("resource") if block.get("type") == "resource" else block
    uri = inner.get("uri") if isinstance(inner, dict) else None
    return uri if isinstance(uri, str) else ""
