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
_WORD = re.compile(r"[^\s,;()\[\]{}<>\"']+")
_NAMES = re.compile(r"[\d@/_]")  # in words that name: ids, addresses, sums


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
    seen = _Seen(sources)
    found = ((path, seen.origin(value)) for path, value in _leaves(call.arguments, ""))
    return Proposal(call, why, {path: origin for path, origin in found if origin})


def refusal(call: CheckedCall, why: str, by: str) -> str:
    """What a skip says of a call that did not leave."""
    told = canonical(call.arguments)
    if by == "dry run":
        return f"{DRY_RUN} with {told}"
    said = NOBODY if by == "nobody" else "the user said no"
    return f"not allowed: {why}, and {said}: {told if len(told) <= _SHORT else told[: _SHORT - 1] + '…'}"


class _Seen:
    """What results said and the request did not."""

    def __init__(self, sources: Sources) -> None:
        self._said = Sources(sources.query)
        self._tools = {result.id: result.tool for result in sources.results}
        self._leaves = [(leaf, fold(_text(leaf)), squash(_text(leaf))) for leaf in sources.leaves]
        self._words: dict[str, Leaf] = {}  # that name something -> who said it first
        for leaf, text, _ in self._leaves:
            for word in _naming(text):
                self._words.setdefault(word, leaf)

    def origin(self, value: Json) -> str:
        """The result that gave a value, or (``…, in part``) something that stands in it; "" for neither."""
        if self._said.holds(value):
            return ""
        whole = self._whole(value)
        leaf = whole or (self._part(value) if isinstance(value, str) else None)
        if leaf is None:
            return ""
        return f"{leaf.result} of {self._tools.get(leaf.result, 'a tool')}{'' if whole else ', in part'}"

    def _whole(self, value: Json) -> Leaf | None:
        """Who said a value, or more in which it stands: case, accents and punctuation aside."""
        if not isinstance(value, str):
            text = canonical(value)
            return next((leaf for leaf, _, _ in self._leaves if leaf.value in (value, text)), None)
        text, wanted = fold(value), squash(value)
        for leaf, seen, squashed in self._leaves:
            if wanted == squashed != "" or (len(wanted) >= _TELLING and wanted in squashed):
                return leaf
            if len(value) > 1 and text in seen and _stands(text, seen):
                return leaf
        return None

    def _part(self, value: str) -> Leaf | None:
        for word in _naming(fold(value)):
            if word in self._words and not self._said.holds(word):
                return self._words[word]
        text = fold(value)
        for leaf, seen, squashed in self._leaves:
            telling = len(squashed) >= _TELLING and not (seen.isalpha() and _text(leaf).islower())  # "open", "yes"
            if telling and seen in text and _stands(seen, text) and not self._said.holds(_text(leaf)):
                return leaf
        return None


def _naming(text: str) -> list[str]:
    """The words that name something: they hold a digit or the marks of an address."""
    words = (word.strip(".:!?") for word in _WORD.findall(text) if _NAMES.search(word))
    return [word for word in words if len(squash(word)) >= _TELLING]


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
