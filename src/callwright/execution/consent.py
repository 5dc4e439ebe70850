"""Who must be asked before a call leaves: what destroys, and what a source that is not trusted may write.

The question shows where each argument comes from: a value that stands in no request but in a tool's result may have
been put there by somebody else (indirect prompt injection).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from callwright.execution.policy import destroys_by_its_own_words
from callwright.gate import Sources
from callwright.gate.sources import Leaf, fold, squash
from callwright.types import CheckedCall, Json, Tool, canonical

DRY_RUN = "dry run: it would be called"
NOBODY = "nobody was there to be asked"
_SHORT = 200  # characters of the arguments that a refusal repeats
_TELLING = 4  # letters and digits that one would hardly meet twice by chance
_NAMING = re.compile(r"[^\s,;()\[\]{}<>\"']*[\d@/_][^\s,;()\[\]{}<>\"']*")  # words that name: ids, addresses, sums


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that waits for leave. ``origins``: JSON Pointer of an argument -> the result that its value comes from;
    ``…, in part`` where only something in the value does.
    """

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

    @property
    def dry_run(self) -> bool:
        return self._dry_run

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
    """The question about a call, with the origin of what the request does not say, in whatever spelling."""
    said = Sources(sources.query)
    origins = {}
    for path, value in _leaves(call.arguments, ""):
        found = None if said.holds(value) else _origin(value, sources, said)
        if found is not None:
            origins[path] = found
    return Proposal(call, why, origins)


def refusal(call: CheckedCall, why: str, by: str) -> str:
    """What a skip says of a call that did not leave."""
    told = canonical(call.arguments)
    if by == "dry run":
        return f"{DRY_RUN} with {told}"
    said = NOBODY if by == "nobody" else "the user said no"
    return f"not allowed: {why}, and {said}: {told if len(told) <= _SHORT else told[: _SHORT - 1] + '…'}"


def _origin(value: Json, sources: Sources, said: Sources) -> str | None:
    tools = {result.id: result.tool for result in sources.results}
    for whole in (True, False):
        for leaf in sources.leaves:
            if _gave(leaf, value) if whole else _gave_part(leaf, value, said):
                return f"{leaf.result} of {tools.get(leaf.result, 'a tool')}{'' if whole else ', in part'}"
    return None


def _gave(leaf: Leaf, value: Json) -> bool:
    """Whether a value is this one of a result, or stands in it: case, accents and punctuation aside."""
    if leaf.value == value and not isinstance(leaf.value, bool):
        return True
    if not isinstance(value, str):
        return isinstance(leaf.value, str) and leaf.value == canonical(value)
    wanted, seen = squash(value), squash(_text(leaf))
    if wanted == seen != "" or (len(value) > 1 and value in _text(leaf)):
        return True
    return len(wanted) >= _TELLING and wanted in seen


def _gave_part(leaf: Leaf, value: Json, said: Sources) -> bool:
    """Whether something that names, and that the request does not say, stands in both."""
    if not isinstance(value, str):
        return False
    text, seen = fold(value), fold(_text(leaf))
    named = len(squash(seen)) >= _TELLING and not (seen.isalpha() and _text(leaf).islower())
    if named and _stands(seen, text) and not said.holds(_text(leaf)):
        return True
    words = {word.strip(".:!?") for word in _NAMING.findall(text)}
    return any(len(squash(w)) >= _TELLING and _stands(w, seen) and not said.holds(w) for w in words)


def _stands(text: str, whole: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", whole) is not None


def _text(leaf: Leaf) -> str:
    return leaf.value if isinstance(leaf.value, str) else canonical(leaf.value)


def _leaves(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif value is not None and not isinstance(value, bool):
        yield path, value
