"""Checks by rule alone whether the offered tools can answer a request (Tool-MVR, B.2 and Table 16).

A verdict against a request is certain or a suspicion. Certain verdicts are those that no better
reader would reverse. One is a tool that does not exist. The other is a required identifier, number
or day of a needed tool that neither the request nor another tool can give. A suspicion only lowers
the score; a model decides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from callwright.agent.probing.arguments import Draft, Lacking, draft_calls
from callwright.agent.probing.chains import PERHAPS, Feeding
from callwright.agent.probing.values import Request, is_credential
from callwright.dataflow.flow import STOP, content_words, split_words
from callwright.nouns.types import Tool
from callwright.repair.provenance.conversation_text import QUOTED
from callwright_lab.verify.requests import Asked
from callwright_lab.verify.sanity import (
    find_vague_phrase,
    iter_date_contradictions,
    iter_nonsense_reasons,
)

Rule = Literal["invalid information", "missing information", "tools", "contradiction"]
_IDS = frozenset("id uuid guid identifier code slug hash symbol ticker key number name".split())
_PLACES = frozenset("url uri link website domain email address".split())
_ADDRESS = re.compile(r"https?:|www\.|@|\b[\w-]+\.(?:com|org|net|io|co|edu|gov|[a-z]{2})\b", re.I)
_CODED = re.compile(r"\b(?=\w*\d)\w{2,}\b")
_TWO = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+ [A-Z][a-z]+")  # a name of two words inside a sentence
_DEPTH = 3  # tools in a chain that gives an input
_TELLING = 3  # letters of a word that a request and a tool have in common


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a request, and the rule that found it. ``certain``: no better reader would
    reverse it.
    """

    rule: Rule
    why: str
    certain: bool = True
    weighs: bool = True  # a key that nobody gave may be one that the server adds


@dataclass(frozen=True, slots=True)
class Criteria:
    """Five criteria from 1 to 10 (Table 16). By rule they are rough: they order requests, and no
    more.
    """

    solvability: int
    clarity: int
    completeness: int
    difficulty: int
    compatibility: int

    @property
    def score(self) -> int:
        """The quality: their mean, rounded."""
        total = (
            self.solvability
            + self.clarity
            + self.completeness
            + self.difficulty
            + self.compatibility
        )
        return round(total / 5)


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Result of checking a request without a model."""

    problems: tuple[Problem, ...]
    criteria: Criteria

    @property
    def against(self) -> Problem | None:
        """The first certain problem."""
        return next((problem for problem in self.problems if problem.certain), None)


def assess_feasibility(asked: Asked, today: date | None = None) -> Feasibility:
    """Judge a request. ``today`` is the day on which it is made, where that is known."""
    inputs = [_Input(tool, asked, today) for tool in _select_needed_tools(asked)]
    problems = [*_iter_text_problems(asked.query, today), *_iter_tool_problems(asked)]
    problems += [problem for one in inputs for problem in one.problems()]
    if inputs and not asked.needed and any(not list(one.problems()) for one in inputs):
        problems = [
            p for p in problems if p.rule != "missing information"
        ]  # which tool is needed is not known
    return Feasibility(tuple(problems), _score_criteria(asked, problems, inputs))


def _iter_text_problems(query: str, today: date | None) -> Iterator[Problem]:
    yield from (Problem("invalid information", why) for why in iter_nonsense_reasons(query))
    yield from (Problem("contradiction", why) for why in iter_date_contradictions(query, today))
    if found := find_vague_phrase(query):
        yield Problem(
            "missing information", f"it asks about {found!r} and does not say which", certain=False
        )


def _iter_tool_problems(asked: Asked) -> Iterator[Problem]:
    if asked.unknown:
        yield Problem("tools", f"it needs {asked.unknown[0]!r}, which is not offered")
    if not asked.tools:
        yield Problem("tools", "no tool is offered")
    elif not asked.needed and not any(
        _find_shared_words(asked.query, tool) for tool in asked.tools
    ):
        yield Problem("tools", "no offered tool has a word in common with it", certain=False)


def _select_needed_tools(asked: Asked) -> list[Tool]:
    """The tools that it needs; where nobody says which, those that have words in common with it."""
    if asked.needed:
        return [tool for tool in asked.tools if tool.name in asked.needed]
    return [tool for tool in asked.tools if _find_shared_words(asked.query, tool)]


def _find_shared_words(query: str, tool: Tool) -> set[str]:
    about = {
        *split_words(tool.name),
        *content_words(tool.description),
        *(w for key in tool.properties for w in split_words(key)),
    }
    return {w for w in {*content_words(query)} & about if len(w) >= _TELLING and w not in STOP}


class _Input:
    """The required inputs of one tool, and who gives them."""

    def __init__(self, tool: Tool, asked: Asked, today: date | None) -> None:
        self.tool = tool
        self._asked = asked
        self._request = Request(asked.query, today or date(2024, 1, 1))
        self._feeding = _build_feeding(asked.tools)
        found = draft_calls(tool, self._request)
        self.lacking = found.missing if isinstance(found, Lacking) else ()
        self.certain = isinstance(found, Lacking) and found.certain
        self.guessed = found[0].guessed if not isinstance(found, Lacking) else ()
        self.chained = tuple(
            key for key in self.lacking if self._fed(self.tool, key, _DEPTH, frozenset())
        )
        self.open = tuple(key for key in self.lacking if key not in self.chained)

    def problems(self) -> Iterator[Problem]:
        for key in self.open:
            if is_credential(key):
                why = f"{self.tool.name} needs {key!r}, a key that nobody gave"
                yield Problem("missing information", why, certain=False, weighs=False)
            elif (there := self._there(key)) != "given":
                why = (
                    f"{self.tool.name} needs {key!r}: neither the request nor another tool gives it"
                )
                yield Problem("missing information", why, certain=self.certain and not there)

    def _there(self, key: str) -> Literal["given", "perhaps", ""]:
        """Return "given" or "perhaps" if an input may be available although no text could be read
        as its value; "" if not.

        Given: the request holds an address, a code or a number of its form. A number or a day may
        be in another tool's result under any name. An id may come from another tool of the same
        source that does not document its result. Perhaps: the request names something that has such
        an id.
        """
        query, named = self._asked.query, set(split_words(key))
        if named & _PLACES:
            return "given" if _ADDRESS.search(query) else ""
        if named & _IDS:
            if _CODED.search(query) or any(tool.output_schema is None for tool in self._beside()):
                return "given"
            return "perhaps" if QUOTED.search(query) or _TWO.search(query) or self._beside() else ""
        alone = self._asked.needed == (self.tool.name,) or len(self._asked.tools) == 1
        return "given" if not alone or re.search(r"\d", query) else ""

    def _beside(self) -> list[Tool]:
        """Other tools of the same source that can be called."""
        source = self.tool.source
        others = [
            tool for tool in self._asked.tools if tool is not self.tool and tool.source == source
        ]
        return [
            tool for tool in others if self._callable(tool, _DEPTH - 1, frozenset({self.tool.name}))
        ]

    def _fed(self, tool: Tool, key: str, depth: int, seen: frozenset[str]) -> bool:
        """Return True if another tool that can itself be called may supply an input."""
        if depth == 0:
            return False
        links = [other for _, other in self._feeding.providers(tool, key, PERHAPS)]
        for other in (*links, *self._feeding.same_form(tool, key)):
            if other.name not in seen and self._callable(other, depth - 1, seen | {tool.name}):
                return True
        return False

    def _callable(self, tool: Tool, depth: int, seen: frozenset[str]) -> bool:
        found: list[Draft] | Lacking = draft_calls(tool, self._request)
        return not isinstance(found, Lacking) or all(
            self._fed(tool, key, depth, seen) for key in found.missing
        )


@lru_cache(maxsize=64)
def _build_feeding(tools: tuple[Tool, ...]) -> Feeding:
    return Feeding(tools)


# ---------------------------------------------------------------- criteria


def _score_criteria(
    asked: Asked, problems: Sequence[Problem], inputs: Sequence[_Input]
) -> Criteria:
    certain = any(p.certain for p in problems)
    lacks = any(p.rule == "missing information" and p.weighs for p in problems)
    doubts = sum(not p.certain for p in problems)
    required = sum(len(one.tool.required) for one in inputs)
    given = required - sum(len(one.open) for one in inputs)
    chained = sum(len(one.chained) for one in inputs)
    guessed = sum(len(one.guessed) for one in inputs)
    share_given = 10 * given / required - guessed / 2 if required else 10 - 3 * doubts
    solvable = 1 if certain else max(2, 10 - 3 * doubts - min(2, chained))
    complete = 1 if certain else _clamp_score(share_given)
    if lacks:
        solvable, complete = min(solvable, 4), min(complete, 3)
    return Criteria(
        solvability=solvable,
        clarity=_score_clarity(asked.query),
        completeness=complete,
        difficulty=_clamp_score(4 + 2 * len(asked.needed or inputs[:1]) + min(2, chained)),
        compatibility=1 if not asked.tools else _score_compatibility(asked),
    )


def _score_clarity(query: str) -> int:
    """Sentences of a length that can be read, begun and ended as such."""
    said = query.strip()
    length = len(said.split())
    score = 10.0
    score -= 3 if length < 5 else 0
    score -= 2 if length > 120 else 0
    score -= 0 if said[:1].isupper() or not said[:1].isalpha() else 1
    score -= 0 if said.endswith((".", "?", "!", '"')) else 1
    score -= 3 if any(True for _ in iter_nonsense_reasons(said)) else 0
    score -= 1 if said.isupper() else 0
    return _clamp_score(score)


def _score_compatibility(asked: Asked) -> int:
    """Return the compatibility score: the share of the needed tools that have words in common with
    the request.
    """
    wanted = [t for t in asked.tools if t.name in asked.needed] or list(asked.tools)
    related = sum(bool(_find_shared_words(asked.query, tool)) for tool in wanted)
    share = related / len(wanted) if asked.needed else min(1.0, related)
    return _clamp_score((5 if asked.needed else 2) + 8 * share)


def _clamp_score(score: float) -> int:
    return round(max(1.0, min(10.0, score)))
