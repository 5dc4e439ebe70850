"""``python benchmarks/speed/run.py [TABLE …]``: CPU time beside others', in Markdown."""

from __future__ import annotations

import argparse
import importlib
import platform
import sys

from side import python_of_peers

TABLES = {
    "engine": "engine",
    "gate": "gate",
    "import": "imports",
    "plan": "plan",
    "dag": "dag",
    "retrieval": "retrieval",
}
USUAL = ["engine", "gate", "import", "plan", "dag"]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "tables",
        nargs="*",
        choices=[[], *TABLES],
        default=USUAL,
        help=f"default: {' '.join(USUAL)}",
    )
    asked.add_argument("--rounds", type=int, default=21, help="(default: %(default)s)")
    asked.add_argument(
        "--alone", action="store_true", help="without the peers, and without installing them"
    )
    given = asked.parse_args()
    peers = None if given.alone else python_of_peers()
    sys.stdout.write(
        f"Python {platform.python_version()}, {platform.machine()}, {given.rounds} rounds\n\n"
    )
    for name in given.tables:
        lines = importlib.import_module(TABLES[name]).table(given.rounds, peers)
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
