"""Proposals of a refiner for right and for spoiled replies, and their outcomes.

A proposal is a model's reply. Where there is none, it is made without one: right calls spoiled on
purpose, which a refiner would harm so, and the way back, which helps.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.types import (
    CheckedCall,
    Json,
    Reply,
    ToolCall,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.by_model.guard import Upstream, check_chained
from callwright.repair.by_model.harm_score import measure_change
from callwright.repair.by_model.refiner import read_proposal
from callwright.repair.draft import AFTER_CALLS, Drafts
from callwright.repair.gate import Gate
from callwright.repair.ordering.references import find_call_references
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.harm_bound.calibration import Outcome
from callwright_lab.datasets.splits import FOLDS, hash_fold
from callwright_lab.training.refiner.corruption import corrupt
from callwright_lab.training.refiner.corruption_calls import CALL_KINDS
from callwright_lab.training.refiner.matching import canonicalize_value

_TRIES = 8  # kinds of errors, until one fits the calls
FIT_FOLD = FOLDS - 1
_BEGUN = re.compile(r'\s*[\[{][\s\[{]*"')  # JSON, and no template or regular expression


@dataclass(frozen=True, slots=True)
class Seen:
    """One reply as a refiner sees it, and the calls that are right."""

    id: str
    upstream: Upstream
    gold: tuple[ToolCall, ...]


def split_cases(cases: Iterable[GoldCase]) -> tuple[list[GoldCase], list[GoldCase]]:
    """Return the cases to fit on, and those to calibrate on. No tool is on both sides."""
    sides: tuple[list[GoldCase], list[GoldCase]] = [], []
    for case in keep_once(cases):
        sides[hash_fold("\n".join(sorted(list_tools([case])))) != FIT_FOLD].append(case)
    return sides[0], leave_out_tools(sides[1], list_tools(sides[0]))


def keep_once(cases: Iterable[GoldCase]) -> list[GoldCase]:
    """The cases, each request once."""
    return list(
        {to_canonical_json([c.query, [m.content for m in c.messages]]): c for c in cases}.values()
    )


def leave_out_tools(cases: Iterable[GoldCase], names: Collection[str]) -> list[GoldCase]:
    """The cases that call none of these tools."""
    return [case for case in cases if list_tools([case]).isdisjoint(names)]


def list_tools(cases: Iterable[GoldCase]) -> set[str]:
    """The names of the tools that cases call."""
    return {call.tool for case in cases for call in case.calls}


def see_right(case: GoldCase) -> Seen:
    """The case's own calls, as an upstream's."""
    query = "\n".join([*(f"{m.role.upper()}: {m.content}" for m in case.messages), case.query])
    return Seen(case.id, Upstream("", case.calls, case.tools, query), case.calls)


def is_sound(case: GoldCase) -> bool:
    """Return True if the gate accepts the case's calls, and no text in them is JSON that stops in
    the middle. Data sets hold both: no such reply is right.
    """
    gate, refs = Gate(case.tools), find_call_references(case.calls, case.tools, case.query)
    return all(
        isinstance(gate.check(call), CheckedCall)
        or not check_chained(call, [ref for ref in refs if ref.call == n], gate)
        for n, call in enumerate(case.calls)
    ) and not any(map(_is_cut_off, iter_scalars([call.arguments for call in case.calls])))


def _is_cut_off(value: Json) -> bool:
    try:
        return (
            isinstance(value, str) and bool(_BEGUN.match(value)) and parse_lenient(value).truncated
        )
    except JsonError:
        return False


def see_spoiled(case: GoldCase, seed: int = 0) -> Seen | None:
    """The case's calls with one error of a kind drawn; None where none fits."""
    seen = see_right(case)
    calls = spoil_calls(seen, Random(f"spoiled {seed} {case.id}"))
    return None if calls is None else replace(seen, upstream=replace(seen.upstream, calls=calls))


def spoil_calls(seen: Seen, draw: Random) -> tuple[ToolCall, ...] | None:
    """Right calls with one error of a kind drawn; None where none fits."""
    up = seen.upstream
    for kind in draw.sample(sorted(CALL_KINDS), _TRIES):
        made = corrupt(seen.gold, up.tools, kind, draw, query=up.query)
        if made is not None and made.level == "calls" and not _is_same(up, made.calls, seen.gold):
            return made.calls
    return None


def iter_made(cases: Iterable[GoldCase], seed: int = 0) -> Iterator[Outcome]:
    """The outcomes of proposals that are made without a model, two of each case: one that spoils
    right calls, and one that makes spoiled calls right.
    """
    for case in cases:
        right, spoiled = see_right(case), see_spoiled(case, seed)
        if spoiled is not None:
            yield judge_proposal(right, write_reply(spoiled.upstream.calls))
            yield judge_proposal(spoiled, write_reply(right.gold))


def propose_spoiled(seen: Seen, share: float, seed: int = 0) -> Reply:
    """A proposal made without a model: the calls as they are, or with this share spoiled."""
    draw = Random(f"proposal {seed} {seen.id}")
    calls = spoil_calls(seen, draw) if draw.random() < share else None
    return write_reply(calls or seen.upstream.calls)


def write_reply(calls: Sequence[ToolCall]) -> Reply:
    """The calls as a refiner answers them."""
    told = [{"name": c.tool, "arguments": c.arguments, "label": c.id} for c in calls]
    return Reply(f"<func_call>{to_canonical_json(told)}</func_call>")


def judge_proposal(seen: Seen, reply: Reply) -> Outcome:
    """Return what becomes of a reply if the proposal is taken wherever no limit forbids it."""
    up, drafts = seen.upstream, Drafts(seen.upstream.calls, turn=AFTER_CALLS)
    was_right = _is_same(up, up.calls, seen.gold)
    found = read_proposal(drafts, up, reply)
    if found.change is None:
        return Outcome(was_right, was_right)
    edits = found.change.edits
    features = measure_change(up, drafts.order, edits, found.objections, reply.logprobs)
    drafts.apply(found.change)
    return Outcome(was_right, _is_same(up, drafts.calls, seen.gold), features)


def _is_same(up: Upstream, made: Sequence[ToolCall], gold: Sequence[ToolCall]) -> bool:
    """Return True if what is sent is what is sent of the gold calls; the order counts where one
    call uses another.
    """
    gate = Gate(up.tools)
    sides = [[(c.tool, _render_sent(c, gate)) for c in side] for side in (made, gold)]
    if find_call_references(gold, up.tools, up.query):
        return sides[0] == sides[1]
    return sorted(sides[0]) == sorted(sides[1])


def _render_sent(call: ToolCall, gate: Gate) -> str:
    """A call's arguments after the gate's conversions, as the rules make them before a refiner sees
    the call; without optional ones that are null or as their schema has them by default.
    """
    sent = gate.check(call)
    if not isinstance(sent, CheckedCall):
        return canonicalize_value(call.arguments)
    saying = {}
    for key, value in sent.arguments.items():
        schema = sent.tool.properties.get(key)
        default = schema.get("default") if isinstance(schema, dict) else None
        if key in sent.tool.required or canonicalize_value(value) not in map(
            canonicalize_value, (None, default)
        ):
            saying[key] = value
    return canonicalize_value(saying)
