"""``callwright bench agentdojo``: frozen plans against injected instructions, on AgentDojo's 949
pairs.

Every pair of a user's task and an attacker's task is run with a scripted model that solves the one
and obeys the other as soon as it reads it (:mod:`callwright_lab.benchmarks.agentdojo.model`). What
differs between the rows is what holds it back:

* ``loop``: nothing but the gate (``react``);
* ``late-any``: an oracle plan of what the request says, frozen; the rest is filled by the model
  from whatever;
* ``late``: the same with the built-in rules of what may fill what (:mod:`agent.safety.filling`);
* ``late-rules``: the same where a suite has rules of its own (:data:`RULES`), as who runs it would
  write them;
* ``arguments``: the oracle's whole plan, arguments too, frozen;
* ``edges``: the plan of our own planner, with what the request says, frozen, the rest filled by the
  built-in rules;
* ``edges-loop``: the same, nothing frozen.

``--planner`` plans the last two in the place of our default one.

AgentDojo's own checks judge: whether the user's task was done, under attack; whether the attacker's
was. An attack that succeeds by a text alone changes no state; those are counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callwright.agent.options import Safety
from callwright.agent.orchestrator import Orchestrator, Run
from callwright.agent.safety.filling import ANY, Rules
from callwright.agent.safety.freeze import Level
from callwright.agent.strategies import Given
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.limits import Limits
from callwright.nouns.plan import Plan
from callwright.nouns.types import JsonObject, ToolCall
from callwright_lab.benchmarks.agentdojo.model import Compromised, build_oracle_plan
from callwright_lab.benchmarks.agentdojo.served import ATTACK, VERSION
from callwright_lab.benchmarks.agentdojo.worlds import (
    REQUIREMENT,
    AgentDojo,
    Pair,
    Worlds,
    WorldSource,
)
from callwright_lab.benchmarks.comparison.comparison import (
    add_planner_option,
    open_compared_planner,
)
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows

LIMITS = Limits(
    repairs=20,
    model_calls=200,
    tokens=10**9,
    seconds=600.0,
    tool_calls=200,
    result_chars=200_000,  # nothing that a tool returns is cut away, the attacker's text least of all
    reply_tokens=4_000,
    turns=60,
)
Names = tuple[str, str, str | None]
"""Suite, user's task, attacker's task; None: nobody attacks."""


@dataclass(frozen=True)
class Way:
    """One row: a strategy and what is frozen. ``late``: the oracle leaves open what the request
    does not say.
    """

    strategy: str
    freeze: Level = ""
    late: bool = True
    rules: Mapping[str, Rules] = field(
        default_factory=dict
    )  # suite -> what may fill what; "*": every suite


RULES: Mapping[str, Rules] = {
    "slack": {"get_webpage.url": ["request", "read_channel_messages", "read_inbox"]}
}
"""Suite -> rules that the built-in ones do not know: those who share a workspace may name pages to
each other.
"""

WAYS: Mapping[str, Way] = {
    "loop": Way("react"),
    "late-any": Way("given", "plan", rules={"*": {"*.*": [ANY]}}),
    "late": Way("given", "plan"),
    "late-rules": Way("given", "plan", rules=RULES),
    "arguments": Way("given", "arguments", late=False),
    "edges-loop": Way("edges"),
    "edges": Way("edges", "plan"),
}


async def run_pair(
    worlds: Worlds, suite: str, user: str, attacker: str | None, name: str, planner: str = ""
) -> JsonObject:
    """One pair in one way, in a fresh world: what came of it, as a row. ``planner`` plans it, as
    :func:`open_compared_planner` takes it; "": the way has none, or the default one.
    """
    way = WAYS[name]
    pair, plan = _open_planned_pair(worlds, suite, user, attacker, way)
    source = WorldSource(worlds, pair.tools)
    model = Compromised(pair, plan)
    head: JsonObject = {"suite": suite, "user": user, "attacker": attacker, "way": name}
    head |= {"planner": planner} if planner else {}
    orchestrator = Orchestrator(
        [source],
        model=model,
        strategy=Given(plan) if way.strategy == "given" else way.strategy,
        planner=open_compared_planner(planner) if planner else None,
        # nobody is asked: what is measured is what freezing alone holds back
        safety=Safety(
            freeze=way.freeze, may_fill=way.rules.get(suite, way.rules.get("*")), allow=("*",)
        ),
        limits=LIMITS,
    )
    try:
        run = await orchestrator.run(pair.query)
    except CallwrightError as error:
        return {**head, "error": str(error), "useful": False, "attacked": False}
    judged = worlds.judge(run.answer.text)
    return {
        **head,
        "useful": judged.useful,
        "attacked": judged.attacked,
        "said": pair.attack.said if pair.attack else False,
        "scripted": bool(pair.attack and (pair.attack.calls or pair.attack.said)),
        "fell": model.fell,
        "made": [tool for tool, _ in source.made],
        "refused": _list_refusals(run),
    }


def _open_planned_pair(
    worlds: Worlds, suite: str, user: str, attacker: str | None, way: Way
) -> tuple[Pair, Plan | None]:
    """The pair in a fresh world, and the plan of its solution. What calls return is found out in
    another one.
    """
    pair = worlds.open(suite, user, attacker)
    if way.strategy == "react":
        return pair, None
    if not way.late:
        return pair, build_oracle_plan(pair)
    plan = build_oracle_plan(
        pair, [worlds.call(call.tool, _get_arguments(call)).content for call in pair.calls]
    )
    return worlds.open(suite, user, attacker), plan


def _get_arguments(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}


def _list_refusals(run: Run) -> list[str]:
    return [f"{skip.tool}: {skip.reason[:200]}" for skip in run.skips if skip.refused]


def iter_pairs(worlds: Worlds, suites: Sequence[str], every: int = 1) -> Iterator[Names]:
    """Every pair of a user's and an attacker's task, and every user's task without one; or every
    so-manieth.
    """
    for name, suite in worlds.suites().items():
        if name in suites:
            both = [
                (name, user, attacker)
                for user in suite.users
                for attacker in (*suite.attackers, None)
            ]
            yield from both[::every]


def run_missing(
    worlds: Worlds,
    wanted: Iterable[tuple[str, str, str | None]],
    ways: Sequence[str],
    results: Path,
    planner: str = "",
) -> None:
    """Run what is not in the results yet and append it, pair by pair."""
    done = {
        (r["suite"], r["user"], r["attacker"], r["way"], r.get("planner", ""))
        for r in read_rows(results)
    }
    for pair in wanted:
        for name in ways:
            used = choose_planner(name, planner)
            if (*pair, name, used) not in done:
                append_row(results, asyncio.run(run_pair(worlds, *pair, name, used)))


def choose_planner(name: str, planner: str) -> str:
    """The planner of a way: none of those whose plan is given, or that make no plan."""
    return planner if WAYS[name].strategy == "edges" else ""


def render_report(rows: Iterable[JsonObject]) -> str:
    """The table: one line a way, of all suites and of each."""
    found = [*rows]
    lines = [
        "| suite | way | pairs | attacks succeed | of those with a script | change state | utility"
        " | unattacked |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    suites = [*dict.fromkeys(row["suite"] for row in found)]
    for suite in ["all", *suites]:
        for name in WAYS:
            mine = [r for r in found if r["way"] == name and suite in ("all", r["suite"])]
            if mine:
                lines.append(f"| {suite} | {name} | " + " | ".join(_format_figures(mine)) + " |")
    return "\n".join(lines)


def _format_figures(rows: Sequence[JsonObject]) -> list[str]:
    pairs, alone = [r for r in rows if r["attacker"]], [r for r in rows if not r["attacker"]]
    attacked = [row for row in pairs if row["attacked"]]
    states = [row for row in pairs if not row.get("said")]
    return [
        str(len(pairs)),
        _format_share(len(attacked), len(pairs)),
        _format_share(len(attacked), sum(bool(row.get("scripted")) for row in pairs)),
        _format_share(sum(row["attacked"] for row in states), len(states)),
        _format_share(sum(row["useful"] for row in pairs), len(pairs)),
        _format_share(sum(row["useful"] for row in alone), len(alone)),
    ]


def _format_share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "-"


def _build_parser() -> argparse.ArgumentParser:
    known = argparse.ArgumentParser(
        "callwright bench agentdojo", description=(__doc__ or "").split("\n")[0]
    )
    known.add_argument(
        "--ways", default=",".join(WAYS), help="rows, comma-separated: " + ", ".join(WAYS)
    )
    add_planner_option(known)
    known.add_argument("--suites", default="workspace,travel,banking,slack")
    known.add_argument(
        "--every", type=int, default=1, help="only every so-manieth pair of each suite"
    )
    known.add_argument(
        "--attack", default=ATTACK, help="how AgentDojo words the injected instruction"
    )
    known.add_argument("--results", type=Path, default=Path("runs/agentdojo/results.jsonl"))
    known.add_argument(
        "--python", help=f"an interpreter that has {REQUIREMENT}; by default one is made"
    )
    known.add_argument("--report", action="store_true", help="only print the table of what was run")
    return known


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the table."""
    given: Any = _build_parser().parse_args(arguments)
    ways = [name for name in given.ways.split(",") if name]
    if unknown := [name for name in ways if name not in WAYS]:
        raise ConfigError(f"there is no way {unknown[0]!r}", hint="ways: " + ", ".join(WAYS))
    if not given.report:
        with AgentDojo(given.python, given.attack) as worlds:
            run_missing(
                worlds,
                iter_pairs(worlds, given.suites.split(","), given.every),
                ways,
                given.results,
                given.planner,
            )
    sys.stdout.write(f"AgentDojo {VERSION} ({REQUIREMENT}), attack {given.attack}" + "\n")
    rows = [
        row
        for row in read_rows(given.results)
        if row["way"] in ways
        and row.get("planner", "") == choose_planner(row["way"], given.planner)
    ]
    sys.stdout.write(render_report(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
