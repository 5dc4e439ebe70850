"""Scores how likely a model's change of right calls is to harm them.

The score is a logistic regression over few features, none of which lowers it: it is monotone, and a
person can read from it why a change was refused. Its weights are data (:class:`HarmScore`). They
are fitted, and their cut is chosen, by ``callwright train harm-bound``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from callwright.nouns.types import Json, iter_scalars
from callwright.repair.by_model.guard import Objection, Upstream, find_right_calls
from callwright.repair.draft import LocatedEdit
from callwright.repair.gate import Gate
from callwright.repair.location import NAME, REPLY
from callwright.repair.provenance.grounding import classify_value
from callwright.repair.provenance.sources import ProvenanceIndex

PLAIN = (
    "lost", "ungrounded", "sound", "added", "dropped", "renamed", "moved", "keys_added",
    "keys_dropped", "values_changed", "held_replaced", "writes",
)  # fmt: skip
"""Right calls gone or changed; values from nowhere; 1 if every call was right before; calls added,
dropped, renamed; 1 if their order changed; arguments added, dropped, changed; values of the
conversation that gave way; changed calls whose tool may write. Counts end at :data:`MOST`.
"""
LIKELIHOOD = ("surprise", "hesitation")
"""Minus the mean log-probability of the answer's tokens, and minus that of the least likely one:
where a model departs from what it was shown, its doubt stands in one token.
"""
FEATURES = (*PLAIN, *LIKELIHOOD)
MOST = 3
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class HarmScore:
    """``1 / (1 + exp(-(intercept + sum of weight times feature)))``. No weight is negative.

    Raises ValueError for a negative weight and for one of an unknown feature.
    """

    intercept: float
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        wrong = [k for k, w in self.weights.items() if k not in FEATURES or not w >= 0]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no feature with a weight of at least 0")

    def rate(self, features: Features) -> float:
        """Return the score of a change, 0 to 1: the higher, the likelier it harms."""
        total = self.intercept + sum(self.explain(features).values())
        return 1 / (1 + exp(-total)) if total > -700 else 0.0

    def explain(self, features: Features) -> dict[str, float]:
        """Return what each feature adds before the logistic function, the largest part first."""
        parts = {k: w * features.get(k, 0.0) for k, w in self.weights.items()}
        ranked = sorted(parts.items(), key=lambda part: -part[1])
        return {name: value for name, value in ranked if value > 0}


def measure_change(
    up: Upstream,
    drafts: Sequence[int],
    edits: Sequence[LocatedEdit],
    objections: Sequence[Objection],
    logprobs: Sequence[float] = (),
) -> dict[str, float]:
    """Return the features of a change.

    ``drafts``: the draft ids of the upstream's calls. ``edits`` list the change. ``logprobs``: those
    of the answer's tokens; without any, the features of likelihood are left out.
    """
    kinds = [one.kind for one in objections]
    found = dict.fromkeys(PLAIN, 0.0)
    found["lost"], found["ungrounded"] = kinds.count("lost"), kinds.count("ungrounded")
    found["sound"] = len(find_right_calls(up, Gate(up.tools))) == len(up.calls) > 0
    for edit in edits:
        found[_name_edit(edit)] += 1
    found["held_replaced"] = _count_held(up, edits)
    found["writes"] = _count_writes(up, drafts, edits)
    features = {name: float(min(value, MOST)) for name, value in found.items()}
    if logprobs:
        features["surprise"] = max(0.0, -sum(logprobs) / len(logprobs))
        features["hesitation"] = max(0.0, -min(logprobs))
    return features


def _name_edit(edit: LocatedEdit) -> str:
    if edit.location.draft == REPLY:
        return "moved"
    if edit.location.pointer == NAME:
        return "renamed"
    is_whole = not edit.location.pointer
    if edit.before is None:
        return "added" if is_whole else "keys_added"
    if edit.after is None:
        return "dropped" if is_whole else "keys_dropped"
    return "values_changed"


def _count_held(up: Upstream, edits: Sequence[LocatedEdit]) -> int:
    """Count the values that the conversation holds and that another value, or none, replaces."""
    if not up.query:
        return 0
    sources = ProvenanceIndex(up.query, [up.system, up.reasoning])
    return sum(
        _is_held(str(edit.location.argument[0]), edit.before, sources)
        for edit in edits
        if edit.location.argument and edit.before is not None
    )


def _is_held(key: str, value: Json, sources: ProvenanceIndex) -> bool:
    scalars = [one for one in iter_scalars(value) if not isinstance(one, bool)]
    return bool(scalars) and all(classify_value(key, one, {}, sources) == "held" for one in scalars)


def _count_writes(up: Upstream, drafts: Sequence[int], edits: Sequence[LocatedEdit]) -> int:
    tools = dict(zip(drafts, (call.tool for call in up.calls), strict=True))
    writing = {tool.name for tool in up.tools if tool.effects.may_write}
    changed: Collection[int] = {edit.location.draft for edit in edits}
    return sum(tools.get(draft) in writing for draft in changed)
