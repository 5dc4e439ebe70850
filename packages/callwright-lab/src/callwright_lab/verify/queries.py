"""Verify requests (Tool-MVR, 3.2.2 and B.2): feasible by the four rules? good enough by the five
criteria?

First by rule; what that surely refutes is not asked about. Then, where there are judges, by a model
(Table 16) or several: the majority decides on feasibility, a tie is against the request, and its
quality is the mean of what those gave who found it solvable.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import fmean
from typing import Any

from callwright.agent.render import render_signatures
from callwright.jsontext import JsonError, parse_complete
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import JsonObject, Reply
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.committee import decide_majority, poll_judges
from callwright_lab.verify.feasibility import Criteria, Feasibility, assess_feasibility
from callwright_lab.verify.requests import Asked
from callwright_lab.verify.sweep import Finding, Row, make_row_key

LEAST = 8  # quality that is kept, as in the paper
LONGEST = 50_000  # characters of a request that is read
SOLVABLE, UNSOLVABLE = "Solvable", "Unsolvable"
_CRITERIA = ("solvability", "clarity", "completeness", "difficulty", "compatibility")
_RULES = {1: "invalid information", 2: "missing information", 3: "tools"}
_REASON = 300  # characters of an explanation
_TOKENS = 320


@dataclass(frozen=True, slots=True)
class Assessment:
    """Assessment of a request by a judge; ``decision`` is "" if its reply could not be read.
    ``rule`` is the number of the rule (Table 16), ``quality`` from 1 to 10.
    """

    decision: str
    reason: str = ""
    rule: int = 4
    quality: int = 0
    criteria: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryVerifier:
    """Judges requests: keeps those that can be answered and have a quality of at least ``least``.
    ``judges`` by name; none: by rule alone. ``today`` is the day of the requests, where that is
    known; ``dead`` are tools that answer nobody. Raises ConfigError.
    """

    judges: Mapping[str, ChatModel] = field(default_factory=dict)
    least: int = LEAST
    today: date | None = None
    dead: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not 1 <= self.least <= 10:
            raise ConfigError(f"the least quality is {self.least}, and must be 1 to 10")

    def rows(self, requests: Sequence[Asked]) -> list[Row[Asked]]:
        """A row for every request."""
        return [
            Row(one.id, make_row_key("queries", one.key, *self._lost(one)), one) for one in requests
        ]

    def _lost(self, asked: Asked) -> list[str]:
        """The tools that it needs and that answer nobody."""
        return sorted(self.dead & {*asked.needed})

    async def judge(self, asked: Asked, meter: Meter) -> Finding:
        """Judge one request. Raises BudgetSpent, ModelError."""
        if len(asked.query) > LONGEST:
            why = f"it has {len(asked.query):,} characters; at most {LONGEST:,} are read"
            return Finding(False, "unsolvable: invalid information", why, {})
        found = assess_feasibility(asked, self.today)
        told = _serialize_rule_verdict(found)
        if against := found.against:
            return Finding(False, f"unsolvable: {against.rule}", against.why, told)
        if lost := self._lost(asked):
            return Finding(
                False, "unsolvable: tools", f"it needs {', '.join(lost)}, dead by the overlay", told
            )
        if not self.judges:
            return self._of_quality(found.criteria.score, _join_problems(found), told)
        return self._decided(await self._asked(asked, meter), told)

    async def _asked(self, asked: Asked, meter: Meter) -> dict[str, Assessment]:
        return await poll_judges(
            self.judges,
            lambda constrained, _: ask_assessment(asked, schema=constrained),
            meter.metered,
        )

    def _decided(self, said: Mapping[str, Assessment], told: JsonObject) -> Finding:
        votes = {name: one.decision for name, one in said.items()}
        decision = decide_majority(votes)
        told |= {
            "votes": votes,
            "assessments": {name: _serialize_assessment(one) for name, one in said.items()},
        }
        if decision.label == SOLVABLE:
            scores = [
                one.quality for one in said.values() if one.decision == SOLVABLE and one.quality
            ]
            reason = next(one.reason for one in said.values() if one.decision == SOLVABLE)
            return self._of_quality(round(fmean(scores)) if scores else 0, reason, told)
        if decision.label == UNSOLVABLE:
            one = next(one for one in said.values() if one.decision == UNSOLVABLE)
            return Finding(False, f"unsolvable: {_RULES.get(one.rule, 'tools')}", one.reason, told)
        if decision.tie:
            return Finding(
                False,
                "undecided: the judges are tied",
                "; ".join(f"{n}: {v}" for n, v in votes.items()),
                told,
            )
        why = f"no verdict in the replies of {', '.join(votes)}"
        return Finding(False, "unsettled: no reply could be read", why, told, lasting=False)

    def _of_quality(self, score: int, why: str, told: JsonObject) -> Finding:
        told["quality"] = score
        kept = score >= self.least
        return Finding(
            kept,
            "" if kept else f"quality below {self.least}",
            f"quality {score}" + (f"; {why}" if why else ""),
            told,
        )


def ask_assessment(
    asked: Asked, *, schema: bool = True
) -> Generator[ChatRequest, Reply, Assessment]:
    """Ask one judge of a request (Table 16). Without I/O."""
    messages = prompts.render(
        "verify_query",
        tools=render_signatures(asked.tools),
        query=asked.query.replace("=====", "==="),
    )
    reply = yield ChatRequest(
        messages, "verify.query", schema=_SCHEMA if schema else None, max_tokens=_TOKENS
    )
    return read_assessment(reply.text)


_SCORE: JsonObject = {"type": "integer", "minimum": 1, "maximum": 10}
_SCHEMA = closed_object(
    explanation={"type": "string", "maxLength": _REASON},
    decision={"enum": [SOLVABLE, UNSOLVABLE]},
    rule={"type": "integer", "minimum": 1, "maximum": 4},
    **dict.fromkeys(_CRITERIA, _SCORE),
    quality_score=_SCORE,
)


def read_assessment(text: str) -> Assessment:
    """Return the assessment in a reply, wherever its JSON stands. A decision alone suffices; a
    missing quality is 0.
    """
    try:
        value = parse_complete(text)
    except JsonError:
        return Assessment("")
    if not isinstance(value, dict):
        return Assessment("")
    said = str(value.get("decision", "")).strip().strip('"“”').lower()
    if said == "solvable":
        decision = SOLVABLE
    elif said == "unsolvable":
        decision = UNSOLVABLE
    else:
        decision = ""
    criteria = {
        name: _parse_score(value.get(name)) for name in _CRITERIA if _parse_score(value.get(name))
    }
    reason = value.get("explanation", value.get("reason", ""))
    rule = value.get("rule")
    return Assessment(
        decision,
        " ".join(str(reason).split())[:_REASON],
        rule if isinstance(rule, int) and 1 <= rule <= 4 else 4,
        _parse_score(value.get("quality_score"))
        or (round(fmean(criteria.values())) if criteria else 0),
        criteria,
    )


def _parse_score(value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return (
        round(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 10
        else 0
    )


def _serialize_rule_verdict(found: Feasibility) -> JsonObject:
    criteria = {name: getattr(found.criteria, name) for name in Criteria.__dataclass_fields__}
    problems = [{"rule": p.rule, "why": p.why, "certain": p.certain} for p in found.problems]
    return {"by_rule": {"criteria": criteria, "score": found.criteria.score, "problems": problems}}


def _serialize_assessment(one: Assessment) -> JsonObject:
    return {
        "decision": one.decision,
        "reason": one.reason,
        "quality": one.quality,
        "criteria": dict(one.criteria),
    }


def _join_problems(found: Feasibility) -> str:
    return "; ".join(problem.why for problem in found.problems)
