"""Numbers that speak for or against "b needs what a returns", for every ordered pair of tools under
one query.

All of them are relative to the query and the tools at hand (overlaps, ranks, shares), none names a
domain, and none depends on the order in which the tools are listed. :data:`NAMES` gives their
meaning; the shipped trees are bound to them by :data:`DIGEST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from callwright.dataflow.flow import (
    GENERIC,
    STAGES,
    STOP,
    VERBS,
    Field,
    Link,
    Profile,
    get_profile,
    links_between,
    measure_naming,
    parse_word_set,
)
from callwright.nouns.types import Tool, compute_digest
from callwright.planning.query import Given, Part, QueryView

Array = np.ndarray[Any, Any]

PAYLOAD = parse_word_set(
    """text data content message body input value amount title item query keyword description note number list image
    file document subject string source total"""
)
"""Names of inputs that take whatever an earlier tool made."""

_VERBS = tuple(VERBS)
_NO_GIVEN = Given(0.0, 0.0, 0.0, 0, 0.0, 0.0)

FLOW = (
    "flow_required",  # best link into a required input
    "flow_any",  # best link into any input
    "flow_open",  # best of link * (1 - what the query gives) over required inputs
    "flow_sum",  # sum of links >= 0.5
    "flow_share",  # share of required inputs with a link >= 0.5
    "flow_local",  # best of link * (1 - what b's own part of the query gives) over required inputs
    "flow_payload",  # b has an open required input that takes anything (text, data, amount) and a gives its type
    "flow_declared",  # a declares its output
    "flow_id",  # the best-fed input is an identifier
    "flow_out_id",  # the best output is an identifier
    "flow_generic",  # the best-fed input has no telling name
    "flow_depth",  # how deep the best output lies
    "flow_named",  # words of the best-fed input in the query
    "flow_near",  # a fitting value close to them
    "flow_enum",
    "flow_count",  # fitting values in the query
    "flow_strength",
    "flow_given_local",
)
TEXT = (
    "subject_subject",  # overlap of what a and b are about
    "subject_input",  # a's subject in b's input names
    "subject_input_about",  # a's subject in b's input descriptions
    "subject_about",  # a's subject in b's description
    "about_subject",  # b's subject in a's description
    "about_about",
    "output_input",  # words of a's outputs in b's inputs
    "output_about",  # words of a's output descriptions in b's input descriptions
    "output_goal",  # words of a's outputs in b's description
    "told",  # words of a's name in the description of one of b's required inputs
    "told_any",  # ... of any of its inputs
    "told_about",  # words of a's name in b's description
    "tells",  # words of b's name in a's description
    "shared_inputs",  # overlap of input names
    "shared_outputs",
)
SAID = (
    "said_output",  # words of one of a's outputs stand in b's part of the query
    "said_subject",  # what a is about stands in b's part, and is not b's own
    "said_again",  # a's telling words stand again after a's own part
    "part_overlap",  # words that both parts share
    "same_part",
    "done_before",  # b's part speaks of a's action as done: "encrypted", "translated"
)
ASKED = (
    "place_gap",  # b asked for later than a
    "first_gap",
    "clause_gap",
    "cover_a",
    "cover_b",
    "later_b",
    "back_b",
    "later_a",
    "back_a",
    "rank_gap",  # difference of mention ranks, as a share of the tools
    "stage_gap",  # b's verb usually comes later than a's
)
TOOL = (
    "verb",  # which kind of verb, -1 for none
    "required",
    "optional",
    "given_mean",  # how well the query gives its required inputs
    "given_min",
    "open_required",  # required inputs the query hardly gives
    "outputs",
    "ids_wanted",  # required identifiers
    "place_rank",
    "part_values",
    "deficit",  # required inputs minus values in its part of the query
    "found",
    "payload",  # open required inputs that take anything
)
CONTEXT = (
    "in_rank",  # rank of a among b's possible producers, 0 best
    "in_margin",  # a's link minus the best other producer's
    "out_rank",
    "in_max",  # best link into b from anywhere
    "in_count",  # producers of b with a link >= 0.5
    "in_max_a",  # best link into a from anywhere
    "out_max_b",
    "both_ways",  # flow_required minus that of the reverse
    "between",  # best chain a -> c -> b through a third tool
    "clauses",
    "values",  # values per required input over all tools
)
_MIRRORED = (
    *FLOW,
    "told",
    "told_any",
    "tells",
    "done_before",
    "subject_input",
    "subject_about",
    "output_input",
    "output_about",
    *SAID[:3],
)
NAMES = (
    *FLOW,
    *TEXT,
    *SAID,
    *ASKED,
    *(f"a_{n}" for n in TOOL),
    *(f"b_{n}" for n in TOOL),
    *CONTEXT,
    *(f"back_{n}" for n in _MIRRORED),  # the same for b -> a
)
DIGEST = compute_digest(list(NAMES))
_MIRROR = [NAMES.index(n) for n in _MIRRORED]


@dataclass(frozen=True, slots=True, eq=False)
class _Traits:
    """Traits of a tool that are the same for every query."""

    profile: Profile
    telling: frozenset[str]  # what it is about, without general words
    words_in: frozenset[str]
    words_out: frozenset[str]
    about_in: frozenset[str]
    about_out: frozenset[str]
    own: frozenset[str]  # words of its subject and inputs
    input_names: frozenset[str]
    output_names: tuple[frozenset[str], ...]  # words of each declared output
    output_words: frozenset[str]
    gives: frozenset[str]  # types of the outputs that are no identifiers
    required: int


@dataclass(frozen=True, slots=True, eq=False)
class _Tool:
    """One tool under one query."""

    traits: _Traits
    profile: Profile
    part: Part
    given: dict[str, Given]  # by input
    wanted: list[tuple[Field, Given]]  # required inputs
    payloads: list[
        Field
    ]  # required inputs that take anything and that the query does not seem to give


@lru_cache(maxsize=4_096)
def _build_traits(p: Profile) -> _Traits:
    names = {frozenset(w for w in f.name if w not in STOP) for f in p.outputs[:40] if f.declared}
    words_in = frozenset(w for f in p.inputs for w in f.name if w not in GENERIC)
    return _Traits(
        profile=p,
        telling=p.subject - GENERIC,
        words_in=words_in,
        words_out=frozenset(w for f in p.outputs for w in f.name if w not in GENERIC),
        about_in=frozenset(w for f in p.inputs for w in f.about if w not in GENERIC),
        about_out=frozenset(w for f in p.outputs for w in f.about if w not in GENERIC),
        own=p.subject | words_in,
        input_names=frozenset(f.path[-1] for f in p.inputs),
        output_names=tuple(names),
        output_words=frozenset(w for name in names for w in name),
        gives=frozenset(f.type for f in p.outputs if not f.identifies),
        required=sum(f.required for f in p.inputs),
    )


def pair_features(query: str, tools: Sequence[Tool]) -> Array:
    """Features of every ordered pair: float32 of shape (N, N, F); [i, j] speaks of "j needs i". The
    diagonal is 0.

    Rows and columns follow ``tools``; permuting the tools permutes the result and changes nothing
    else.
    """
    profiles = [get_profile(t) for t in tools]
    view = QueryView(query, profiles)
    seen = [_build_tool_view(view, p, part) for p, part in zip(profiles, view.parts, strict=True)]
    count = len(seen)
    made = np.zeros((count, count, len(NAMES)), dtype=np.float32)
    if count < 2:
        return made
    place = _rank_values([t.part.place for t in seen])
    per_tool = [_tool_features(t, place[i]) for i, t in enumerate(seen)]
    values = len(view.values) / max(1, sum(len(t.wanted) for t in seen))
    for i, a in enumerate(seen):
        for j, b in enumerate(seen):
            if i != j:
                asked = _compare_parts(a, b, place[i], place[j], count)
                head = (
                    *_compare_flow(a, b),
                    *_compare_texts(a.profile, b.profile),
                    *_score_mentions(view, a, b),
                    *asked,
                )
                made[i, j, : len(head)] = head
                made[i, j, len(head) : len(head) + 2 * len(TOOL)] = (*per_tool[i], *per_tool[j])
    _fill_context(made, count, len(view.breaks), values)
    made[:, :, -len(_MIRRORED) :] = np.swapaxes(made, 0, 1)[:, :, _MIRROR]
    return made


def _build_tool_view(view: QueryView, p: Profile, part: Part) -> _Tool:
    given = [view.given(f, part) for f in p.inputs]
    wanted = [(f, g) for f, g in zip(p.inputs, given, strict=True) if f.required]
    return _Tool(
        traits=_build_traits(p),
        profile=p,
        part=part,
        given={f.text: g for f, g in zip(p.inputs, given, strict=True)},
        wanted=wanted,
        payloads=[f for f, g in wanted if PAYLOAD.issuperset(f.name) and g.local < 0.5],
    )


@lru_cache(maxsize=16_384)
def _find_links(a: Profile, b: Profile) -> tuple[Link, ...]:
    return tuple(links_between(a, b))


def _compare_flow(a: _Tool, b: _Tool) -> tuple[float, ...]:
    found = _find_links(a.profile, b.profile)
    given = b.given
    required = [x for x in found if x.input.required]
    best = max(
        required or found,
        key=lambda x: x.score * (1 - 0.5 * given[x.input.text].strength),
        default=None,
    )
    g = given[best.input.text] if best else _NO_GIVEN
    return (
        required[0].score if required else 0.0,
        found[0].score if found else 0.0,
        max((x.score * (1 - given[x.input.text].strength) for x in required), default=0.0),
        sum(x.score for x in found if x.score >= 0.5),
        sum(x.score >= 0.5 for x in required) / max(1, b.traits.required),
        max((x.score * (1 - given[x.input.text].local) for x in required), default=0.0),
        float(any(f.type == t or not t for f in b.payloads for t in a.traits.gives)),
        float(a.profile.declares_output),
        float(best is not None and best.input.identifies),
        float(best is not None and best.output.identifies),
        float(best is not None and not set(best.input.name) - GENERIC),
        float(len(best.output.path)) if best else 0.0,
        g.named,
        g.near,
        g.enum,
        float(min(g.count, 5)),
        g.strength,
        g.local,
    )


def _compute_overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Overlap coefficient: shared words over the smaller set."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _compute_jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


@lru_cache(maxsize=16_384)
def _compare_texts(pa: Profile, pb: Profile) -> tuple[float, ...]:
    """Return the features of two tools' documentation, independent of the query."""
    ta, tb = _build_traits(pa), _build_traits(pb)
    return (
        _compute_jaccard(pa.subject, pb.subject),
        _compute_overlap(ta.telling, tb.words_in),
        _compute_overlap(ta.telling, tb.about_in),
        _compute_overlap(ta.telling, pb.about),
        _compute_overlap(tb.telling, pa.about),
        _compute_jaccard(pa.about, pb.about),
        _compute_overlap(ta.words_out, tb.words_in),
        _compute_jaccard(ta.about_out, tb.about_in),
        _compute_overlap(ta.words_out, pb.about),
        max((measure_naming(pa, f) for f in pb.inputs if f.required), default=0.0),
        max((measure_naming(pa, f) for f in pb.inputs), default=0.0),
        _compute_overlap(pa.called, pb.about),
        _compute_overlap(pb.called, pa.about),
        _compute_jaccard(ta.input_names, tb.input_names),
        _compute_jaccard(ta.words_out, tb.words_out),
    )


def _score_mentions(view: QueryView, a: _Tool, b: _Tool) -> tuple[float, ...]:
    """Return the features of tool a in b's part of the query."""
    own = b.traits.own
    telling = a.traits.telling - own
    after = (
        sum(view.after(w, a.part) for w in telling) / max(1, len(telling)) if a.part.found else 0.0
    )
    return (
        _spoken_output(view, a.traits, b),
        view.spoken(telling, b.part),
        after,
        view.shared(a.part, b.part),
        float(a.part.found and a.part.start == b.part.start),
        float(any(view.done(w, b.part) for w in a.profile.called - b.profile.called)),
    )


def _spoken_output(view: QueryView, a: _Traits, b: _Tool) -> float:
    """The largest share of an output's words, other than b's own, that b's part of the query
    speaks.
    """
    spoken = {w for w in a.output_words if view.speaks(w, b.part)} - b.traits.own
    if not spoken:
        return 0.0
    best = 0.0
    for name in a.output_names:
        if not spoken.isdisjoint(name):
            best = max(best, len(spoken & name) / len(name - b.traits.own))
    return best


def _compare_parts(
    a: _Tool, b: _Tool, rank_a: float, rank_b: float, count: int
) -> tuple[float, ...]:
    ma, mb = a.part, b.part
    return (
        mb.place - ma.place,
        mb.first - ma.first,
        float(mb.clause - ma.clause),
        ma.cover,
        mb.cover,
        float(mb.later),
        float(mb.back),
        float(ma.later),
        float(ma.back),
        (rank_b - rank_a) / max(1, count - 1),
        float(STAGES.get(b.profile.verb, 2.5) - STAGES.get(a.profile.verb, 2.5)),
    )


def _tool_features(t: _Tool, rank: float) -> tuple[float, ...]:
    wanted = t.wanted
    strengths = [g.strength for _, g in wanted]
    return (
        float(_VERBS.index(t.profile.verb)) if t.profile.verb else -1.0,
        float(len(wanted)),
        float(len(t.profile.inputs) - len(wanted)),
        sum(strengths) / len(strengths) if strengths else 1.0,
        min(strengths, default=1.0),
        float(sum(s < 0.3 for s in strengths)),
        float(min(20, sum(f.declared for f in t.profile.outputs))),
        float(sum(f.identifies for f, _ in wanted)),
        rank,
        float(t.part.values),
        float(len(wanted) - t.part.values),
        float(t.part.found),
        float(len(t.payloads)),
    )


def _rank_values(values: Sequence[float]) -> list[float]:
    """Return the rank of each value: the number of smaller values, with ties counted half, whatever
    the order.
    """
    return [sum(v < x for v in values) + 0.5 * (sum(v == x for v in values) - 1) for x in values]


def _fill_context(made: Array, count: int, clauses: int, values: float) -> None:
    """The features that compare a pair with the other pairs of the same query."""
    required = made[:, :, 0]
    link = required + np.float32(0.25) * made[:, :, 1]
    rivals = _mask_own_entries(
        link[:, None, :].repeat(count, 1), count, -1.0
    )  # [k, i, j]: link k -> j, for k not i or j
    ahead = _mask_own_entries(
        link.T[:, :, None].repeat(count, 2), count, -1.0
    )  # [k, i, j]: link i -> k
    start = len(FLOW) + len(TEXT) + len(SAID) + len(ASKED) + 2 * len(TOOL)
    columns = (
        (rivals > link).sum(0),
        link - np.maximum(rivals.max(0), 0.0),
        (ahead > link).sum(0),
        np.broadcast_to(link.max(0)[None, :], link.shape),
        np.broadcast_to((required >= 0.5).sum(0)[None, :], link.shape),
        np.broadcast_to(link.max(0)[:, None], link.shape),
        np.broadcast_to(link.max(1)[None, :], link.shape),
        required - required.T,
        np.maximum(np.minimum(ahead, rivals).max(0), 0.0),
        np.full(link.shape, clauses),
        np.full(link.shape, min(values, 5.0)),
    )
    off = ~np.eye(count, dtype=bool)
    for n, column in enumerate(columns):
        made[off, start + n] = column[off]


def _mask_own_entries(table: Array, count: int, fill: float) -> Array:
    """``table[k, i, j]`` with ``fill`` where k is i or j."""
    same = np.eye(count, dtype=bool)
    made: Array = np.where(same[:, :, None] | same[:, None, :], np.float32(fill), table)
    return made
