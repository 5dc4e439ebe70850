"""The tools of all servers under the names that clients know them by.

A tool is offered with the definition that its server gave, unchanged but for its name, and for
annotations that nobody vouches for: what an untrusted server says of its own tools must not loosen
anything in a client either.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from callwright.agent.safety.approvals import OfferedTool
from callwright.gateway.session.names import MOST, Claim, assign_names
from callwright.gateway.session.policy import ServerPolicy
from callwright.nouns.errors import CatalogError
from callwright.nouns.types import DESTRUCTIVE, JsonObject, Tool
from callwright.nouns.wire_names import EditRules
from callwright.repair.gate import Gate
from callwright.repair.rules.names import match_name
from callwright.schema.untrusted import SchemaLimits, admit_tool
from callwright.tools.lists.tools import annotations_of, tool_from_wire

_LIMITS = SchemaLimits()
_UNCHECKED: JsonObject = {"type": "object"}
_NEAR = 3
_NOTHING: Mapping[str, str] = MappingProxyType({})
_UNNAMED: Mapping[Claim, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class GatewayTool:
    """One tool of one server. ``tool`` has the name that clients know; ``name`` is the server's,
    and ``definition`` what the server says of it.
    """

    server: str
    name: str
    tool: Tool
    definition: JsonObject
    policy: ServerPolicy

    @property
    def exposed(self) -> str:
        return self.tool.name

    @property
    def reference(self) -> str:
        """The name of the tool in options: ``server:tool``."""
        return f"{self.server}:{self.name}"

    @property
    def may_write(self) -> bool:
        """Return False if the tool only reads, also by the word of a server that is not trusted."""
        said = self.definition.get("annotations")
        reads = isinstance(said, dict) and said.get("readOnlyHint") is True
        return self.tool.effects.may_write and not reads

    @property
    def needs_task(self) -> bool:
        """Return True if the server runs the tool as a task of 2025-11-25 and not otherwise."""
        said = self.definition.get("execution")
        return isinstance(said, dict) and said.get("taskSupport") == "required"

    def to_wire(self) -> JsonObject:
        """The definition for clients."""
        made = {**self.definition, "name": self.exposed}
        made.pop("execution", None)  # the gateway itself waits for tasks of 2025-11-25
        is_believed = self.policy.trusted or self.policy.vouched
        if is_believed and not self.policy.effects.rules:
            return made
        title = made.get("annotations", {}).get("title")
        said = annotations_of(self.tool.effects)
        return {**made, "annotations": {"title": title, **said} if title else said}


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of one server as they may be offered, with what is wrong with others. ``blocked``:
    tools that the server lists and that are not offered, by its own names, each with the reason.
    """

    policy: ServerPolicy
    tools: Sequence[tuple[JsonObject, Tool]] = ()
    problems: Sequence[str] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)


def read_listing(
    policy: ServerPolicy,
    definitions: Sequence[JsonObject],
    blocked: Mapping[str, str] = _NOTHING,
) -> Listing:
    """Read what a server says of its tools. A schema that cannot be used for checking costs the
    repair of that tool's calls, never the tool.
    """
    tools: list[tuple[JsonObject, Tool]] = []
    problems: list[str] = []
    hidden = dict(blocked)
    names = {*blocked, *(str(raw.get("name")) for raw in definitions)}
    problems += [f"{policy.name}: {said}" for said in (policy.list_idle(names) if names else ())]
    for raw in definitions:
        name = str(raw.get("name"))
        reason = hidden.get(name) or policy.explain_hidden(name)
        if reason:
            hidden[name] = reason
            continue
        try:
            tool, notes = _read_tool(raw, policy)
        except CatalogError as error:
            problems.append(f"{policy.name}: {name[:80]!r} left out: {error.message}")
            continue
        problems += [f"{policy.name}: {note}" for note in notes]
        tools.append((raw, tool))
    return Listing(policy, tools, problems, hidden)


def _read_tool(raw: JsonObject, policy: ServerPolicy) -> tuple[Tool, tuple[str, ...]]:
    """The tool, and what of it is not checked. Raises CatalogError where it cannot be called."""
    notes: tuple[str, ...] = ()
    try:
        tool = _build_tool(raw, policy)
        tool, notes = admit_tool(tool, _LIMITS)
    except CatalogError as error:
        tool = _build_tool({**raw, "inputSchema": _UNCHECKED, "outputSchema": None}, policy)
        notes = (f"calls of {tool.name!r} are passed on unchecked: {error.message}",)
    return policy.effects.apply((tool,))[0], notes


def _build_tool(raw: JsonObject, policy: ServerPolicy) -> Tool:
    is_believed = policy.trusted or policy.vouched
    made = tool_from_wire(
        raw, source=f"mcp {policy.name}", trusted=is_believed, unsaid=DESTRUCTIVE, formats=()
    )
    return replace(made, trusted=policy.trusted)


@dataclass(frozen=True)
class GatewayCatalog:
    """All offers by the names that clients know, in order. ``hidden``: tools that exist and are not
    offered, by the names they would have, each with the reason. ``names``: those of all tools but
    the ones that the configuration hides.
    """

    offers: Mapping[str, GatewayTool] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()
    names: Mapping[Claim, str] = field(default_factory=dict)
    gate: Gate = field(default_factory=lambda: Gate(()))

    def __len__(self) -> int:
        return len(self.offers)

    def __iter__(self) -> Iterator[GatewayTool]:
        return iter(self.offers.values())

    def find(self, name: str) -> GatewayTool | None:
        """The offer of this very name."""
        return self.offers.get(name)

    def list_near(self, name: str) -> list[str]:
        """The names that somebody may have meant by this one, the nearest first. A name without its
        prefix counts as near, and one that is the same but for its form.
        """
        own = [offer.exposed for offer in self if offer.name == name]
        own += self._match_name(name)
        near = difflib.get_close_matches(name, self.offers, n=_NEAR, cutoff=0.75)
        return list(dict.fromkeys([*own, *near]))[:_NEAR]

    def _match_name(self, name: str) -> Iterator[str]:
        """The names that the rules of repair would take this one for: with another prefix, letter
        case or ending.
        """
        for tools in (
            {offer.exposed: offer.tool for offer in self},
            {offer.exposed: replace(offer.tool, name=offer.name) for offer in self},
        ):
            exposed = {tool.name: known for known, tool in tools.items()}
            for found in match_name(name, {}, tuple(tools.values())):
                if found is not None and found.rule != EditRules.TOOL_MEANING:
                    yield exposed[found.tool.name]

    def as_offered(self) -> dict[str, OfferedTool]:
        """The tools as approvals name them: by server and the server's own name."""
        return {
            offer.exposed: OfferedTool(offer.server, offer.name, offer.tool.digest)
            for offer in self
        }


def build_catalog(
    listings: Sequence[Listing], most: int = MOST, kept: Mapping[Claim, str] = _UNNAMED
) -> GatewayCatalog:
    """Put the tools of all servers under one name each; ``most``: characters of a name. ``kept``:
    names that were given before. A tool that waits for approval keeps its name.
    """
    every = [
        (one.policy.claim(raw["name"]), one, raw, tool)
        for one in listings
        for raw, tool in one.tools
    ]
    hidden = [
        (one.policy.claim(name), why) for one in listings for name, why in one.blocked.items()
    ]
    waiting = [
        one.policy.claim(name)
        for one in listings
        for name in one.blocked
        if not one.policy.explain_hidden(name)
    ]
    claims = [*(claim for claim, *_ in every), *waiting]
    names = dict(zip(claims, assign_names(claims, most, kept), strict=True))
    offers = {
        names[claim]: GatewayTool(
            one.policy.name, raw["name"], replace(tool, name=names[claim]), raw, one.policy
        )
        for claim, one, raw, tool in every
    }
    would_be = assign_names([claim for claim, _ in hidden], most, names)
    return GatewayCatalog(
        offers,
        {name: why for name, (_, why) in zip(would_be, hidden, strict=True)},
        [problem for one in listings for problem in one.problems],
        names,
        Gate(offer.tool for offer in offers.values()),
    )
