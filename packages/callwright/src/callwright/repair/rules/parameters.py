"""Unknown keys and the parameters they stand for, all at once: the assignment with the greatest
total likeness.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import JaroWinkler

from callwright.dataflow.flow import STOP, split_words
from callwright.language import ENGLISH
from callwright.language.tokens import squash_name
from callwright.nouns.thresholds import threshold, threshold_group
from callwright.nouns.types import Json, JsonObject
from callwright.nouns.wire_names import EditRules
from callwright.repair.rules.assignment import assign_pairs
from callwright.schema.coerce import coerce_at
from callwright.schema.compiled import Node

RULE = EditRules.ASSIGN_KEY
LEAST = threshold("callwright.repair", "parameters.least")
LEAD = threshold("callwright.repair", "parameters.lead")
# likeness that does where one unknown key is left and one required parameter is missing
ALONE = threshold("callwright.repair", "parameters.alone")
TAIL = threshold("callwright.repair", "parameters_tail.confidence")
_CONFIDENCE = threshold_group("callwright.repair", "parameter_confidence")
_LIKENESS = threshold_group("callwright.repair", "parameter_likeness")
_WEAK = ENGLISH.words("keys.weak")
_OPPOSED = tuple(frozenset(row.split("/")) for row in ENGLISH.listed("keys.opposed"))
_ALIKE = tuple(frozenset(row.split()) for row in ENGLISH.listed("keys.alike"))


@dataclass(frozen=True, slots=True)
class Pair:
    """An unknown key and the parameter it is taken for."""

    given: str
    wanted: str
    confidence: float


def pair_keys(arguments: JsonObject, node: Node) -> tuple[list[Pair], list[Pair]]:
    """(sure pairs, likely ones that were not sure enough). Only parameters that the call lacks are
    candidates.
    """
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return [], []
    unknown = [k for k in arguments if k not in properties]
    missing = [k for k in properties if k not in arguments]
    if not unknown or not missing:
        return [], []
    required = set(node.get("required") or ())
    table = [
        [_score_pair(k, arguments[k], m, node, m in required) for m in missing] for k in unknown
    ]
    sure: list[Pair] = []
    unsure: list[Pair] = []
    for i, j in assign_pairs(table):
        rivals = [table[i][x] for x in range(len(missing)) if x != j] + [
            row[j] for n, row in enumerate(table) if n != i
        ]
        lead = table[i][j] - max(rivals, default=0.0)
        alone = (
            len(unknown) == 1
            and missing[j] in required
            and sum(m in required for m in missing) == 1
        )
        good = (table[i][j] >= LEAST and lead >= LEAD) or (alone and table[i][j] >= ALONE)
        confidence = _compute_confidence(table[i][j], lead)
        if alone and good:
            confidence = max(confidence, _CONFIDENCE["alone"])
        elif table[i][j] > 0 and _only_end(unknown[i], missing[j], properties):
            good, confidence = True, max(confidence, TAIL)
        (sure if good else unsure).append(Pair(unknown[i], missing[j], confidence))
    return sure, [p for p in unsure if p.confidence >= _CONFIDENCE["named"]]


def _compute_confidence(score: float, lead: float) -> float:
    """The confidence of a pair, by its likeness and the lead over any other partner of either."""
    led = _CONFIDENCE["of_lead"] * min(lead, _CONFIDENCE["most_lead"])
    sure = _CONFIDENCE["start"] + _CONFIDENCE["of_score"] * score + led
    return round(min(_CONFIDENCE["most"], sure), 3)


def _only_end(given: str, wanted: str, properties: Iterable[str]) -> bool:
    """Return True if a key is the last words of one parameter's name and of no other's: "by" for
    ``directed_by``.
    """
    end = split_words(given)
    ending = [k for k in properties if end and split_words(k)[-len(end) :] == end]
    return ending == [wanted]


def _score_pair(key: str, value: Json, wanted: str, node: Node, required: bool) -> float:
    """Likeness of a key and a parameter, 0..1; 0 where the value does not fit or the names are
    opposed.
    """
    child = node.property(wanted)
    if child is None:
        return 0.0
    child = child.resolved()
    if not child.accepts(coerce_at(value, child)):
        return 0.0
    about = child.get("description")
    alike = name_likeness(key, wanted, about if isinstance(about, str) else "")
    if (
        alike <= 0
        and split_words(key)
        and split_words(wanted)[-len(split_words(key)) :] == split_words(key)
    ):
        alike = _LIKENESS["end"]
    if alike <= 0:
        return 0.0
    exact = _LIKENESS["fits"] if child.accepts(value) else 0.0
    options = _LIKENESS["options"] if isinstance(child.get("enum"), list) else 0.0
    must = _LIKENESS["required"] if required else 0.0
    return min(1.0, _LIKENESS["name"] * alike + exact + options + must)


def name_likeness(given: str, wanted: str, about: str = "") -> float:
    """Return the similarity of two keys by words, synonyms, letters and the parameter's
    description; 0 for opposites.
    """
    a, b = split_words(given), split_words(wanted)
    if _is_opposed(a, b):
        return 0.0
    if squash_name(given) == squash_name(wanted):
        return 1.0
    shared = _count_shared_words(a, b)
    letters = JaroWinkler.similarity(squash_name(given), squash_name(wanted))
    from_here = _LIKENESS["letters_from"]
    spelled = max(0.0, (letters - from_here) / (1.0 - from_here)) * _LIKENESS["letters"]
    described = [w for w in a if w not in STOP and w not in _WEAK]
    told = sum(w in split_words(about) for w in described) / len(described) if described else 0.0
    contained = squash_name(given) in squash_name(wanted) or squash_name(wanted) in squash_name(
        given
    )
    is_long = min(len(given), len(wanted)) >= 3
    bonus = _LIKENESS["contained"] if contained and is_long else 0.0
    return min(1.0, max(shared, spelled, bonus) + _LIKENESS["described"] * told)


def _count_shared_words(a: Sequence[str], b: Sequence[str]) -> float:
    """Words in common; synonyms and weak words count less."""
    total = 0.0
    left = list(b)
    for w in a:
        hit = next((x for x in left if x == w), None)
        worth = _LIKENESS["weak_word"] if w in _WEAK else 1.0
        if hit is None:
            hit = next((x for x in left if any(w in row and x in row for row in _ALIKE)), None)
            worth *= _LIKENESS["synonym"]
        if hit is not None:
            left.remove(hit)
            total += worth
    return total / max(len(a), len(b), 1)


def _is_opposed(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return True if one name has a word and the other that word's opposite, or if the numbers in
    them differ.
    """
    if [w for w in a if w.isdigit()] != [w for w in b if w.isdigit()]:
        return True
    one, other = set(a), set(b)
    return any(
        len(pair & one) == 1 and len(pair & other) == 1 and not pair & one & other
        for pair in _OPPOSED
    )
