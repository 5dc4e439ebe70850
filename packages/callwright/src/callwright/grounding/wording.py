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
from callwright.grounding.words import find_concepts, stem_word
from callwright.language.quantities import UNITS
from callwright.language.tokens import split_tokens
from callwright.nouns.thresholds import threshold

_UNKNOWN = threshold("callwright.grounding", "unknown_words")


def check_wording(
    claims: Claims, facts: Facts, verdict: GroundingResult, leaves: Sequence[Leaf]
) -> None:
    """Judgements and content words that nothing known contains."""
    carried, unknown = content_words(claims, facts)
    judged = [
        w
        for w in split_tokens(claims.text)
        if w in JUDGEMENT and not _is_known_word(w, facts, claims.text)
    ]
    judged = [w for w in judged if not _is_borne_out(w, claims, verdict, leaves, facts)]
    unknown = [
        w for w in unknown if w not in EXTREMES or not _is_measured(w, claims, leaves, facts)
    ]
    hard = claims.numbers or claims.moments
    together = _count_forgiven_words(claims, leaves)
    if judged and not LIMITATION.search(claims.text):
        verdict.problems.append(NOBODY_SAYS + ", ".join(dict.fromkeys(judged)))
        return
    if hard or not carried or LIMITATION.search(claims.text):
        return
    if len(unknown) > together and len(unknown) / len(carried) > _UNKNOWN:
        verdict.problems.append(NOBODY_SAYS + ", ".join(dict.fromkeys(unknown)))


def _count_forgiven_words(claims: Claims, leaves: Sequence[Leaf]) -> int:
    """Return the number of unknown words that are allowed: one if the statement joins two names
    ("based in") or has supporting leaves, else none.
    """
    named = [m.labels for m in claims.mentions]
    return (
        1
        if any(a and b and not a & b for i, a in enumerate(named) for b in named[i + 1 :]) or leaves
        else 0
    )


def _is_borne_out(
    word: str, claims: Claims, verdict: GroundingResult, leaves: Sequence[Leaf], facts: Facts
) -> bool:
    """A comparison that the numbers bear out: the cheapest is the lowest of its column; a
    difference was computed.
    """
    if (facts.cut and not leaves) or (verdict.derived and REST.search(word)):
        return True  # of a column that was not read to its end; "12.8 GB free", computed
    if word not in EXTREMES:
        return False
    if verdict.derived and not word.endswith("est"):
        return True
    if _is_measured(word, claims, leaves, facts):
        return True
    meant = _select_leaves(claims, leaves, facts)
    return not any(_is_measured_field(word, leaf) for leaf in meant) and any(
        _is_extreme(x, EXTREMES[word], facts) for x in meant
    )


def _is_measured(word: str, claims: Claims, leaves: Sequence[Leaf], facts: Facts) -> bool:
    """Return True if a field that the word compares holds the extreme value of its column."""
    fields = [
        leaf for leaf in _select_leaves(claims, leaves, facts) if _is_measured_field(word, leaf)
    ]
    return any(_is_extreme(leaf, _choose_column_end(word, leaf), facts) for leaf in fields)


def _select_leaves(claims: Claims, leaves: Sequence[Leaf], facts: Facts) -> Sequence[Leaf]:
    """The values that the sentence tells, else those of the records it names."""
    named = (
        f.leaf
        for f in facts.figures[:4000]
        if any(m.labels & f.leaf.labels for m in claims.mentions)
    )
    return leaves or list(itertools.islice(named, 40))


def _is_measured_field(word: str, leaf: Leaf) -> bool:
    """Return True if the word compares this field: "cheapest" a price, "fastest" a speed or a
    time.
    """
    meant = find_concepts(word)
    return bool(meant & key_concepts(leaf.key)) or ("=speed" in meant and _is_duration(leaf))


def _is_duration(leaf: Leaf) -> bool:
    return bool(leaf.unit) and UNITS[leaf.unit].dimension == "time"


def _choose_column_end(word: str, leaf: Leaf) -> str:
    """At which end of its column the value must stand; the fastest takes the least time."""
    ends = EXTREMES[word]
    if ends in ("min", "max") and find_concepts(word) & {"=speed"} and _is_duration(leaf):
        return "min" if ends == "max" else "max"
    return ends


def _is_extreme(leaf: Leaf, ends: str, facts: Facts) -> bool:
    """Return True if a leaf's value is the lowest or highest of its column: in its own result, else
    in all.
    """
    column = [f for f in facts.keys.get(leaf.key, ()) if f.leaf.result == leaf.result]
    column = column if len({f.leaf.path for f in column}) > 1 else facts.keys.get(leaf.key, [])
    values = [(_get_sort_key(f), f.leaf is leaf) for f in column]
    own = [v for v, mine in values if mine]
    if not own or len(values) < 2:
        return False
    every = [v for v, _ in values]
    return ("max" in ends and own[0] == max(every)) or ("min" in ends and own[0] == min(every))


def _get_sort_key(figure: Figure) -> float:
    return (
        figure.number.value
        if figure.number is not None
        else moment_order(figure.moment or Moment((0, 0)))
    )


def _is_known_word(word: str, facts: Facts, text: str) -> bool:
    # that prices are told does not make any of them the lowest
    is_most = word in EXTREMES and (word.endswith("est") or f"most {word}" in text.lower())
    is_known = not is_most and (stem_word(word) in facts.vocabulary or facts.knows(word))
    return word in facts.vocabulary or is_known
