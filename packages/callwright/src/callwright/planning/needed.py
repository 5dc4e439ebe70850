"""Numbers that speak for or against "the request needs this tool", for every tool offered.

As in :mod:`callwright.planning.features`, all are relative to the query and the tools at hand, none
names a domain, and none depends on the order in which the tools are listed. :data:`NAMES` gives
their meaning; the shipped trees are bound to them by :data:`DIGEST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from callwright.dataflow.flow import GENERIC, STAGES, STOP, Profile, content_words, get_profile
from callwright.nouns.types import Tool, compute_digest
from callwright.planning.features import NAMES as PAIRS
from callwright.planning.features import TOOL
from callwright.planning.query import QueryView

Array = np.ndarray[Any, Any]

SPOKEN = (
    "name",  # share of the words of its name that the query speaks
    "telling",  # ... of those that say what it is about
    "rare",  # ... weighed by how few of the tools offered share them
    "about",  # share of its description that the query speaks
    "inputs",  # share of the words of its inputs
    "cover",  # share of its telling weight in the part of the query that asks for it
    "explains",  # share of the query's words that its name or description has
    "alone",  # ... and no other tool's name or description
    "best",  # ... and none has in fewer words: the query's words for which it is the best explanation
    "first",  # where its telling words begin in the query
)
_RANKED = ("telling", "rare", "about", "cover", "explains", "alone", "best")
WHOLE = (
    "tools",  # how many are offered
    "clauses",
    "values",
    "asked",  # how many are spoken of by more than half of their telling words
    "same_subject",  # share of the others that are about the very same words
    "stage",
    "plain",  # takes no required input
)
FED = (
    "feeds",  # best required link into another tool
    "feeds_asked",  # ... times what the query speaks of that tool
    "fed",  # best link into its own required inputs
    "fed_asked",
    "only_feeder",  # best margin over the other producers of the same tool
)
CHANCED = (
    "gives",  # best chance that another tool needs what it returns
    "gives_asked",  # ... times what the query speaks of that tool
    "takes",  # best chance that it needs what another returns
    "takes_asked",
    "sum_gives",
    "sum_takes",
)
_TOOLED = tuple(f"a_{n}" for n in TOOL)
NAMES = (
    *SPOKEN,
    *(f"rank_{n}" for n in _RANKED),
    *(f"margin_{n}" for n in _RANKED),
    *WHOLE,
    *FED,
    *CHANCED,
    *TOOL,
)
DIGEST = compute_digest(list(NAMES))


def needed_features(query: str, tools: Sequence[Tool], pairs: Array, odds: Array) -> Array:
    """Features of every tool: float32 of shape (N, F).

    ``pairs`` are the pairs' own features (N, N, …), ``odds`` the edge model's log-odds of them (N,
    N).
    """
    count = len(tools)
    if not count:
        return np.zeros((0, len(NAMES)), np.float32)
    profiles = [get_profile(t) for t in tools]
    view = QueryView(query, profiles)
    spoken = _compute_spoken(query, view, profiles)
    chosen = spoken[:, [SPOKEN.index(n) for n in _RANKED]]
    rows = (
        spoken,
        _rank_columns(chosen),
        chosen - _find_rivals(chosen),
        _compute_whole(view, profiles, spoken),
        _compute_fed(pairs[:, :, PAIRS.index("flow_required")].astype(float), spoken),
        _compute_chances(odds, spoken),
        _select_tool_columns(pairs),
    )
    found: Array = np.concatenate(rows, axis=1).astype(np.float32)
    return found


def _compute_spoken(query: str, view: QueryView, profiles: Sequence[Profile]) -> Array:
    asked = sorted({w for w in content_words(query) if w not in GENERIC})
    known = [p.called | p.about for p in profiles]
    owners = {w: [k for k, own in enumerate(known) if w in own] for w in asked}
    shortest = {
        w: min(held, key=lambda k: (len(known[k]), profiles[k].name))
        for w, held in owners.items()
        if held
    }
    rows = []
    for k, (p, part) in enumerate(zip(profiles, view.parts, strict=True)):
        telling = p.subject - GENERIC
        weight = {w: view.rarity.get(w, 1.0) for w in p.called}
        said = {w for w in p.called | p.about if view.where(w)}
        inputs = {w for f in p.inputs for w in f.name if w not in STOP}
        own = [w for w in asked if k in owners[w]]
        rows.append(
            (
                _compute_share(p.called, said),
                _compute_share(telling or p.called, said),
                sum(v for w, v in weight.items() if w in said) / max(1e-6, sum(weight.values())),
                _compute_share(p.about - GENERIC, said),
                sum(bool(view.where(w)) for w in inputs) / max(1, len(inputs)),
                part.cover,
                len(own) / max(1, len(asked)),
                sum(len(owners[w]) == 1 for w in own) / max(1, len(asked)),
                sum(shortest[w] == k for w in own) / max(1, len(asked)),
                part.first,
            )
        )
    return np.array(rows, dtype=float)


def _compute_share(wanted: frozenset[str], said: set[str]) -> float:
    return len(wanted & said) / len(wanted) if wanted else 0.0


def _rank_columns(values: Array) -> Array:
    """Per column: the share of the other rows that are larger, ties counted half."""
    larger = (values[None] > values[:, None]).sum(1) + 0.5 * (
        (values[None] == values[:, None]).sum(1) - 1
    )
    made: Array = larger / max(1, len(values) - 1)
    return made


def _find_rivals(values: Array) -> Array:
    """Per column: the largest value of another row; 0 where there is none."""
    if len(values) < 2:
        return np.zeros_like(values)
    order = np.sort(values, axis=0)
    made: Array = np.where(values == order[-1], order[-2], order[-1])
    return made


def _compute_whole(view: QueryView, profiles: Sequence[Profile], spoken: Array) -> Array:
    count = len(profiles)
    subjects = [p.subject for p in profiles]
    return np.array(
        [
            (
                min(count, 20),
                len(view.breaks),
                min(len(view.values), 8),
                (spoken[:, SPOKEN.index("cover")] > 0.5).sum(),
                (sum(s == p.subject for s in subjects) - 1) / max(1, count - 1),
                STAGES.get(p.verb, 2.5),
                float(not any(f.required for f in p.inputs)),
            )
            for p in profiles
        ],
        dtype=float,
    )


def _compute_fed(link: Array, spoken: Array) -> Array:
    count = len(link)
    if count < 2:
        return np.zeros((count, len(FED)))
    asked = spoken[:, SPOKEN.index("cover")]
    lone = link - np.stack([_find_rivals(link[:, [j]])[:, 0] for j in range(count)], axis=1)
    return np.stack(
        [
            link.max(1),
            (link * asked[None]).max(1),
            link.max(0),
            (link * asked[:, None]).max(0),
            lone.max(1),
        ],
        axis=1,
    )


def _compute_chances(odds: Array, spoken: Array) -> Array:
    count = len(odds)
    if count < 2:
        return np.zeros((count, len(CHANCED)))
    with np.errstate(over="ignore"):
        chance = 1.0 / (1.0 + np.exp(-odds))
    asked = spoken[:, SPOKEN.index("cover")]
    return np.stack(
        [
            chance.max(1),
            (chance * asked[None]).max(1),
            chance.max(0),
            (chance * asked[:, None]).max(0),
            chance.sum(1),
            chance.sum(0),
        ],
        axis=1,
    )


def _select_tool_columns(pairs: Array) -> Array:
    count = len(pairs)
    if count < 2:
        return np.zeros((count, len(TOOL)))
    columns = [PAIRS.index(n) for n in _TOOLED]
    return np.stack([pairs[i, (i + 1) % count, columns] for i in range(count)])
