"""Layers for 20 tools, by every planner that learned something; the encoding of the query on a row
of its own.

Planners that read vectors find all of them remembered. Needs the encoder's weights for two of the
planners (``callwright weights``); without them only the planner that reads no vectors is measured.
"""

from __future__ import annotations

from functools import partial
from itertools import count

from timing import Prepare, Row, measure, median_us, repeated

from callwright.models.encoders import open_encoder
from callwright.nouns.types import Tool
from callwright.planning import open_planner
from callwright.weights import find

QUERY = "Find flights from Oslo to Rome next Friday, book the cheapest and mail the invoice to Ada."
ENCODER = ("minilm-int8", "minilm-tokenizer")
_THINGS = ("flights", "hotels", "invoices", "customers", "weather")
_VERBS = {"search": "query", "get": "id", "book": "id", "mail": "id"}


def tools() -> list[Tool]:
    """20 tools: search, get, book and mail five things; all but the search need what the search
    returns.
    """
    made = []
    for thing in _THINGS:
        for verb, key in _VERBS.items():
            named = f"{thing[:-1] if key == 'id' else thing}_{key}"
            schema = {
                "type": "object",
                "properties": {
                    named: {"type": "string", "description": f"The {key} of the {thing}."},
                    "limit": {"type": "integer", "description": "How many at most."},
                },
                "required": [named],
            }
            made.append(
                Tool(f"{verb}_{thing}", f"{verb.capitalize()} {thing} for a customer.", schema)
            )
    return made


def _planned(name: str) -> Prepare:
    planner, view = open_planner(name), tools()
    assert len(planner.plan(QUERY, view).slots) == len(view)
    return repeated(lambda: planner.plan(QUERY, view))


def _encoding() -> Prepare:
    """A query that was never seen, encoded."""
    encoder, number = open_encoder(), count()
    encoder.encode([QUERY])
    return repeated(lambda: encoder.encode([f"{QUERY} {next(number)}"]))


DEFAULT = "boosted trees over pairs (default)"
ROWS = {
    DEFAULT: partial(_planned, "edges"),
    "the same with sentence vectors, remembered": partial(_planned, "edges-encoder"),
    "the paper's network, vectors remembered": partial(_planned, "layers"),
    "encoding a new query": _encoding,
}


def table(rounds: int, peers: str | None) -> list[str]:
    """The table of plans, in Markdown. There is no peer: nobody else plans so."""
    del peers
    names = list(ROWS) if all(find(name) is not None for name in ENCODER) else [DEFAULT]
    rows = [Row(name, "plan", runs=10) for name in names]
    times = measure(rows, rounds)
    lines = ["| layers for 20 tools | ms CPU |", "|---|---:|"]
    return [*lines, *(f"| {r.name} | {median_us(times, r.name) / 1000:.2f} |" for r in rows), ""]
