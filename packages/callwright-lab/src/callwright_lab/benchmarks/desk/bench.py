"""``callwright bench desk``: strategies against each other on the tasks of ``examples/desk``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from callwright_lab.benchmarks.comparison.comparison import build_parser, compare_strategies
from callwright_lab.benchmarks.desk.tasks import load_desk


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the tables."""
    known = build_parser(
        "desk", (__doc__ or "").partition(": ")[2], Path("runs/desk/results.jsonl")
    )
    known.add_argument(
        "--desk", type=Path, default=None, help="the folder examples/desk, where it is not found"
    )
    options = known.parse_args(arguments)
    return compare_strategies(options, lambda: load_desk(options.desk))


if __name__ == "__main__":
    sys.exit(main())
