"""Decides which calls need approval before they are sent: destructive ones, and writes by untrusted
sources.

The question shows the origin of each argument. A value that stands in no request but in a tool's
result may have been put there by somebody else (indirect prompt injection).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from callwright.agent.safety.approvals import (
    OfferedTool,
    build_offered_tool,
    find_approved,
    is_named,
    require_names,
)
from callwright.agent.safety.policy import is_described_destructive
from callwright.agent.safety.provenance import Provenance, iter_leaves
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import CheckedCall, Tool, to_canonical_json
from callwright.repair.provenance.sources import ProvenanceIndex

DRY_RUN = "dry run: it would be called"
NOBODY = "nobody was there to be asked"
_FAILED = "asking for approval failed"
_SHORT = 200  # characters of the arguments that a refusal repeats


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that waits for approval. ``origins``: JSON Pointer of an argument -> the result that
    its value comes from; ``…, in part`` where only something in the value does. ``offer``: whose
    tool it is, and its digest.
    """

    call: CheckedCall
    why: str
    origins: Mapping[str, str] = field(default_factory=dict)
    offer: OfferedTool | None = None


Approve: TypeAlias = Callable[[Proposal], bool | Awaitable[bool | None] | None]
"""Asked one proposal at a time. Only True lets the call leave; False and None are a no."""

Ask: TypeAlias = Literal["destructive", "writes"]
"""The calls of trusted tools that need approval: those that may destroy something, or all that may
write.
"""


class Consent:
    """Rules for the calls that need approval, and the function that asks for it.

    ``allow`` names tools that need no approval (:mod:`~callwright.agent.safety.approvals`). Without
    ``approve``, all other such calls are refused. ``dry_run``: no call that may write is sent,
    allowed or not; reads are. ``idle``: the patterns of ``allow`` that name no tool of the
    catalogue that this is bound to. Raises ConfigError for options of another type.
    """

    def __init__(
        self,
        approve: Approve | None = None,
        allow: Sequence[str] = (),
        *,
        ask: Ask = "destructive",
        dry_run: bool = False,
    ) -> None:
        if approve is not None and not callable(approve):
            raise ConfigError(
                f"approve is {approve!r}, and must be a function",
                hint="it is given a Proposal and returns True or False; allow=['*'] approves all",
            )
        if ask not in get_args(Ask):
            raise ConfigError(
                f"ask is {ask!r}", hint=f"there are: {', '.join(map(repr, get_args(Ask)))}"
            )
        self._approve = approve
        self._allow = require_names("allow", allow)
        self.ask = ask
        self._dry_run = dry_run
        self._offers: Mapping[str, OfferedTool] = {}
        self._approved: frozenset[str] | None = None
        self.idle: tuple[str, ...] = ()

    def bound(self, offers: Mapping[str, OfferedTool]) -> Consent:
        """The same for the tools of one catalogue, by the names they have there. Raises ConfigError
        where ``allow`` does not tell the tools of two sources apart.
        """
        made, found = copy(self), {one: find_approved([one], offers) for one in self._allow}
        made._offers, made._approved = offers, frozenset().union(*found.values())
        made.idle = tuple(pattern for pattern, names in found.items() if not names)
        return made

    def asking(self, ask: Ask, *, dry_run: bool = False) -> Consent:
        """The same, asking also about the calls that a run asked about before. A run that began as
        a ``dry_run`` stays one.
        """
        made = copy(self)
        made.ask = "writes" if "writes" in (ask, self.ask) else "destructive"
        made._dry_run = self._dry_run or dry_run
        return made

    def offer(self, tool: Tool) -> OfferedTool:
        """Return the source and the definition that offer this tool."""
        return self._offers.get(tool.name) or build_offered_tool(tool)

    def _is_approved(self, tool: Tool) -> bool:
        if self._approved is not None:
            return tool.name in self._approved
        return any(is_named(pattern, tool.name, self.offer(tool)) for pattern in self._allow)

    def may_be_called(self, tool: Tool) -> bool:
        """Return True if a call of this tool may leave, or somebody can approve it. A dry run sends
        none, so it may show them all.
        """
        return self._dry_run or self._approve is not None or not self.why(tool)

    @property
    def dry_run(self) -> bool:
        return self._dry_run

    def why(self, tool: Tool) -> str:
        """Return the reason why this tool's calls need approval, or "" if they need none."""
        if not tool.effects.may_write:
            return ""
        if self._dry_run:
            return DRY_RUN
        if self._is_approved(tool):
            return ""
        if not tool.trusted:
            return "it may write, and its source is not trusted"
        if tool.effects.destructive and (tool.effects.declared or is_described_destructive(tool)):
            return "it may destroy something"
        return "it may write" if self.ask == "writes" else ""

    async def asked(self, proposal: Proposal) -> tuple[bool, str]:
        """Return True if the call is approved, with the name of who decided. Where whoever is asked
        fails, or gives no clear answer, the call is not approved, and the name says why.
        """
        if proposal.why == DRY_RUN:
            return False, "dry run"
        if self._approve is None:
            return False, "nobody"
        try:
            said = self._approve(proposal)
            said = await said if inspect.isawaitable(said) else said
        except Exception as error:
            return False, f"{_FAILED}: {type(error).__name__}: {error}"
        if said is None or isinstance(said, bool):
            return said is True, "user"
        return False, f"{_FAILED}: approve() returned a {type(said).__name__}, not True or False"


def build_proposal(
    call: CheckedCall, why: str, sources: ProvenanceIndex, offer: OfferedTool | None = None
) -> Proposal:
    """The question about a call, with the origin of what the request does not say, in whatever
    spelling.
    """
    seen = Provenance(sources)
    found = ((path, seen.of(value)) for path, value in iter_leaves(call.arguments))
    return Proposal(
        call, why, {path: str(origin) for path, origin in found if origin is not None}, offer
    )


def describe_refusal(call: CheckedCall, why: str, by: str) -> str:
    """Return the reason for skipping a call that was not approved."""
    told = to_canonical_json(call.arguments)
    if by == "dry run":
        return f"{DRY_RUN} with {told}"
    refused = by if by.startswith(_FAILED) else "the user said no"
    said = NOBODY if by == "nobody" else refused
    return (
        f"not allowed: {why}, and {said}:"
        f" {told if len(told) <= _SHORT else told[: _SHORT - 1] + '…'}"
    )
