"""Deeds that an answer tells of and that no call did.

"The reminder was deleted" holds no value that a result could contradict, and its words stand in the
request. A small model that was asked for two things and did one says so of both. Which of the
offered tools does what such a sentence tells of, the model can be asked, in any language: the
sentence alone, and one letter for each tool. Where it names tools that change something and that
were not called, the sentence claims what was not done. Asked whether the calls did it, the same
model does not know (``callwright bench letters``).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from callwright import prompts
from callwright.grounding.grounding_result import GroundingResult
from callwright.language.tokens import squash_text
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Reply, Tool
from callwright.prompts.one_letter import (
    LETTERS,
    build_letter_question,
    read_shares,
    render_tool_choices,
)

LEAST_SHARE: Final = threshold("callwright.grounding", "deeds_least_share")
"""The share of tools that were not called, from which a sentence tells of what they do."""
DEED: Final = "answer.deed"
"""The purpose of the question. It stands alone: behind a conversation the model looks at that."""
_NONE = "none of them"
_MOST_TOOLS = len(LETTERS) - 1
_NAMED = 0.2  # the share of a tool that is named to the user


@dataclass(frozen=True, slots=True)
class Deeds:
    """The tools of which an answer may tell. ``undone``: those that change something and that were
    not called. ``written``: the results of the calls that changed something.
    """

    tools: tuple[Tool, ...]
    undone: frozenset[str]
    written: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls, tools: Sequence[Tool], done: Container[str], written: Iterable[str] = ()
    ) -> Deeds | None:
        """The deeds of a conversation that called the tools of ``done``; None where no tool is left
        that could have changed something. Of more than 19 tools those that were called come first.
        """
        called = [tool for tool in tools if tool.name in done]
        others = [tool for tool in tools if tool.name not in done]
        shown = (*called, *others)[:_MOST_TOOLS]
        undone = {t.name for t in shown if t.name not in done and t.effects.may_write}
        if not undone:
            return None
        told = tuple(tool for tool in tools if tool in shown)
        return cls(told, frozenset(undone), frozenset(written))

    def is_in_question(self, verdict: GroundingResult, query: str) -> bool:
        """Return True if a statement rests on no result, though nothing speaks against it; beside
        deeds that were done, if it rests on none of these and says no more of a result than the
        request.
        """
        if verdict.support not in ("supported", "unchecked"):
            return False
        if not self.written:
            return not verdict.citations
        return not any(
            citation.result in self.written or not _is_said(citation.quote, query)
            for citation in verdict.citations
        )

    def ask(self, statement: str) -> ChatRequest:
        """The question of what a statement tells of."""
        choices = render_tool_choices(self.tools, _NONE)
        asked = prompts.render("deed", sentence=statement, choices=choices)
        return build_letter_question(asked, DEED)

    def read_reply(self, reply: Reply) -> tuple[str, ...]:
        """The tools that did not do what the statement tells of, the likeliest first; () where
        others may have done it, or the model states no probabilities.
        """
        shares = read_shares(reply.first_token, len(self.tools) + 1)
        by_tool = dict(zip([tool.name for tool in self.tools], shares, strict=False))
        undone = {name: share for name, share in by_tool.items() if name in self.undone}
        if not shares or sum(undone.values()) < LEAST_SHARE:
            return ()
        likeliest = sorted(undone, key=lambda name: -undone[name])
        if undone[likeliest[0]] < max(shares):
            return ()
        return tuple(name for name in likeliest if undone[name] >= _NAMED) or (likeliest[0],)


def _is_said(quote: str, query: str) -> bool:
    """Return True if the value of a quotation, such as ``"title":"Blue Sky"``, stands in the
    request.
    """
    value = quote.partition(":")[2].strip('"') or quote
    return squash_text(value) in squash_text(query)
