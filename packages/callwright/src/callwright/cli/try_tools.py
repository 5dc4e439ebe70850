"""``callwright tools try``: which of the tools that fit a request also work (GRETEL, Table 5)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from callwright.agent.probing import ProbingContext, Ranked, TrialPolicy, Trials, try_tools
from callwright.cli.opened import open_sources
from callwright.cli.terminal.console import print_table
from callwright.cli.terminal.jsonl import print_json
from callwright.models import open_model
from callwright.models.encoders import open_encoder
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import ConfigError
from callwright.nouns.model_profile import find_profile
from callwright.nouns.protocols import ChatModel
from callwright.retrieval import Hit, Mode, ToolIndex, needs_encoder
from callwright.simulation.simulator import Simulator
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import EvidenceStore, get_known_rates

_OUTCOMES = {
    "functional_success": "success",
    "parameter_mismatch": "parameter mismatch",
    "semantic_mismatch": "semantic mismatch",
    "execution_failure": "execution failure",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Settings of tool probing: the ``candidates`` that fit best, until the first ``policy.k`` are
    decided. ``has_verdicts``: MiniLM judges whether a reply is about the request. ``profile``: the
    name of the model's; "" leaves it to the size that it states.
    """

    query: str
    sources: Sequence[str]
    candidates: int
    mode: Mode
    policy: TrialPolicy
    model: str | None = None
    has_verdicts: bool = False
    profile: str = ""


def try_out(wanted: Wanted, evidence: EvidenceStore | None, as_json: bool) -> int:
    """Retrieve, try, print the ranking. 0 where a tool works, else 3. Raises ConfigError without
    sources.
    """
    if not wanted.sources:
        raise ConfigError(
            "tools try needs tools to choose from", hint='callwright tools try "…" --tools SOURCE'
        )
    made = asyncio.run(_probe_tools(wanted, evidence))
    if as_json:
        print_json({"query": wanted.query, **made.to_dict()})
    else:
        _print_trials(made, wanted.policy.k)
    for problem in made.problems:
        print(one_line(problem), file=sys.stderr)
    return 0 if any(one.works for one in made.ranking) else 3


async def _probe_tools(wanted: Wanted, evidence: EvidenceStore | None) -> Trials:
    async with AsyncExitStack() as stack:
        catalog = await stack.enter_async_context(open_sources(list(wanted.sources), pinned=True))
        model: ChatModel | None = None
        if wanted.model:
            model = open_model(wanted.model)
            stack.push_async_callback(model.aclose)
        return await try_tools(
            wanted.query,
            _search_tools(wanted, catalog, evidence),
            catalog.tools,
            invoker=catalog.call,
            model=model,
            simulator=(
                Simulator(model=model)
                if model is not None and wanted.policy.simulate != "never"
                else None
            ),
            evidence=evidence,
            policy=wanted.policy,
            context=ProbingContext(
                catalog.secrets,
                encoder=open_encoder() if wanted.has_verdicts else None,
                profile=find_profile(wanted.profile) if wanted.profile else None,
            ),
        )


def _search_tools(
    wanted: Wanted, catalog: Catalog, evidence: EvidenceStore | None
) -> tuple[Hit, ...]:
    index = ToolIndex.build(catalog.tools, open_encoder() if needs_encoder(wanted.mode) else None)
    rates = get_known_rates(evidence.rates(), catalog.tools) if evidence is not None else {}
    return index.search(wanted.query, wanted.candidates, mode=wanted.mode, known=rates)


def _print_trials(made: Trials, k: int) -> None:
    """The first ``k``."""
    if not made.ranking:
        print("Nothing speaks for any tool here.")
        return
    rows = map(_build_row, made.ranking[:k])
    print_table(("Initial", "Final", "Tool", "Outcome", "Latency", "Justification"), rows)
    again = f", {made.remembered} remembered" if made.remembered else ""
    rest = f"; --json lists all {len(made.ranking)}" if len(made.ranking) > k else ""
    print(
        f"{made.tried} of {len(made.ranking)} tried, {made.calls} calls{again}, {made.seconds:.1f}"
        f" s{rest}"
    )


def _build_row(one: Ranked) -> tuple[str, ...]:
    outcome = _OUTCOMES[one.outcome] if one.outcome else "untested"
    head, _, said = one.justification.partition(": ")
    why = said if head.isupper() else one.justification  # the outcome has a column of its own
    seconds = "" if one.seconds is None else f"{one.seconds:.2f} s"
    shown = "simulated" if one.simulated else outcome
    return str(one.initial), str(one.final), one.name, shown, seconds, why
