"""Evaluate without a model: all evidence together becomes one order."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.trials.result import Ranked

SCORES_ALIKE = 4  # decimals to which two scores of the retriever are one: then the faster tool comes first


def standing_class(one: Ranked) -> int:
    """0 a real success, 1 a simulated one, 2 untested, or tested and nothing proved, 3 failed."""
    if one.outcome is None:
        return 2
    if one.outcome != "functional_success":
        return 3
    return 1 if one.simulated else 0


def ranked(candidates: Sequence[Ranked], preferred: Sequence[str] = (), *, by_proof: bool = True) -> list[str]:
    """The names in their final order: by class, within it as the retriever scored them, the faster of equals first.
    ``by_proof`` false: there are but two classes, those that failed and all others.

    ``preferred`` is an order that counts instead of the retriever's within a class (a model's). No order lifts a tool
    out of its class: what a tool's output says can make nobody take a made-up success for a real one.
    """
    place = {name: i for i, name in enumerate(preferred)}
    level = _levels(candidates)

    def key(one: Ranked) -> tuple[float, ...]:
        slowness = one.seconds if one.seconds is not None and standing_class(one) == 0 else float("inf")
        class_ = standing_class(one) if by_proof else int(one.failed)
        return (class_, place.get(one.name, len(place)), level[one.name], slowness, one.initial)

    return [one.name for one in sorted(candidates, key=key)]


def _levels(candidates: Sequence[Ranked]) -> dict[str, int]:
    """The retriever's rank of each, the same for neighbours that it scored alike. Scores of 0 say nothing."""
    made: dict[str, int] = {}
    before: Ranked | None = None
    for one in sorted(candidates, key=lambda c: c.initial):
        alike = before is not None and one.score > 0 and round(one.score - before.score, SCORES_ALIKE) == 0
        made[one.name] = made[before.name] if before is not None and alike else len(made)
        before = one
    return made
