"""Statements that there is none of a kind: "You have no orders" needs a list without entries.

"You have no cancelled orders" may be right over a list of orders. So a list with entries, or a
number above zero, speaks against a statement only where it and the request tell of nothing else. In
English their words are held against the names of fields and the entries. In other languages both
must have one noun, the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from callwright.grounding.claims import Claims
from callwright.grounding.facts import Facts, Leaf, Path
from callwright.grounding.grounding_result import (
    NOBODY_SAYS,
    GroundingResult,
    describe_leaf,
    is_unheard,
)
from callwright.grounding.lexicon import LIMITATION
from callwright.grounding.words import all_concepts, find_concepts
from callwright.language import ENGLISH
from callwright.language.pack import pack
from callwright.language.phrases import WITHOUT_SPACES, find_phrases
from callwright.language.tokens import (
    fold_text,
    has_question_mark,
    holds_unparted,
    key_tokens,
    split_tokens,
)
from callwright.language.vocabulary import Vocabulary

_NONE = "statements.none"
_NEGATED = ENGLISH.pattern("statements.negated")
_COUNTED = frozenset({"count", "total"})  # words of a key that say no more of what it counts
_ALIKE = 4  # letters with which two forms of one noun begin
_MOST = 4_000
_OUTER = 2  # a list in a result, or in a member of it

Words: TypeAlias = frozenset[str]
_Place: TypeAlias = tuple[str, Path]  # a result, and where a list stands in it


class _Kind(NamedTuple):
    """Things of which a result says how many there are. ``names``: words for all of them;
    ``entries``: the words of each, none where there is none.
    """

    leaf: Leaf
    names: Words
    entries: tuple[Words, ...]


def check_absence(
    claims: Claims, facts: Facts, verdict: GroundingResult, leaves: list[Leaf]
) -> None:
    """A statement that denies that there is any must not be about things of which there are some.
    Where the results hold nothing at all, only such a statement answers.
    """
    language = "en" if claims.readable else claims.language
    reader = pack(language)
    denies = reader is not None and bool(reader.says(_NONE, claims.text))
    if reader is None or not (denies or facts.is_void):
        return
    said, asked = (_list_words(text, language) for text in (claims.text, facts.query))
    if not denies:
        if _is_answer(claims.text, said, asked):
            verdict.problems.append(NOBODY_SAYS + ", ".join(sorted(said)))
        return
    kinds = [*_list_kinds(facts), *(_iter_counts(said, asked, facts) if claims.readable else ())]
    spoken = all_concepts(said)
    meant = [kind for kind in kinds if kind.names & spoken] if claims.readable else []
    empty = [kind for kind in meant or kinds if not kind.entries]
    is_void = facts.is_void or (meant != [] and empty == meant)
    if (
        (meant or is_void)
        and claims.readable
        and not claims.numbers
        and all(
            clause.negated or (is_void and reader.says(_NONE, claims.text[slice(*clause.span)]))
            for clause in claims.clauses
        )
    ):  # what no entry of the list speaks of, none of them is
        verdict.problems = [problem for problem in verdict.problems if not is_unheard(problem)]
    if empty:
        leaves.append(empty[0].leaf)
        return
    if claims.numbers or claims.moments or claims.identifiers:
        return
    if claims.readable:
        denied = [kind for kind in meant if _is_all(kind, said | asked)]
    else:
        denied = kinds if len(kinds) == 1 and _is_one_noun(said, asked) else []
    for kind in denied[:1]:
        verdict.problems.append(f"{describe_leaf(kind.leaf)} holds {kind.leaf.value}")


def _is_answer(text: str, said: Words, asked: Words) -> bool:
    """Return True if a statement tells something of what was asked for."""
    is_open = has_question_mark(text) or LIMITATION.search(text) is not None
    return not is_open and any(_is_alike(one, two) for one in said for two in asked)


def _list_words(text: str, language: str) -> Words:
    """The words of a text that say what it is about."""
    vocabulary = Vocabulary(language)
    bare = {fold_text(word) for word in vocabulary.listed("statements.bare")}
    rest = fold_text(vocabulary.pattern(_NONE).sub(" ", text))
    if language in WITHOUT_SPACES:
        for phrase in find_phrases(rest, bare, language):
            rest = rest.replace(phrase, " ")
    return frozenset(split_tokens(rest)) - bare


def _is_one_noun(said: Words, asked: Words) -> bool:
    """Return True if two texts have one noun each, and it is the same in another form at most."""
    return len(said) == len(asked) == 1 and _is_alike(*said, *asked)


def _is_alike(one: str, two: str) -> bool:
    """Return True if a word is a form of the other, or a part of it in a script without blanks."""
    shorter, longer = sorted((one, two), key=len)
    if holds_unparted(shorter):
        return len(shorter) > 1 and shorter in longer
    stem = shorter[: max(_ALIKE, len(shorter) - 1)]
    return one == two or (len(stem) >= _ALIKE and longer.startswith(stem))


def _is_all(kind: _Kind, words: Words) -> bool:
    """Return True if all of these words are of one of the things, apart from those that name it."""
    rest = [word for word in words if not find_concepts(word) & kind.names]
    return any(all(find_concepts(word) & entry for word in rest) for entry in kind.entries)


def _list_kinds(facts: Facts) -> tuple[_Kind, ...]:
    """The outermost lists of the results, found once for all statements."""
    known: tuple[_Kind, ...] | None = facts.computed.get("lists")
    if known is None:
        entries: defaultdict[_Place, defaultdict[int, set[str]]]
        entries = defaultdict(lambda: defaultdict(set))
        for leaf in facts.leaves[:_MOST]:
            for depth, at in enumerate(leaf.path[:_OUTER]):
                if isinstance(at, int):
                    entries[leaf.result, leaf.path[:depth]][at] |= _words_of(leaf)
        known = facts.computed["lists"] = tuple(
            _Kind(leaf, leaf.attributes, tuple(map(frozenset, found.values())))
            for size, leaf in facts.lists
            if len(leaf.path) < _OUTER
            and ((found := entries[leaf.result, leaf.path] if size else {}) or not size)
        )
    return known


def _words_of(leaf: Leaf) -> Words:
    """The words that a value says of its record: the key of one that is true."""
    if leaf.value is True:
        return all_concepts(key_tokens(leaf.key))
    text = str(leaf.part or leaf.value)
    return frozenset() if _NEGATED.search(text) else all_concepts(split_tokens(text))


def _iter_counts(said: Words, asked: Words, facts: Facts) -> Iterator[_Kind]:
    """The whole numbers under a key that the statement names: ``"unread": 3``."""
    spoken = all_concepts(said)
    for leaf in facts.leaves[:_MOST]:
        words = [word for word in key_tokens(leaf.key) if word not in _COUNTED]
        if type(leaf.value) is not int or leaf.unit or not words:
            continue
        if all(find_concepts(word) & spoken for word in words):
            entry = leaf.attributes | all_concepts(said & asked)
            yield _Kind(leaf, all_concepts(words), (entry,) if leaf.value > 0 else ())
