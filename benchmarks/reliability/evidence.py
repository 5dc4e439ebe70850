"""Do repeated requests get better without a single trial, by what earlier runs have shown of the
tools?

The dev half of the broken-tools benchmark, a known share of its tools broken. On every visit each
request of the first part is ranked, and a run does what runs do: for each thing that it needs it
calls the first tool of the right family among the eight it is shown, and where that fails the next.
What these calls show goes into a store, as every run's does; the next visit ranks with it. The
second part of the requests is ranked and never run: what is learned of tools is not learned of a
request.

    python benchmarks/reliability/evidence.py --rates 0,15,30,50 --visits 4
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import callwright.tools.evidence.prior as prior
from callwright.agent.probing.verdict import build_observation
from callwright.nouns.types import JsonObject, ToolResult
from callwright.retrieval import ToolIndex
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import EvidenceStore, Known, Observation, get_known_rates
from callwright_lab.benchmarks.broken_tools.score import collect_gold_tools, works_at
from callwright_lab.benchmarks.broken_tools.served import (
    collect_replies,
    find_answering_tools,
    open_world_catalog,
)
from callwright_lab.benchmarks.broken_tools.world import Query, World, read_world
from callwright_lab.metrics import ndcg_at

SHOWN, TRIED = 8, 2
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "broken_tools"


async def called(
    catalog: Catalog, query: str, tool: str, arguments: JsonObject
) -> Observation | None:
    """One real call and what it shows."""
    began = time.monotonic()
    output = await catalog.call(tool, arguments)
    result = ToolResult(
        "r1", tool, arguments, output.content, output.failure, time.monotonic() - began
    )
    return build_observation(result, catalog[tool], query)


async def visited(
    world: World, query: Query, shown: Sequence[str], catalog: Catalog
) -> list[Observation]:
    """What a run over the tools it is shown makes of a request."""
    seen: list[Observation] = []
    for need in query.needs:
        able = [name for name in shown if name in world.families[need.family]]
        for tool in able[:TRIED]:
            one = await called(catalog, query.text, tool, world.call(tool, need))
            if one is not None:
                seen.append(one)
                if one.outcome == "functional_success":
                    break
    return seen


def scores(rows: Sequence[JsonObject]) -> str:
    """First choice right, works@5, works@10 and NDCG@10, as cells."""
    first = fmean(
        float(row["ranking"][0] in collect_gold_tools(row)) if row["ranking"] else 0.0
        for row in rows
    )
    parts = (first, *(fmean(works_at(k, row) for row in rows) for k in (5, 10)))
    ndcg = fmean(ndcg_at(10, row["ranking"], collect_gold_tools(row)) for row in rows)
    return " | ".join(f"{part:.3f}" for part in (*parts, ndcg))


async def measure(world: World, rate: int, visits: int) -> list[str]:
    """One line a visit and part of the requests."""
    async with open_world_catalog(world, 0, None) as whole:
        truth = await collect_replies(world, whole)
    lines = []
    async with open_world_catalog(world, rate, None) as catalog:
        here = await collect_replies(world, catalog)
        index = ToolIndex.build(catalog.tools)
        golds = {
            query.id: [
                {"layer": n.layer, "tools": find_answering_tools(world, n, truth, here)}
                for n in query.needs
            ]
            for query in world.queries
        }
        parts = {"visited": world.queries[::2], "never visited": world.queries[1::2]}

        def ranked(query: Query, rates: Known) -> list[str]:
            return [hit.name for hit in index.search(query.text, 10, known=rates)]

        with TemporaryDirectory() as folder, EvidenceStore(Path(folder) / "e.db") as store:
            calls = 0
            for visit in range(1, visits + 1):
                rates = get_known_rates(store.rates(), catalog.tools)
                for name, queries in parts.items():
                    rows = [{"ranking": ranked(q, rates), "gold": golds[q.id]} for q in queries]
                    lines.append(
                        f"| {rate} | {name} | {visit} | {len(rates)} | {calls} | {scores(rows)} |"
                    )
                for query in parts["visited"]:
                    seen = await visited(world, query, ranked(query, rates)[:SHOWN], catalog)
                    calls += len(seen)
                    store.record([replace(one, at=time.time()) for one in seen])
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="evidence.py", description=__doc__)
    parser.add_argument(
        "--rates", default="0,15,30,50", help="per cent of tools that are broken (%(default)s)"
    )
    parser.add_argument("--visits", type=int, default=4)
    parser.add_argument("--sink", type=float, default=prior.SINK, help="(%(default)s)")
    parser.add_argument("--rise", type=float, default=prior.RISE, help="(%(default)s)")
    options = parser.parse_args()
    prior.SINK, prior.RISE = options.sink, options.rise
    # the set of breakages that the recorded figures are of
    world = replace(read_world("dev", EXAMPLES, Path(), None), breakages="1")
    print(
        "| broken % | requests | visit | known tools | calls so far | first | works@5 | works@10 |"
        " NDCG@10 |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for rate in map(int, options.rates.split(",")):
        print("\n".join(asyncio.run(measure(world, rate, options.visits))), flush=True)


if __name__ == "__main__":
    main()
