"""Finds the assertions of a statement that contain no number: yes or no, the state of a thing, two
related names.
"""

from __future__ import annotations

from functools import lru_cache

from callwright.grounding.claims import Claims
from callwright.grounding.facts import Facts, Leaf
from callwright.grounding.grounding_result import GroundingResult, describe_leaf
from callwright.grounding.lexicon import OPPOSITES
from callwright.grounding.words import stem_word
from callwright.language import ENGLISH
from callwright.language.tokens import key_tokens, split_tokens


def check_truths(
    claims: Claims, facts: Facts, verdict: GroundingResult, leaves: list[Leaf]
) -> None:
    """Yes and no: a statement must not deny what a result affirms, nor affirm what it denies."""
    if not facts.switches or _MANY.search(claims.text):
        return
    for clause in claims.clauses:
        words = frozenset(stem_word(w) for w in split_tokens(claims.text[slice(*clause.span)]))
        mentions = [m for m in claims.mentions if clause.span[0] <= m.span[0] < clause.span[1]]
        for key, switches in facts.switches.items():
            said, against = _switch_words(key), _opposite_words(key)
            is_turned = bool(against) and against <= words
            if not said or not (said <= words or is_turned):
                continue
            meant = [s for s in switches if any(m.labels & s.labels for m in mentions)]
            meant = meant or (switches if len(switches) == 1 and not mentions else [])
            if len(meant) == 1:
                leaves.append(meant[0])
                denied = clause.negated or bool(_FALSE.match(claims.text, clause.span[1]))
                denied = denied is not is_turned
                if meant[0].value is denied:
                    verdict.problems.append(
                        f"{describe_leaf(meant[0])} is {str(meant[0].value).lower()}"
                    )


_FALSE = ENGLISH.pattern("statements.false")
_MANY = ENGLISH.pattern("statements.many")


_PLAIN = ENGLISH.words("statements.switch_words")


@lru_cache(maxsize=4096)
def _switch_words(key: str) -> frozenset[str]:
    return frozenset(stem_word(w) for w in key_tokens(key) if w not in _PLAIN)


@lru_cache(maxsize=4096)
def _opposite_words(key: str) -> frozenset[str]:
    """The words by which a switch is denied: "off" for ``on``."""
    words = key_tokens(key)
    return frozenset(stem_word(OPPOSITES[w]) for w in words if len(words) == 1 and w in OPPOSITES)


def check_states(claims: Claims, facts: Facts, verdict: GroundingResult) -> None:
    """ "It is down" where the only state that stands in the results is "up"."""
    for m in _STATE.finditer(claims.text):
        word = m[1].lower()
        against = OPPOSITES[word]
        if word not in facts.vocabulary and against in facts.texts_by_value:
            verdict.problems.append(
                f"{describe_leaf(facts.texts_by_value[against][0])} is {against}"
            )


_STATE = ENGLISH.pattern("statements.state")


def check_name_pairs(claims: Claims, facts: Facts, verdict: GroundingResult) -> None:
    """Two names of one clause must stand in one record, where such records exist: "Almar is in
    Bergen".
    """
    for clause in claims.clauses:
        inside = [m for m in claims.mentions if clause.span[0] <= m.span[0] < clause.span[1]]
        if len(inside) != 2 or any(label[0] in "@#" for m in inside for label in m.labels):
            continue
        one, two = inside
        kinds = facts.kinds(one.labels), facts.kinds(two.labels)
        if kinds[0] & kinds[1] or not kinds[0] or not kinds[1] or "text" in kinds[0] | kinds[1]:
            continue
        homes = [leaf for leaf in facts.leaves[:4000] if leaf.labels & one.labels]
        if not homes or any(leaf.labels & two.labels for leaf in homes):
            continue
        others = {
            x for leaf in homes for x in leaf.labels if facts.kinds(frozenset((x,))) & kinds[1]
        }
        if len(others) == 1:
            stated = claims.text[slice(*two.span)]
            verdict.problems.append(
                f"{stated} does not stand with {claims.text[slice(*one.span)]};"
                f" {next(iter(others))} does"
            )
