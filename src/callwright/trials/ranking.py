"""Evaluate without a model: all evidence together becomes one order."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.trials.result import Ranked

SCORES_ALIKE = 4  # decimals to which two scores of the retriever are one: then the faster tool comes first


def standing_class(one: Ranked) -> int:
    """0 a real success, 1 a simulated one, 2 untested, or tested and nothing proved, 3 failed.

    A success in which there is nothing of the request proves nothing about it.
    """
    if one.failed:
        return 3
    if one.works:
        return 0 if one.about else 2
    return 1 if one.simulated else 2


def ranked(candidates: Sequence[Ranked], preferred: Sequence[str] = (), *, by_proof: bool = True) -> list[str]:
    """The names in their final order: by class, within it as the retriever scored them, the faster of equals first.
    ``by_proof`` false: there are but two classes, those that failed and all others.

    A place that the retriever gave to one clause of the request stays with that clause: which of two tools for the
    weather works is no reason to put either before the only one for the mail, which could not be tried. What failed
    stands behind all others.

    ``preferred`` is an order that counts instead of the retriever's within a class (a model's). No order lifts a tool
    out of its class: what a tool's output says can make nobody take a made-up success for a real one.
    """
    place = {name: i for i, name in enumerate(preferred)}
    level = _levels(candidates)

    def key(one: Ranked) -> tuple[float, ...]:
        slowness = one.seconds if one.seconds is not None and standing_class(one) == 0 else float("inf")
        class_ = standing_class(one) if by_proof else int(one.failed)
        return (class_, place.get(one.name, len(place)), level[one.name], slowness, one.initial)

    ordered = sorted(candidates, key=key)
    serving = [one for one in ordered if not one.failed]
    left: dict[int, list[str]] = {}
    for one in reversed(serving):
        left.setdefault(one.clause, []).append(one.name)
    kept = [left[one.clause].pop() for one in sorted(serving, key=lambda c: c.initial)]
    return [*kept, *(one.name for one in ordered if one.failed)]


def _levels(candidates: Sequence[Ranked]) -> dict[str, int]:
    """The retriever's rank of each, the same for neighbours that it scored alike. Scores of 0 say nothing."""
    made: dict[str, int] = {}
    before: Ranked | None = None
    for one in sorted(candidates, key=lambda c: c.initial):
        alike = before is not None and one.score > 0 and round(one.score - before.score, SCORES_ALIKE) == 0
        made[one.name] = made[before.name] if before is not None and alike else len(made)
        before = one
    return made
