"""``import callwright`` beside ``import asyncio`` and what the frameworks load: CPU and memory of fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys

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
    said = subprocess.run([python, "-c", SCRIPT, module], check=True, capture_output=True, text=True).stdout.split()
    return int(said[0]) / 1e6, int(said[1]) * 1024 / 1e6


def table(rounds: int, peers: str | None) -> list[str]:
    """The table of imports, in Markdown. Every process is new; files are in the page cache after the first round."""
    rows = [(sys.executable, ""), (sys.executable, ASYNCIO), (sys.executable, OURS)]
    rows += [(peers, name) for name in ("langgraph.prebuilt", "pydantic_ai")] if peers else []
    found: dict[str, list[tuple[float, float]]] = {name: [] for _, name in rows}
    for turn in range(rounds + 1):
        for python, name in rows:
            seen = fresh(python, name)
            if turn:
                found[name].append(seen)
    lines = ["| import | ms CPU | to asyncio | MB of the process |", "|---|---:|---:|---:|"]
    for _, name in rows:
        spent = [ms for ms, _ in found[name]]
        shared = statistics.median(a / b for a, (b, _) in zip(spent, found[ASYNCIO], strict=True))
        held = statistics.median(mb for _, mb in found[name])
        lines.append(f"| {name or '(nothing)'} | {statistics.median(spent):.1f} | {shared:.2f} | {held:.1f} |")
    return [*lines, ""]
