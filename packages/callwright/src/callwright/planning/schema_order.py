"""The schema-level constraint (RETO, section 3.2, Inference): who needs another tool's output comes
later.

If a tool's required input is provided by another tool's output, it moves to a later layer. Claims
rest on names and descriptions (:mod:`callwright.dataflow.flow`), never on a bare type; claims that
contradict each other in a cycle are broken by dropping the weakest; then tools move until nothing
moves any more, past the last layer if need be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from callwright.dataflow.flow import Link, Profile, get_profile, links_between
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool

# on flow scores: a claim moves a tool against the network's word, so it has to be a sure one
THRESHOLD = threshold("callwright.planning", "claim")


@dataclass(frozen=True, slots=True)
class Claim:
    """``consumer`` requires an input that ``producer`` provides."""

    producer: str
    consumer: str
    score: float
    link: Link

    @property
    def reason(self) -> str:
        return self.link.reason


@dataclass(frozen=True, slots=True)
class Move:
    """A tool that the constraint put into a later layer, and why."""

    tool: str
    before: int
    after: int
    reason: str


def find_claims(tools: Sequence[Tool], threshold: float = THRESHOLD) -> tuple[Claim, ...]:
    """The claims that hold between ``tools``, free of cycles, strongest first.

    For each required input only its best producers count.
    """
    profiles = [get_profile(t) for t in tools]
    found: list[Claim] = []
    for consumer in profiles:
        if any(f.required for f in consumer.inputs):
            found += _claims_on(consumer, profiles, threshold)
    return drop_cycles(sorted(found, key=lambda c: (-c.score, c.producer, c.consumer)))


def _claims_on(consumer: Profile, producers: Sequence[Profile], threshold: float) -> list[Claim]:
    best: dict[str, list[Link]] = {}
    for producer in producers:
        if producer.name == consumer.name:
            continue
        for x in links_between(producer, consumer, required=True):
            if x.score >= threshold:
                best.setdefault(x.input.text, []).append(x)
    strongest: dict[str, Link] = {}
    for found in best.values():
        top = max(x.score for x in found)
        for x in found:
            if x.score >= top - 1e-9 and x.score > getattr(strongest.get(x.producer), "score", 0.0):
                strongest[x.producer] = x
    return [Claim(x.producer, x.consumer, x.score, x) for x in strongest.values()]


def drop_cycles(found: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims in the order given, without those that would close a cycle with earlier ones."""
    after: dict[str, set[str]] = {}  # tool -> everything that comes later than it
    kept: list[Claim] = []
    for claim in found:
        if claim.producer == claim.consumer or claim.producer in after.get(claim.consumer, ()):
            continue
        kept.append(claim)
        later = {claim.consumer} | after.get(claim.consumer, set())
        after.setdefault(claim.producer, set()).update(later)
        for reached in after.values():
            if claim.producer in reached:
                reached |= later
    return tuple(kept)


def constrain_layers(
    layers: Mapping[str, int], found: Sequence[Claim]
) -> tuple[dict[str, int], tuple[Move, ...]]:
    """Layers in which every claim holds, and what moved. ``found`` must be free of cycles, see
    :func:`find_claims`.

    Tools only ever move to later layers, so the result is the least fixed point above ``layers``.
    """
    placed = dict(layers)
    why: dict[str, str] = {}
    moving = True
    while moving:
        moving = False
        for claim in found:
            if placed[claim.consumer] <= placed[claim.producer]:
                placed[claim.consumer] = placed[claim.producer] + 1
                why[claim.consumer] = claim.reason
                moving = True
    moves = tuple(Move(t, layers[t], placed[t], why[t]) for t in layers if placed[t] != layers[t])
    return placed, moves
