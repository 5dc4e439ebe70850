"""Defines the draft that the plan generator works on, from the drawn tools to the resulting label.

The number of tools offered and used follows Figure 3 of Beyond ReAct. The easy and hard shares are
those of its published rows (offered 2.9 and 9.9 in the mean, used 2.6 and 5.7). No rows are
published of medium, so its shares are ours and lie between. The drawn tools depend on seed, part,
difficulty and number alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Plan
from callwright.nouns.types import JsonObject, Tool
from callwright.planning.arrows import edges_by_tool, read_arrows, write_arrows
from callwright_lab.datasets.files import tool_from_row, tool_row
from callwright_lab.metrics import GraphScore, graph_score

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)

OFFERED: Mapping[Difficulty, Mapping[int, int]] = {
    "easy": {2: 37, 3: 34, 4: 29},
    "medium": {5: 25, 6: 25, 7: 25, 8: 25},
    "hard": {9: 17, 10: 79, 12: 3, 14: 1},
}
USED: Mapping[Difficulty, Mapping[int, int]] = {
    "easy": {2: 1, 3: 3, 4: 2},
    "medium": {3: 25, 4: 35, 5: 40},
    "hard": {4: 3, 5: 39, 6: 44, 7: 12, 8: 1, 9: 1},
}
RELATED = 0.8  # share of tools drawn for what they have in common with those that are there
_LOOKED_AT = 48  # tools weighed at each draw


@dataclass(frozen=True, slots=True)
class Draft:
    """One row in the making. ``dropped`` says why it is none; after that nothing more is asked
    about it.

    ``tools`` are numbered as they stand; the workflow should use about ``wanted`` of them.
    ``workflow`` is the graph that the query was written from, ``plan`` the one re-solved from the
    query alone, which is the label.
    """

    id: str
    part: str
    difficulty: Difficulty
    tools: tuple[Tool, ...]
    wanted: int
    goal: str = ""
    workflow: Plan | None = None
    query: str = ""
    intent: str = ""
    plan: Plan | None = None
    dropped: str = ""
    by: str = ""
    tokens: int = 0

    @property
    def finished(self) -> bool:
        return bool(self.dropped) or self.plan is not None

    @property
    def agreement(self) -> GraphScore | None:
        """Return the agreement of the label with the workflow from which the query was written.
        None until both exist.
        """
        if self.workflow is None or self.plan is None:
            return None
        nodes, gold = ({s.tool for s in p.slots} for p in (self.plan, self.workflow))
        return graph_score(nodes, edges_by_tool(self.plan), gold, edges_by_tool(self.workflow))

    @property
    def combination(self) -> frozenset[str]:
        """The tools of the label."""
        return frozenset(s.tool for s in self.plan.slots) if self.plan is not None else frozenset()


def drawn(
    catalogue: Sequence[Tool], part: str, difficulty: Difficulty, number: int, seed: int = 0
) -> Draft:
    """Draft ``number`` of a part and difficulty: its tools and how many of them to use, always the
    same.

    ConfigError where the catalogue has fewer tools than the difficulty may offer, or two of one
    name.
    """
    least = max(OFFERED[difficulty])
    if len(catalogue) < least:
        raise ConfigError(
            f"{difficulty} tasks offer up to {least} tools, and the catalogue has {len(catalogue)}",
            hint="name more --tools, or leave the difficulty out",
        )
    if len({t.name for t in catalogue}) < len(catalogue):
        raise ConfigError(
            "two tools of the catalogue have one name", hint="give one of the sources a prefix"
        )
    rng = random.Random(f"plan {seed} {part} {difficulty} {number}")
    offered = _draw_weighted(rng, OFFERED[difficulty])
    wanted = _draw_weighted(rng, {n: w for n, w in USED[difficulty].items() if n <= offered})
    return Draft(
        f"{part}-{difficulty}-{number:05}",
        part,
        difficulty,
        _draw_tools(rng, catalogue, offered),
        wanted,
    )


def _draw_weighted(rng: random.Random, weights: Mapping[int, int]) -> int:
    return rng.choices(list(weights), list(weights.values()))[0]


def _draw_tools(rng: random.Random, catalogue: Sequence[Tool], count: int) -> tuple[Tool, ...]:
    """Tools that have something to do with each other, and some that have not, in random order."""
    left = sorted(catalogue, key=lambda t: t.name)
    common = _count_words(tuple(left))
    found = [left.pop(rng.randrange(len(left)))]
    while len(found) < count:
        some = rng.sample(range(len(left)), min(_LOOKED_AT, len(left)))
        related = rng.random() < RELATED
        weights = [
            max(_score_similarity(left[i], other, common) for other in found) if related else 1.0
            for i in some
        ]
        found.append(left.pop(rng.choices(some, weights)[0]))
    rng.shuffle(found)
    return tuple(found)


def _score_similarity(one: Tool, other: Tool, common: Mapping[str, int]) -> float:
    """Return the similarity of two tools: shared words that few tools have ("invoice", not "find"),
    and a shared source.
    """
    shared = sum(1 / (common[word] - 1) for word in _collect_words(one) & _collect_words(other))
    return 0.02 + min(1.0, shared) + 0.1 * (bool(one.source) and one.source == other.source)


@lru_cache(maxsize=4)
def _count_words(catalogue: tuple[Tool, ...]) -> Mapping[str, int]:
    """Return the number of tools that contain each word."""
    return Counter(word for tool in catalogue for word in _collect_words(tool))


@lru_cache(maxsize=8192)
def _collect_words(tool: Tool) -> frozenset[str]:
    outputs = (tool.output_schema or {}).get("properties") or {}
    text = " ".join([tool.name, tool.description, *tool.properties, *outputs])
    parts = re.findall(r"[A-Z]?[a-z]{2,}|[^\W\d_a-zA-Z]", text)
    return frozenset(p.lower() for p in parts)


# ---------------------------------------------------------------- on disk


def to_json(draft: Draft) -> JsonObject:
    """A draft whole, as the journal holds it; of finished ones the first fields are a row of
    ours.
    """
    found = draft.agreement
    return {
        "id": draft.id, "query": draft.query, "tools": [tool_row(t) for t in draft.tools],
        "plan": _serialize_plan(draft.plan, draft.tools), "workflow": _serialize_plan(draft.workflow, draft.tools),
        "node_f1": None if found is None else round(found.nodes.f1, 4),
        "edge_f1": None if found is None else round(found.edges.f1, 4),
        "part": draft.part, "difficulty": draft.difficulty, "wanted": draft.wanted, "goal": draft.goal,
        "intent": draft.intent, "dropped": draft.dropped, "by": draft.by, "tokens": draft.tokens,
    }  # fmt: skip


def from_json(row: Mapping[str, Any]) -> Draft:
    """The draft of such a row. KeyError, TypeError or ValueError where it holds none."""
    if row["difficulty"] not in DIFFICULTIES:
        raise ValueError(f"there is no difficulty {row['difficulty']!r}")
    tools = tuple(tool_from_row(t) for t in row["tools"])
    texts = {key: str(row[key]) for key in ("goal", "query", "intent", "dropped", "by")}
    return Draft(
        str(row["id"]), str(row["part"]), row["difficulty"], tools, int(row["wanted"]),
        workflow=_parse_plan(row["workflow"], tools), plan=_parse_plan(row["plan"], tools),
        tokens=int(row["tokens"]), **texts,
    )  # fmt: skip


def _serialize_plan(plan: Plan | None, tools: Sequence[Tool]) -> str:
    return "" if plan is None else write_arrows(plan, tools)


def _parse_plan(text: str, tools: Sequence[Tool]) -> Plan | None:
    if not text:
        return None
    plan = read_arrows(text, tools)
    if not isinstance(plan, Plan):
        raise ValueError(plan.message)
    return plan
