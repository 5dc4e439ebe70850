"""``import callwright`` beside ``import asyncio`` and what the frameworks load: CPU and memory of
fresh processes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from timing import ratio

SCRIPT = """
import sys, time
began = time.process_time_ns()
if sys.argv[1]:
    __import__(sys.argv[1])
spent = time.process_time_ns() - began
with open("/proc/self/status") as status:
    held = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print(spent, held)
"""
ASYNCIO, OURS = "asyncio", "callwright"


def fresh(python: str, module: str) -> tuple[float, float]:
    """(milliseconds of CPU for the import alone, MB of the process at its largest)."""
    said = subprocess.run(
        [python, "-c", SCRIPT, module], check=True, capture_output=True, text=True
    ).stdout.split()
    return int(said[0]) / 1e6, int(said[1]) * 1024 / 1e6


def table(rounds: int, peers: str | None) -> list[str]:
    """The table of imports, in Markdown. Every process is new; files are in the page cache after
    the first round.
    """
    rows = [(sys.executable, ""), (sys.executable, ASYNCIO), (sys.executable, OURS)]
    rows += [(peers, name) for name in ("langgraph.prebuilt", "pydantic_ai")] if peers else []
    spent: dict[str, list[float]] = {name: [] for _, name in rows}
    held: dict[str, list[float]] = {name: [] for _, name in rows}
    for turn in range(rounds + 1):
        for python, name in rows:
            ms, mb = fresh(python, name)
            if turn:
                spent[name].append(ms)
                held[name].append(mb)
    lines = ["| import | ms CPU | to asyncio | MB of the process |", "|---|---:|---:|---:|"]
    for _, name in rows:
        middle, size = statistics.median(spent[name]), statistics.median(held[name])
        lines.append(
            f"| {name or '(nothing)'} | {middle:.1f} | {ratio(spent, name, ASYNCIO):.2f} |"
            f" {size:.1f} |"
        )
    return [*lines, ""]
