"""Who must be asked before a call leaves: what destroys, and what a source that is not trusted may write.

The question shows where each argument comes from: a value that stands in no request but in a tool's result may have
been put there by somebody else (indirect prompt injection).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from callwright.execution.policy import destroys_by_its_own_words
from callwright.gate import Sources
from callwright.types import CheckedCall, Json, Tool

DRY_RUN = "dry run: it would be called"
NOBODY = "nobody was there to be asked"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that waits for leave. ``origins``: JSON Pointer of an argument -> the result its value comes from."""

    call: CheckedCall
    why: str
    origins: Mapping[str, str] = field(default_factory=dict)


Approve: TypeAlias = Callable[[Proposal], bool | Awaitable[bool]]
"""Asked one proposal at a time; True lets the call leave."""


class Consent:
    """What may leave unasked, and who is asked about the rest.

    ``allow`` are shell patterns (``send_*``) of tools that need no leave. Without ``approve`` nobody can be asked:
    the rest is refused. ``dry_run``: nothing that may write leaves, allowed or not; reads do.
    """

    def __init__(self, approve: Approve | None = None, allow: Sequence[str] = (), *, dry_run: bool = False) -> None:
        self._approve = approve
        self._allow = tuple(allow)
        self._dry_run = dry_run

    def why(self, tool: Tool) -> str:
        """Why this tool's calls need leave, or "": they may go."""
        if not tool.effects.may_write:
            return ""
        if self._dry_run:
            return DRY_RUN
        if any(fnmatchcase(tool.name, pattern) for pattern in self._allow):
            return ""
        if not tool.trusted:
            return "it may write, and its source is not trusted"
        if tool.effects.destructive and (tool.effects.declared or destroys_by_its_own_words(tool)):
            return "it may destroy something"
        return ""

    async def asked(self, proposal: Proposal) -> tuple[bool, str]:
        """Whether the call may leave, and who said so."""
        if proposal.why == DRY_RUN:
            return False, "dry run"
        if self._approve is None:
            return False, "nobody"
        said = self._approve(proposal)
        return bool(await said if inspect.isawaitable(said) else said), "user"


def proposed(call: CheckedCall, why: str, sources: Sources) -> Proposal:
    """The question about a call, with the origin of what the request does not say."""
    said = Sources(sources.query)
    origins = {}
    for path, value in _leaves(call.arguments, ""):
        found = None if said.holds(value) else _origin(value, sources)
        if found is not None:
            origins[path] = found
    return Proposal(call, why, origins)


def refusal(why: str, by: str) -> str:
    """What a skip says of a call that did not leave."""
    if by == "dry run":
        return DRY_RUN
    if by == "nobody":
        return f"not allowed: {why}, and {NOBODY}"
    return f"not allowed: {why}, and the user said no"


def _origin(value: Json, sources: Sources) -> str | None:
    tools = {result.id: result.tool for result in sources.results}
    for leaf in sources.leaves:
        alike = isinstance(value, str) and isinstance(leaf.value, str) and len(value) > 1 and value in leaf.value
        if alike or (leaf.value == value and type(leaf.value) is type(value)):
            return f"{leaf.result} of {tools.get(leaf.result, 'a tool')}"
    return None


def _leaves(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif value is not None and not isinstance(value, bool):
        yield path, value
