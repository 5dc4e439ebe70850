"""Whether a request can be answered with the tools that are offered, by rule alone (Tool-MVR, B.2
and Table 16).

A verdict against a request is certain or a suspicion. Certain are those that no better reader would
take back: a tool that is not there, an identifier, a number or a day that a needed tool requires
and that neither the request nor any other tool can give. What is only suspected lowers the score,
and is for a model to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from callwright.agent.probing.arguments import Draft, Lacking, drafts
from callwright.agent.probing.chains import PERHAPS, Feeding
from callwright.agent.probing.values import Request, is_credential
from callwright.dataflow.flow import STOP, content_words, words
from callwright.nouns.types import Tool
from callwright.repair.provenance.conversation_text import QUOTED
from callwright_lab.verify.requests import Asked
from callwright_lab.verify.sanity import contradictions, nonsense, vague

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
    """What speaks against a request, by which of the rules. ``certain``: no better reader would
    take it back.
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
    """What can be said of a request without a model."""

    problems: tuple[Problem, ...]
    criteria: Criteria

    @property
    def against(self) -> Problem | None:
        """The first certain problem."""
        return next((problem for problem in self.problems if problem.certain), None)


def feasibility(asked: Asked, today: date | None = None) -> Feasibility:
    """Judge a request. ``today`` is the day on which it is made, where that is known."""
    inputs = [_Input(tool, asked, today) for tool in _needed(asked)]
    problems = [*_of_text(asked.query, today), *_of_tools(asked)]
    problems += [problem for one in inputs for problem in one.problems()]
    if inputs and not asked.needed and any(not list(one.problems()) for one in inputs):
        problems = [
            p for p in problems if p.rule != "missing information"
        ]  # which tool is needed is not known
    return Feasibility(tuple(problems), _criteria(asked, problems, inputs))


def _of_text(query: str, today: date | None) -> Iterator[Problem]:
    yield from (Problem("invalid information", why) for why in nonsense(query))
    yield from (Problem("contradiction", why) for why in contradictions(query, today))
    if found := vague(query):
        yield Problem(
            "missing information", f"it asks about {found!r} and does not say which", certain=False
        )


def _of_tools(asked: Asked) -> Iterator[Problem]:
    if asked.unknown:
        yield Problem("tools", f"it needs {asked.unknown[0]!r}, which is not offered")
    if not asked.tools:
        yield Problem("tools", "no tool is offered")
    elif not asked.needed and not any(_related(asked.query, tool) for tool in asked.tools):
        yield Problem("tools", "no offered tool has a word in common with it", certain=False)


def _needed(asked: Asked) -> list[Tool]:
    """The tools that it needs; where nobody says which, those that have words in common with it."""
    if asked.needed:
        return [tool for tool in asked.tools if tool.name in asked.needed]
    return [tool for tool in asked.tools if _related(asked.query, tool)]


def _related(query: str, tool: Tool) -> set[str]:
    about = {
        *words(tool.name),
        *content_words(tool.description),
        *(w for key in tool.properties for w in words(key)),
    }
    return {w for w in {*content_words(query)} & about if len(w) >= _TELLING and w not in STOP}


class _Input:
    """The required inputs of one tool, and who gives them."""

    def __init__(self, tool: Tool, asked: Asked, today: date | None) -> None:
        self.tool = tool
        self._asked = asked
        self._request = Request(asked.query, today or date(2024, 1, 1))
        self._feeding = _feeding(asked.tools)
        found = drafts(tool, self._request)
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
        """Whether an input is there although nobody could read it as its value: an address, a code,
        a number of its form was said; a number or a day may be in what another tool returns,
        whatever that calls it; an id where another of the same source can be called that does not
        say what it returns. Perhaps: what is named has one.
        """
        query, named = self._asked.query, set(words(key))
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
        """Whether another tool, which can itself be called, may give an input."""
        if depth == 0:
            return False
        links = [other for _, other in self._feeding.providers(tool, key, PERHAPS)]
        for other in (*links, *self._feeding.same_form(tool, key)):
            if other.name not in seen and self._callable(other, depth - 1, seen | {tool.name}):
                return True
        return False

    def _callable(self, tool: Tool, depth: int, seen: frozenset[str]) -> bool:
        found: list[Draft] | Lacking = drafts(tool, self._request)
        return not isinstance(found, Lacking) or all(
            self._fed(tool, key, depth, seen) for key in found.missing
        )


@lru_cache(maxsize=64)
def _feeding(tools: tuple[Tool, ...]) -> Feeding:
    return Feeding(tools)


# ---------------------------------------------------------------- criteria


def _criteria(asked: Asked, problems: Sequence[Problem], inputs: Sequence[_Input]) -> Criteria:
    certain = any(p.certain for p in problems)
    lacks = any(p.rule == "missing information" and p.weighs for p in problems)
    doubts = sum(not p.certain for p in problems)
    required = sum(len(one.tool.required) for one in inputs)
    given = required - sum(len(one.open) for one in inputs)
    chained = sum(len(one.chained) for one in inputs)
    guessed = sum(len(one.guessed) for one in inputs)
    solvable = 1 if certain else max(2, 10 - 3 * doubts - min(2, chained))
    complete = (
        1
        if certain
        else _bounded(10 * given / required - guessed / 2 if required else 10 - 3 * doubts)
    )
    if lacks:
        solvable, complete = min(solvable, 4), min(complete, 3)
    return Criteria(
        solvability=solvable,
        clarity=_clarity(asked.query),
        completeness=complete,
        difficulty=_bounded(4 + 2 * len(asked.needed or inputs[:1]) + min(2, chained)),
        compatibility=1 if not asked.tools else _compatibility(asked),
    )


def _clarity(query: str) -> int:
    """Sentences of a length that can be read, begun and ended as such."""
    said = query.strip()
    length = len(said.split())
    score = 10.0
    score -= 3 if length < 5 else 0
    score -= 2 if length > 120 else 0
    score -= 0 if said[:1].isupper() or not said[:1].isalpha() else 1
    score -= 0 if said.endswith((".", "?", "!", '"')) else 1
    score -= 3 if any(True for _ in nonsense(said)) else 0
    score -= 1 if said.isupper() else 0
    return _bounded(score)


def _compatibility(asked: Asked) -> int:
    """How many of the needed tools share words with the request."""
    wanted = [t for t in asked.tools if t.name in asked.needed] or list(asked.tools)
    related = sum(bool(_related(asked.query, tool)) for tool in wanted)
    share = related / len(wanted) if asked.needed else min(1.0, related)
    return _bounded((5 if asked.needed else 2) + 8 * share)


def _bounded(score: float) -> int:
    return round(max(1.0, min(10.0, score)))
