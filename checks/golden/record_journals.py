"""Record the journals of today's code, for tests that continue them with later code.

Usage, from the root of the repository::

    PYTHONPATH=src:. python -P -m golden.record_journals [SCENARIO ...]

A recording is stored as ``journals/GENERATION/SCENARIO.jsonl``: the version of the package, and the
last change of what a run asks. Scenarios whose questions stayed as they were need no new one.
A journal that is stored already is not replaced: what earlier code wrote stays as evidence.
Delete the file first, if the recording itself was wrong.
Times and names of runs differ in every recording.

A new scenario stands in ``scenarios.py``, and the tools that it calls in ``world.py``. The texts of
prompts are part of a recording. So the first recording of a scenario is made before a change.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from golden import journals, names
from golden.scenarios import SCENARIOS, Scenario
from golden.world import World


class Killed(BaseException):
    """The end of the process, as far as one process can stage it."""


def killer(kind: str) -> Any:
    """Return a sink that ends the process at the first event of a kind."""

    def sink(event: Any) -> None:
        if event.kind == kind:
            raise Killed

    return sink


def record(name: str, scenario: Scenario) -> journals.Stored:
    """Run a scenario and return its journal."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CALLWRIGHT_TRUST"] = f"{folder}/trust"
        runs, world = Path(folder) / "runs", World(scenario.unstable)
        done = asyncio.run(_whole(scenario, world, runs))
        (path,) = names.journals(runs)
        outcome = {"scenario": name, "run": done.id, "sent": world.sent, **outcome_of(done)}
        return journals.stored_from(path, outcome)


async def _whole(scenario: Scenario, world: World, runs: Path) -> names.Run:
    script = scenario.script
    options = {"journal": runs, "approve": scenario.approve}
    if not scenario.killed_at:
        return await scenario.setup(world, script, **options).run(scenario.query)
    try:
        ending = (killer(scenario.killed_at),)
        await scenario.setup(world, script, sinks=ending, **options).run(scenario.query)
    except BaseExceptionGroup as ended:
        if ended.split(Killed)[1] is not None:
            raise
    (path,) = names.journals(runs)
    _, events = names.read_journal(path)
    for doubt in [e.data for e in events if e.kind == "intent"]:
        names.resolve_call(str(path), doubt["id"], not_done=True)
    answered = sum(e.kind == "model" and e.data["purpose"] == "bind" for e in events)
    left = {**script, "bind": script["bind"][answered:]}
    return await scenario.setup(world, left, **options).resume(path)


def outcome_of(run: names.Run) -> dict[str, Any]:
    """Return what a run came to, as JSON: what a resume must come to as well."""
    told = run.to_dict()
    results = [[r["id"], r["tool"], r["arguments"], r["content"]] for r in told["results"]]
    skips = [[s["tool"], s["reason"], s["refused"]] for s in told["skips"]]
    return {
        "status": run.status,
        "answer": run.answer.text,
        "results": results,
        "skips": skips,
        "in_doubt": list(run.in_doubt),
        "limit": run.limit,
    }


def main(wanted: list[str]) -> None:
    """Record what is wanted and not there yet."""
    os.chdir("/")  # journals name the folder that a run was started in
    for name in wanted or SCENARIOS:
        path = journals.FOLDER / journals.GENERATION / f"{name}.jsonl"
        if path.exists():
            continue
        stored = record(name, SCENARIOS[name])
        journals.save(stored, path)
        sys.stdout.write(f"{path.name}: {len(stored.rows)} events, {stored.outcome['status']}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
