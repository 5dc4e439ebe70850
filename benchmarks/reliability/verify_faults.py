"""Does ``verify apis`` find what is wrong with the documentation of a server, where that is known?

For every fault of the desk's tasks (examples/desk/tasks.json) the whole desk is verified with that
one fault in front of one tool, without a model: what is found of that tool, and whether any other
tool is said to have drifted.

    python benchmarks/reliability/verify_faults.py
"""

from __future__ import annotations

import asyncio
import sys
from datetime import date
from pathlib import Path

from callwright.jsontext import parse
from callwright.tools.catalog import open_catalog
from callwright_lab.verify.apis import ApiVerifier, Watch
from callwright_lab.verify.sweep import Journal, run_sweep

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.append(str(EXAMPLES))
from desk.faults import Fault, FaultyDesk  # noqa: E402

TASKS = EXAMPLES / "desk" / "tasks.json"
LEARNED = ("enum", "pattern", "minimum", "maximum", "type", "description")


async def found(fault: Fault) -> str:
    """One line: the fault, the finding, the drift, what was learned, and other tools that
    drifted.
    """
    async with open_catalog([FaultyDesk([fault])]) as catalog:
        verifier = ApiVerifier(catalog.tools, catalog.call, Watch(today=date(2026, 11, 22)))
        made = await run_sweep(
            verifier.rows(), verifier.judge, Journal(None, {}), levels=verifier.levels
        )
    by_id = {one.id: one for one in made.findings}
    finding = by_id.pop(fault.tool)
    by_id.pop(fault.to, None)
    learned = [
        f"{c['key']}.{c['change']}" for c in finding.found["changes"] if c["change"] in LEARNED
    ]
    drift = [line.partition(": ")[0] for line in finding.found["drift"]]
    others = [name for name, one in by_id.items() if one.found["drift"]]
    return f"| {fault.kind} | {fault.tool} | {finding.category} | {drift} | {learned} | {others} |"


async def main() -> None:
    print(
        "| fault | tool | finding | drift | learned | others that drifted"
        " |\n|---|---|---|---|---|---|"
    )
    for task in parse(TASKS.read_bytes()):
        for row in task.get("faults", ()):
            print(await found(Fault.from_row(row)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
