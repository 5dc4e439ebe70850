"""Numbers that an encoder gives for or against "b needs what a returns", for every ordered pair of
tools.

Letters miss what words mean: a ``headset_design`` gives the ``headset``. Here tools, their fields
and the clauses of the query are sentence vectors, and the numbers are cosines of them, or
differences and ranks of cosines. As in :mod:`callwright.planning.features`, nothing depends on the
order in which the tools are listed; trees are bound to :data:`NAMES` by :data:`DIGEST`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from callwright.dataflow.flow import Field, get_profile, split_words
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool, compute_digest
from callwright.planning.query import Part, QueryView

Array = np.ndarray[Any, Any]

FIELDS = 12  # of one schema; what comes later is left out
LENGTH = 300  # characters of a text; the encoder would cut it a little later
SHARP = 20.0  # how sharply a tool chooses among the clauses of the query

PAIR = (
    "output_input",  # best likeness of an output of a and a required input of b
    "output_input_open",  # ... times (1 - what b's part of the query gives of that input)
    "tool_input",  # a itself and a required input of b
    "tool_input_open",
    "tool_tool",
    "output_tool",
    "output_part",  # an output of a and the part of the query that asks for b
    "tool_part",  # a and that part
    "tool_part_gap",  # ... minus a and its own part
    "own_b",  # b and its own part
    "own_a",
    "place_gap",  # b is meant later in the query than a
    "clause_gap",
    "part_part",
    "query_a",
    "query_b",
    "declared",  # a declares outputs
    "rank_gap",
    "given_b",  # the required input of b that is least alike to its own part
    "input_part_open",  # a required input of b and the part that asks for a
)
CONTEXT = (
    "output_input_margin",  # minus that of the best other producer
    "tool_input_margin",
    "output_part_margin",
    "input_best",  # best output_input into b from anywhere
)
_MIRRORED = (
    "output_input",
    "output_input_open",
    "tool_input",
    "tool_input_open",
    "output_tool",
    "output_part",
    "tool_part",
    "tool_part_gap",
    "output_input_margin",
    "input_part_open",
)
NAMES = tuple(f"meaning_{n}" for n in (*PAIR, *CONTEXT, *(f"back_{n}" for n in _MIRRORED)))
DIGEST = compute_digest(list(NAMES))
_OWN = (*PAIR, *CONTEXT)
_MIRROR = [_OWN.index(n) for n in _MIRRORED]


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts of one tool that are encoded. ``wanted`` are the required inputs that ``inputs``
    describe.
    """

    tool: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    wanted: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Meant:
    """One tool under one query as unit vectors. ``open``: per required input, how little the query
    gives it.
    """

    tool: Array  # D
    part: Array  # D
    outputs: Array  # O D
    inputs: Array  # I D
    open: Array  # I


def pair_meanings(query: str, tools: Sequence[Tool], encoder: Encoder) -> Array:
    """Likeness of every ordered pair: float32 of shape (N, N, M); [i, j] speaks of "j needs i". The
    diagonal is 0.

    Rows and columns follow ``tools``. Each distinct text is encoded once, short ones mostly: fields
    and clauses.
    """
    count = len(tools)
    made = np.zeros((count, count, len(NAMES)), dtype=np.float32)
    if count < 2:
        return made
    view = QueryView(query, [get_profile(t) for t in tools])
    texts = [_build_texts(t) for t in tools]
    clauses = [clause[:LENGTH] or " " for clause in view.clauses()]
    vectors = _encode_distinct(
        encoder, [*clauses, *(x for t in texts for x in (t.tool, *t.outputs, *t.inputs))]
    )
    spoken = np.stack([vectors[c] for c in clauses])
    seen = [
        _build_meaning(t, part, view, spoken, vectors)
        for t, part in zip(texts, view.parts, strict=True)
    ]
    asked = _Asked.of(np.stack([m.tool for m in seen]), spoken)
    for i, a in enumerate(seen):
        for j, b in enumerate(seen):
            if i != j:
                made[i, j, : len(PAIR)] = _compare_pair(a, b, asked, i, j)
    _fill_context(made, count)
    made[:, :, len(_OWN) :] = np.swapaxes(made, 0, 1)[:, :, _MIRROR]
    return made


def _build_texts(tool: Tool) -> _Texts:
    p = get_profile(tool)
    outputs = [f for f in p.outputs if f.declared and f.name not in p.echoed][:FIELDS]
    wanted = [f for f in p.inputs if f.required][:FIELDS]
    named = " ".join(split_words(tool.name)) or tool.name
    return _Texts(
        f"{named}: {tool.description.strip()}"[:LENGTH],
        tuple(_render_field(f, tool.output_schema) for f in outputs),
        tuple(_render_field(f, tool.input_schema) for f in wanted),
        tuple(wanted),
    )


def _render_field(field: Field, schema: Any) -> str:
    """The last two names on the way to a field, and its description."""
    name = " ".join(w for part in field.path[-2:] for w in split_words(part))
    about = _find_description(schema, field.path).strip()
    return (f"{name}: {about}" if about else name or " ")[:LENGTH]


def _find_description(schema: Any, path: Iterable[str]) -> str:
    """The description at ``path``; arrays on the way are walked through."""
    at = schema
    for key in path:
        while isinstance(at, dict) and "properties" not in at and isinstance(at.get("items"), dict):
            at = at["items"]
        inner = at.get("properties") if isinstance(at, dict) else None
        at = inner.get(key) if isinstance(inner, dict) else None
    return str(at.get("description") or "") if isinstance(at, dict) else ""


def _encode_distinct(encoder: Encoder, texts: Iterable[str]) -> dict[str, Array]:
    distinct = sorted(set(texts))
    return dict(zip(distinct, encoder.encode(distinct), strict=True))


def _build_meaning(
    texts: _Texts, part: Part, view: QueryView, spoken: Array, vectors: dict[str, Array]
) -> _Meant:
    inside = [k for k, start in enumerate(view.breaks) if part.start <= start < part.stop]
    nothing = np.zeros((0, spoken.shape[1]), np.float32)
    return _Meant(
        tool=vectors[texts.tool],
        part=_normalize_vector((spoken[inside] if inside else spoken).mean(0)),
        outputs=np.stack([vectors[x] for x in texts.outputs]) if texts.outputs else nothing,
        inputs=np.stack([vectors[x] for x in texts.inputs]) if texts.inputs else nothing,
        open=np.array([1 - view.given(f, part).local for f in texts.wanted], np.float32),
    )


def _normalize_vector(vector: Array) -> Array:
    made: Array = vector / max(1e-6, float(np.linalg.norm(vector)))
    return made


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Position of each tool in the query, judged only by similarity to its clauses."""

    place: Array  # N, 0..1: the mean clause, weighed by likeness
    clause: Array  # N: the likest clause
    rank: Array  # N
    query: Array  # N: likeness to the query as a whole

    @classmethod
    def of(cls, tools: Array, spoken: Array) -> _Asked:
        alike = tools @ spoken.T
        chosen = np.exp(SHARP * (alike - alike.max(1, keepdims=True)))
        place = (chosen / chosen.sum(1, keepdims=True)) @ (
            np.arange(len(spoken)) / max(1, len(spoken) - 1)
        )
        rank = np.array([(place < x).sum() + 0.5 * ((place == x).sum() - 1) for x in place])
        return cls(place, alike.argmax(1), rank, tools @ _normalize_vector(spoken.mean(0)))


def _compare_pair(a: _Meant, b: _Meant, asked: _Asked, i: int, j: int) -> tuple[float, ...]:
    fed = (
        (a.outputs @ b.inputs.T).max(0, initial=-1.0) if len(a.outputs) else np.zeros(len(b.inputs))
    )
    named = b.inputs @ a.tool
    return (
        _find_highest(fed),
        _find_highest(fed * b.open),
        _find_highest(named),
        _find_highest(named * b.open),
        float(a.tool @ b.tool),
        _find_highest(a.outputs @ b.tool),
        _find_highest(a.outputs @ b.part),
        float(a.tool @ b.part),
        float(a.tool @ b.part) - float(a.tool @ a.part),
        float(b.tool @ b.part),
        float(a.tool @ a.part),
        float(asked.place[j] - asked.place[i]),
        float(asked.clause[j] - asked.clause[i]),
        float(a.part @ b.part),
        float(asked.query[i]),
        float(asked.query[j]),
        float(len(a.outputs) > 0),
        float(asked.rank[j] - asked.rank[i]) / max(1, len(asked.rank) - 1),
        float((b.inputs @ b.part).min()) if len(b.inputs) else 0.0,
        _find_highest((b.inputs @ a.part) * b.open),
    )


def _find_highest(values: Array) -> float:
    return float(values.max()) if len(values) else 0.0


def _fill_context(made: Array, count: int) -> None:
    """The numbers that compare a pair with the other pairs of the same query."""
    off = ~np.eye(count, dtype=bool)
    for n, name in enumerate(("output_input", "tool_input", "output_part")):
        table = made[:, :, PAIR.index(name)]
        made[:, :, len(PAIR) + n] = np.where(off, table - _find_rival_values(table), 0)
    made[:, :, len(PAIR) + 3] = np.where(off, made[:, :, 0].max(0)[None, :], 0)


def _find_rival_values(table: Array) -> Array:
    """[i, j]: the largest ``table[k, j]`` with k neither i nor j; 0 where there is none."""
    count = len(table)
    same = np.eye(count, dtype=bool)
    masked = np.where(
        same[:, :, None] | same[:, None, :], -np.inf, table[:, None, :].repeat(count, 1)
    )
    best = masked.max(0)
    made: Array = np.where(np.isfinite(best), best, 0)
    return made
