"""Judgements and content words: does anything known say them, or do the numbers bear them out?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from callwright.grounding.binding import key_concepts
from callwright.grounding.claims import Claims, content_words
from callwright.grounding.facts import Facts, Figure, Leaf
from callwright.grounding.grounding_result import NOBODY_SAYS, GroundingResult
from callwright.grounding.lexicon import EXTREMES, JUDGEMENT, LIMITATION, REST
from callwright.grounding.quantity import Moment, moment_order
from callwright.grounding.units import UNITS
from callwright.grounding.words import concepts, stem
from callwright.language.tokens import tokens
from callwright.nouns.thresholds import threshold

_UNKNOWN = threshold("callwright.grounding", "unknown_words")


def wording(claims: Claims, facts: Facts, verdict: GroundingResult, leaves: Sequence[Leaf]) -> None:
    """Judgements and content words that nothing known contains."""
    carried, unknown = content_words(claims, facts)
    judged = [w for w in tokens(claims.text) if w in JUDGEMENT and not _word_known(w, facts)]
    judged = [w for w in judged if not _borne_out(w, claims, verdict, leaves, facts)]
    unknown = [w for w in unknown if w not in EXTREMES or not _measured(w, claims, leaves, facts)]
    hard = claims.numbers or claims.moments
    together = _together(claims, leaves)
    if judged and not LIMITATION.search(claims.text):
        verdict.problems.append(NOBODY_SAYS + ", ".join(dict.fromkeys(judged)))
        return
    if hard or not carried or LIMITATION.search(claims.text):
        return
    if len(unknown) > together and len(unknown) / len(carried) > _UNKNOWN:
        verdict.problems.append(NOBODY_SAYS + ", ".join(dict.fromkeys(unknown)))


def _together(claims: Claims, leaves: Sequence[Leaf]) -> int:
    """How many unknown words are forgiven: one where two names of the same record are joined
    ("based in").
    """
    named = [m.labels for m in claims.mentions]
    return (
        1
        if any(a and b and not a & b for i, a in enumerate(named) for b in named[i + 1 :]) or leaves
        else 0
    )


def _borne_out(
    word: str, claims: Claims, verdict: GroundingResult, leaves: Sequence[Leaf], facts: Facts
) -> bool:
    """A comparison that the numbers bear out: the cheapest is the lowest of its column; a
    difference was computed.
    """
    if verdict.derived and REST.search(word):
        return True  # "12.8 GB free", computed
    if word not in EXTREMES:
        return False
    if verdict.derived and not word.endswith("est"):
        return True
    if _measured(word, claims, leaves, facts):
        return True
    meant = _meant(claims, leaves, facts)
    return not any(_measures(word, leaf) for leaf in meant) and any(
        _extreme(x, EXTREMES[word], facts) for x in meant
    )


def _measured(word: str, claims: Claims, leaves: Sequence[Leaf], facts: Facts) -> bool:
    """Whether a field that the word compares stands at that end of its column."""
    fields = [leaf for leaf in _meant(claims, leaves, facts) if _measures(word, leaf)]
    return any(_extreme(leaf, _ends(word, leaf), facts) for leaf in fields)


def _meant(claims: Claims, leaves: Sequence[Leaf], facts: Facts) -> Sequence[Leaf]:
    """The values that the sentence tells, else those of the records it names."""
    named = (
        f.leaf
        for f in facts.figures[:4000]
        if any(m.labels & f.leaf.labels for m in claims.mentions)
    )
    return leaves or list(itertools.islice(named, 40))


def _measures(word: str, leaf: Leaf) -> bool:
    """Whether the field is what the word compares: "cheapest" a price, "fastest" a speed or a
    time.
    """
    meant = concepts(word)
    return bool(meant & key_concepts(leaf.key)) or ("=speed" in meant and _lasting(leaf))


def _lasting(leaf: Leaf) -> bool:
    return bool(leaf.unit) and UNITS[leaf.unit].dimension == "time"


def _ends(word: str, leaf: Leaf) -> str:
    """At which end of its column the value must stand; the fastest takes the least time."""
    ends = EXTREMES[word]
    if ends in ("min", "max") and concepts(word) & {"=speed"} and _lasting(leaf):
        return "min" if ends == "max" else "max"
    return ends


def _extreme(leaf: Leaf, ends: str, facts: Facts) -> bool:
    """Whether a leaf's value is the lowest or highest of its column: of its own result's, else of
    all.
    """
    column = [f for f in facts.keys.get(leaf.key, ()) if f.leaf.result == leaf.result]
    column = column if len({f.leaf.path for f in column}) > 1 else facts.keys.get(leaf.key, [])
    values = [(_order(f), f.leaf is leaf) for f in column]
    own = [v for v, mine in values if mine]
    if not own or len(values) < 2:
        return False
    every = [v for v, _ in values]
    return ("max" in ends and own[0] == max(every)) or ("min" in ends and own[0] == min(every))


def _order(figure: Figure) -> float:
    return (
        figure.number.value
        if figure.number is not None
        else moment_order(figure.moment or Moment((0, 0)))
    )


def _word_known(word: str, facts: Facts) -> bool:
    if word in facts.vocabulary:
        return True
    if word in EXTREMES and word.endswith("est"):
        return False  # that prices are told does not make any of them the lowest
    return stem(word) in facts.vocabulary or facts.knows(word)
