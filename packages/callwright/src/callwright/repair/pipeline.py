"""The one pipeline: rules are run by cost, and a call is checked again after every change.

A configuration is a list of rules and a context, which holds the check and what rules may know.
:meth:`Gate.check <callwright.repair.gate.Gate.check>` has the lossless rules and the schema;
:func:`refine <callwright.repair.refinement.refine>` has those of the conversation and the sequence
too; the proxy and a run add a question to a model. Nothing here does I/O: where a rule asks, the
generator yields the question.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from operator import attrgetter
from typing import TypeVar

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.repair.draft import Drafts
from callwright.repair.rule import C, Rule, select_drafts

T = TypeVar("T")


def order_rules(rules: Iterable[Rule[C]]) -> tuple[Rule[C], ...]:
    """The rules of a configuration by cost. Two rules of one cost keep their order."""
    return tuple(sorted(rules, key=attrgetter("cost")))


def run_rules(
    rules: Iterable[Rule[C]], drafts: Drafts, context: C
) -> Generator[ChatRequest, Reply, None]:
    """Let each rule that has what it needs change the drafts, in the order given."""
    has = context.has
    idle: bool | None = None  # whether there is no draft that rules for open ones look at
    for rule in rules:
        if rule.when != "always":
            if idle is None:
                idle = not select_drafts(drafts, context, "open")
            if idle or (rule.when == "wrong" and drafts.are_right):
                continue
        if rule.needs <= has:
            change = None
            if rule.find is not None:
                change = rule.find(drafts, context)
            elif rule.apply is not None:
                change = yield from rule.apply(drafts, context)
            if change is not None:
                drafts.take_turn(rule.turn)
                drafts.apply(change)


def run_without_questions(steps: Generator[ChatRequest, Reply, T]) -> T:
    """Return the value of a generator that asks nobody. Raises RuntimeError where it does ask."""
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("a rule of a configuration without a model asked one")
