"""Assigns every example to a fold by one rule, which all trainings and benchmarks share.

Examples of one source that call the same set of tools are always in the same fold, so no tool
combination is on both sides of a split. The rule is a hash, so nothing has to be stored: fold =
sha256(seed, combination) mod 5. The source is not part of the hash: a combination that two sources
share is in the same fold in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from callwright_lab.datasets.examples import PlanExample

FOLDS = 5
SEED = "callwright-folds-1"  # changing it changes every split: never do


def get_fold(example: PlanExample) -> int:
    """The fold 0..4 of an example."""
    return hash_fold(example.combination)


def hash_fold(combination: str) -> int:
    """The fold 0..4 of a set of tools, written as :attr:`PlanExample.combination` writes it."""
    value = hashlib.sha256(f"{SEED}\0{combination}".encode()).digest()
    return int.from_bytes(value[:8], "big") % FOLDS


@dataclass(frozen=True, slots=True)
class Split:
    """One split of the examples into training, validation and test sets."""

    name: str
    train: tuple[PlanExample, ...]
    validation: tuple[PlanExample, ...]
    test: tuple[PlanExample, ...]


def iter_folds(examples: Iterable[PlanExample]) -> Iterator[Split]:
    """Five splits: fold k is measured on, fold k+1 chosen on, the rest learned from."""
    by_fold: list[list[PlanExample]] = [[] for _ in range(FOLDS)]
    for example in examples:
        by_fold[get_fold(example)].append(example)
    for k in range(FOLDS):
        after = (k + 1) % FOLDS
        train = [e for i, part in enumerate(by_fold) if i not in (k, after) for e in part]
        yield Split(f"fold {k}", tuple(train), tuple(by_fold[after]), tuple(by_fold[k]))


def leave_one_source_out(examples: Iterable[PlanExample]) -> Iterator[Split]:
    """One split per source: all of it is measured on, fold 0 of the others chosen on, the rest
    learned from.

    Examples of the other sources that call a combination of the source left out are dropped.
    """
    every = tuple(examples)
    for source in sorted({e.source for e in every}):
        test = tuple(e for e in every if e.source == source)
        seen = {e.combination for e in test}
        others = [e for e in every if e.source != source and e.combination not in seen]
        validation = tuple(e for e in others if get_fold(e) == 0)
        yield Split(f"without {source}", tuple(e for e in others if get_fold(e)), validation, test)
