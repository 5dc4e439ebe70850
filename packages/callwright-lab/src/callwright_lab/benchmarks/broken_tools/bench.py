"""``callwright bench broken-tools``: do trials lift the tools that truly answer above those that
only sound like it?

Really broken tools (:mod:`callwright_lab.benchmarks.broken_tools.kinds`) at rates fixed beforehand,
behind a real HTTP server, the desk's functions and its MCP servers. The same candidates, the first
50 of hybrid retrieval, go into every system:

=============== ========================================================================================
base            no re-ranker: the candidates as retrieved
model           a model re-ranks by what is described, no trials (``--model``)
trials          trials without simulation, evaluated by their evidence
full            and replies made up after failures that say nothing of the tool
every           the paper's rule: a reply is made up after any error
remembered      trials, and what earlier queries showed is remembered: the queries in their order
trials+model    trials whose evidence a model evaluates (``--model``)
trials+encoder  trials whose replies MiniLM judges: are they about the request?
planned         a model plans calls and ranks by whether it could; nothing is called (``--model``)
simulated       the same, and every reply is made up by the model (``--model``)
real            the same, with real calls alone: the paper's GRETEL w/o Sim (``--model``)
both            real calls, and made-up replies after any error: the paper's full (``--model``)
try all         every candidate is tried: what the other systems' calls are counted against
=============== ========================================================================================

Table 3 of the paper is ``base``, ``model`` (its LLM re-ranker), ``real`` and ``both``.

Rows are appended as they come; the same command goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from callwright.agent.probing import ProbingContext, Ranked, TrialPolicy, Trials, try_tools
from callwright.agent.probing.relevance import is_calibrated
from callwright.jsontext import parse
from callwright.models import open_model
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.protocols import ChatModel, Encoder
from callwright.nouns.types import JsonObject, ToolOutput, compute_digest, to_json
from callwright.retrieval import ToolIndex, mode_named, needs_encoder
from callwright.simulation.recording import Recorded, Recording
from callwright.simulation.simulator import Simulator
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import EvidenceStore
from callwright_lab.benchmarks.broken_tools.kinds import RATES, SETS, Breakage
from callwright_lab.benchmarks.broken_tools.score import render_report
from callwright_lab.benchmarks.broken_tools.served import (
    Truth,
    collect_replies,
    find_answering_tools,
    open_world_catalog,
)
from callwright_lab.benchmarks.broken_tools.world import HALVES, Query, World, read_world
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.desk.tasks import Desk, load_desk
from callwright_lab.datasets.sources import data_root

POOL = 50  # candidates of a query; fixed before anything was ranked
_PAPERS: Mapping[str, Any] = {
    "planning": "model",
    "evaluation": "model",
    "reply_chars": 120,
    "model_calls": 60,
}
"""What the paper's systems share: a model plans each call, and ranks by all evidence."""
SYSTEMS: Mapping[str, Mapping[str, Any]] = {
    "base": {},
    "model": {"calls": 0, "evaluation": "model", "simulate": "never", "reply_chars": 120},
    "trials": {"simulate": "never"},
    "full": {"simulate": "transient"},
    "every": {"simulate": "every"},
    "remembered": {"simulate": "never"},
    "trials+model": {"simulate": "transient", "evaluation": "model", "reply_chars": 120},
    "trials+encoder": {"simulate": "never"},
    "planned": {**_PAPERS, "calls": 0, "simulate": "never"},
    "simulated": {**_PAPERS, "simulate": "only"},
    "real": {**_PAPERS, "simulate": "never"},
    "both": {**_PAPERS, "simulate": "every"},
    "try all": {"simulate": "never", "thorough": True, "calls": 10_000},
}
_IMITATED = frozenset({"simulated", "both"})  # the model makes up their replies
_RECORDED = frozenset({"full", "every", "trials+model"})  # what the tools replied before they broke
_MODEL = frozenset({"model", "trials+model", "planned", "real", *_IMITATED})
_LOCAL: Mapping[str, Any] = {
    "k": 10,
    "per_host": 8,
    "per_second": 10_000.0,
    "seconds": 300.0,
    "prices": {"*": 0.0},
}
"""What holds for every system: the first ten are wanted, nobody else is kept waiting by a server of
our own, and its calls are free.
"""


@dataclass
class Bench:
    """One run of the benchmark: what is asked of whom, and where its rows go."""

    world: World
    desk: Desk | None
    queries: Sequence[Query]
    results: Path
    mode: str
    encoder: Encoder | None
    model: ChatModel | None = None
    say: Any = sys.stderr.write

    @cached_property
    def config(self) -> str:
        """Return a digest of everything that a row depends on, apart from its own system."""
        return compute_digest(
            [self.world.digest, POOL, self.mode, dict(_LOCAL), self.encoder and self.encoder.name]
        )

    async def run(self, rates: Sequence[int], systems: Sequence[str]) -> None:
        """Every row that is missing. What truly answers is found by calling, before anything is
        ranked.
        """
        held = {(r["config"], r["rate"], r["system"], r["query"]) for r in read_rows(self.results)}
        async with open_world_catalog(self.world, 0, self.desk) as whole:
            truth = await collect_replies(self.world, whole)
            recorded = _build_recording(whole, truth)
        if lost := [key for key, reply in truth.items() if not reply]:
            raise ConfigError(f"{len(lost)} gold calls fail in a whole world: {lost[0]}")
        for rate in rates:
            wanted = [
                (system, query)
                for system in systems
                for query in self.queries
                if (self.config, rate, self._named(system), query.id) not in held
            ]
            if wanted:
                async with open_world_catalog(self.world, rate, self.desk) as catalog:
                    await self._rate(rate, wanted, catalog, truth, recorded)

    async def _rate(
        self,
        rate: int,
        wanted: Sequence[tuple[str, Query]],
        catalog: Catalog,
        truth: Truth,
        recorded: Recording,
    ) -> None:
        here = await collect_replies(self.world, catalog)
        index = ToolIndex.build(catalog.tools, self.encoder)
        breakages = self.world.choose_broken(rate)
        async with AsyncExitStack() as stack:
            store = EvidenceStore(self.results.with_name(f"evidence-{self.config}-{rate}.sqlite"))
            stack.callback(store.close)
            for done, (system, query) in enumerate(wanted, 1):
                row = self._gold(query, truth, here) | {"config": self.config, "rate": rate}
                row |= {"system": self._named(system), "half": self.world.half}
                row |= await self._ranked(system, query, catalog, index, recorded, store, breakages)
                append_row(self.results, row)
                if done % 50 == 0:
                    self.say(f"{rate} %, {system}: {done} of {len(wanted)}\n")

    def _named(self, system: str) -> str:
        return f"{system} {self.model.name}" if system in _MODEL and self.model else system

    def _gold(self, query: Query, truth: Truth, here: Truth) -> JsonObject:
        needs = [
            {"layer": n.layer, "tools": find_answering_tools(self.world, n, truth, here)}
            for n in query.needs
        ]
        return {"query": query.id, "group": query.group, "gold": needs}

    async def _ranked(
        self,
        system: str,
        query: Query,
        catalog: Catalog,
        index: ToolIndex,
        recorded: Recording,
        store: EvidenceStore,
        breakages: Mapping[str, Breakage],
    ) -> JsonObject:
        hits = index.search(query.text, POOL, mode=mode_named(self.mode))
        if system == "base":
            return {"ranking": [hit.name for hit in hits[:10]], "calls": 0}
        trials = await try_tools(
            query.text,
            hits,
            catalog.tools,
            invoker=catalog.call,
            model=self.model if system in _MODEL else None,
            simulator=self._choose_simulator(system, recorded),
            evidence=store if system == "remembered" else None,
            policy=TrialPolicy(**{**_LOCAL, **SYSTEMS[system]}),
            context=ProbingContext(encoder=self.encoder if system == "trials+encoder" else None),
        )
        return _build_trial_row(trials, breakages)

    def _choose_simulator(self, system: str, recorded: Recording) -> Simulator | None:
        if system in _IMITATED:
            return Simulator(model=self.model)
        return Simulator(recorded) if system in _RECORDED else None


def _build_trial_row(trials: Trials, breakages: Mapping[str, Breakage]) -> JsonObject:
    outcomes: dict[str, int] = {}
    for one in trials.ranking:
        if one.outcome is not None:
            outcomes[one.outcome] = outcomes.get(one.outcome, 0) + 1
    return {
        "ranking": list(trials.names[:10]),
        "tried_tools": [
            [one.name, one.initial, _describe_outcome(one), _name_kind(one.name, breakages)]
            for one in trials.ranking
            if one.justification
        ],
        "calls": trials.calls,
        "tried": trials.tried,
        "remembered": trials.remembered,
        "model_calls": trials.model_calls,
        "outcomes": outcomes,
        "seconds": round(trials.seconds, 3),
        "problems": to_json(trials.problems[:3]),
    }


def _name_kind(tool: str, breakages: Mapping[str, Breakage]) -> str:
    """The kind in which a tool is really broken; "" for one that is not."""
    return breakages[tool].kind if tool in breakages else ""


def _describe_outcome(one: Ranked) -> str:
    return ("simulated " if one.simulated else "") + (
        one.outcome or f"nothing proved: {one.justification[:60]}"
    )


def _build_recording(whole: Catalog, truth: Truth) -> Recording:
    """Return a recording of the replies of the unbroken tools, for the simulator."""
    calls = []
    for key, reply in truth.items():
        tool, _, arguments = key.partition(" ")
        calls.append(Recorded(tool, parse(arguments), ToolOutput(parse(reply)), whole[tool].digest))
    return Recording(calls)


def sample_queries(queries: Sequence[Query], most: int) -> list[Query]:
    """So many of the queries, taken evenly from first to last; all of them for 0."""
    if not most or most >= len(queries):
        return list(queries)
    return [queries[place * len(queries) // most] for place in range(most)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the bench."""
    options = _parse_options(arguments)
    try:
        return asyncio.run(_run_bench(options))
    except CallwrightError as error:
        sys.stderr.write(f"{error}\n")
        return 1


async def _run_bench(options: argparse.Namespace) -> int:
    desk = load_desk(options.desk) if options.half == "final" else None
    folder = options.world or _get_examples_folder()
    world = read_world(options.half, folder, options.data or data_root(), desk)
    world = replace(world, breakages=options.breakages)
    tools = sum(map(len, world.families.values()))
    sys.stderr.write(
        f"half {world.half}: {len(world.queries)} queries, {tools} tools with twins,"
        f" {world.digest}\n"
    )
    if options.digest:
        return 0
    encoder = (
        open_encoder(options.encoder, cache=options.cache)
        if needs_encoder(mode_named(options.mode))
        else None
    )
    model = open_model(options.model) if options.model else None
    systems = [
        name
        for name in _split_names(options.systems, SYSTEMS)
        if model is not None or name not in _MODEL
    ]
    if "trials+encoder" in systems and (encoder is None or not is_calibrated(encoder)):
        raise ConfigError(
            "trials+encoder needs the encoder whose similarities are calibrated",
            hint="--mode hybrid, without --encoder",
        )
    queries = sample_queries(world.queries, options.queries)
    bench = Bench(
        world, desk, queries, options.out / f"{world.half}.jsonl", options.mode, encoder, model
    )
    try:
        if not options.report:
            await bench.run(
                [int(rate) for rate in _split_names(options.rates, map(str, RATES))], systems
            )
    finally:
        if model is not None:
            await model.aclose()
    asked = {query.id for query in queries}
    rows = [
        r for r in read_rows(bench.results) if r["config"] == bench.config and r["query"] in asked
    ]
    sys.stdout.write(render_report(rows) + "\n")
    return 0


def _split_names(given: str, known: Any) -> list[str]:
    names, held = [name.strip() for name in given.split(",")], list(known)
    if unknown := [name for name in names if name not in held]:
        raise ConfigError(f"there is no {unknown[0]!r}", hint=f"one or more of: {', '.join(held)}")
    return names


def _get_examples_folder() -> Path:
    return Path(__file__).resolve().parents[6] / "examples" / "broken_tools"


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="callwright bench broken-tools", description=__doc__, formatter_class=formatter
    )
    parser.add_argument(
        "--half", choices=HALVES, default="dev", help="dev for tuning; final is opened once"
    )
    parser.add_argument(
        "--rates", default=",".join(map(str, RATES)), help="per cent of tools that are broken"
    )
    parser.add_argument(
        "--breakages",
        choices=[*SETS],
        default="2",
        help="the set of breakages; 1 has no plausible answers about another thing",
    )
    parser.add_argument("--systems", default="base,trials,full,every,remembered,try all")
    parser.add_argument(
        "--model", help="for the systems that ask a model: local, local:PATH, or URL#MODEL"
    )
    parser.add_argument("--queries", type=int, default=0, help="only so many, taken evenly")
    parser.add_argument(
        "--mode", default="hybrid", help="of retrieval; lexical where there is no encoder"
    )
    parser.add_argument(
        "--encoder", help="minilm (default), a model folder, or an endpoint URL#MODEL"
    )
    parser.add_argument("--cache", type=Path, help="file that remembers vectors between runs")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/broken-tools"), help="folder of rows"
    )
    parser.add_argument("--world", type=Path, help="folder of apis.toml and twins.toml")
    parser.add_argument("--desk", type=Path, help="folder of the desk example")
    parser.add_argument("--data", type=Path, help="folder that holds tmdb/")
    parser.add_argument(
        "--digest", action="store_true", help="print the digest of the set and stop"
    )
    parser.add_argument(
        "--report", action="store_true", help="only print the tables of the rows that are there"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
