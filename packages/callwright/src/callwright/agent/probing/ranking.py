"""Evaluate without a model: all evidence together becomes one order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from callwright.agent.probing.policy import Order
from callwright.agent.probing.result import Ranked

# decimals to which two scores of the retriever are one: then the faster tool comes first
SCORES_ALIKE = 4
_BEHIND = 0.5  # of a place: whoever feeds a tool stands behind it, and before the next


def classify_standing(one: Ranked) -> int:
    """0 a real success, 1 a simulated one, 2 untested, or tested and nothing proved, 3 failed.

    A success in which there is nothing of the request proves nothing about it.
    """
    if one.failed:
        return 3
    if one.works:
        return 0 if one.about else 2
    return 1 if one.simulated else 2


def rank_candidates(
    candidates: Sequence[Ranked],
    preferred: Sequence[str] = (),
    *,
    order: Order = "doubt",
    k: int = 10,
) -> list[str]:
    """The names in their final order: what failed stands behind all others, and these

    - by "proof": by class, and within it as the retriever scored them, the faster of equals first;
    - as "retrieved": as the retriever scored them;
    - by "doubt": by proof in a clause of the request of which a called tool failed or a reply had
      to be made up, and as retrieved in the others: where no description was found wrong, that a
      tool could be called says little against one that could not.

    A tool whose reply a tool that works was called with stands right behind it, unless the
    retriever put it higher. So one a clause may come among the first ``k`` that was not retrieved
    among them: that of the best.

    A place that the retriever gave to one clause of the request stays with that clause: which of
    two tools for the weather works is no reason to put either before the only one for the mail,
    which could not be tried.

    ``preferred`` is an order that counts instead of the retriever's within a class (a model's). No
    order lifts a tool out of its class: what a tool's output says can make nobody take a made-up
    success for a real one. So with such an order "doubt" ranks every clause by proof: the
    retriever's word may stand against a proof, an opinion may not. Nor does an opinion lift an
    untested tool above a real success that stands before it without the opinion, by any ``order``.
    """
    place = {name: i for i, name in enumerate(preferred)}
    level = _compute_levels(candidates, k)
    doubted = frozenset(
        one.clause
        for one in candidates
        if preferred or (one.called and one.failed) or one.simulated
    )

    def key(one: Ranked) -> tuple[float, ...]:
        class_ = (
            classify_standing(one)
            if _is_ranked_by_proof(one, order, doubted)
            else 3 * int(one.failed)
        )
        slowness = (
            one.seconds if one.seconds is not None and classify_standing(one) == 0 else float("inf")
        )
        return (class_, place.get(one.name, len(place)), level[one.name], slowness, one.initial)

    ordered = sorted(candidates, key=key)
    if preferred:
        ordered = _keep_proof_above(ordered, rank_candidates(candidates, order=order, k=k))
    serving = [one for one in ordered if not one.failed]
    left: dict[int, list[str]] = {}
    for one in reversed(serving):
        left.setdefault(one.clause, []).append(one.name)
    kept = [
        left[one.clause].pop() for one in sorted(serving, key=lambda c: (level[c.name], c.initial))
    ]
    return [*kept, *(one.name for one in ordered if one.failed)]


def _keep_proof_above(wanted: Sequence[Ranked], proved: Sequence[str]) -> list[Ranked]:
    """An opinion's order, in which no tool without a real success passes one of its clause that
    stands before it in the order of the evidence.
    """
    place = {name: i for i, name in enumerate(proved)}
    left, made = list(wanted), list[Ranked]()
    while left:
        successes = [(place[one.name], one.clause) for one in left if one.works]
        one = next(
            one
            for one in left
            if one.works
            or not any(at < place[one.name] and of == one.clause for at, of in successes)
        )
        left.remove(one)
        made.append(one)
    return made


def _is_ranked_by_proof(one: Ranked, order: Order, doubted: Iterable[int]) -> bool:
    return order == "proof" or (order == "doubt" and one.clause in doubted)


def _compute_levels(candidates: Sequence[Ranked], k: int) -> dict[str, float]:
    """The retriever's rank of each, the same for neighbours that it scored alike (scores of 0 say
    nothing); of a tool that feeds another the place behind that.
    """
    made: dict[str, float] = {}
    before: Ranked | None = None
    for one in sorted(candidates, key=lambda c: c.initial):
        alike = (
            before is not None
            and one.score > 0
            and round(one.score - before.score, SCORES_ALIKE) == 0
        )
        made[one.name] = made[before.name] if before is not None and alike else len(made)
        before = one
    return made | _place_feeders(candidates, made, k)


def _place_feeders(
    candidates: Sequence[Ranked], level: Mapping[str, float], k: int
) -> dict[str, float]:
    """The places of those that feed: where a clause has several that were not retrieved among the
    first ``k``, its best tool's comes among them.
    """
    serving = [one for one in sorted(candidates, key=lambda c: c.initial) if not one.failed]
    works = [one for one in serving if one.works]
    names, first = {one.name for one in works}, {one.name for one in serving[:k]}
    entered: dict[int, str] = {}
    made: dict[str, float] = {}
    for one in works:
        for name in (n for n in one.fed_by if n in names and level[n] > level[one.name]):
            if (
                name in first
                or one.name not in first
                or entered.setdefault(one.clause, name) == name
            ):
                made.setdefault(name, level[one.name] + _BEHIND)
    return made
