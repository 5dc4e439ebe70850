"""Reports the progress of long runs, and adds the option that selects their stages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def print_progress(line: str) -> None:
    """One line of progress, on standard error."""
    sys.stderr.write(line + "\n")


def add_stages(parser: argparse.ArgumentParser, known: Sequence[str]) -> None:
    """The option ``--stages``: some of those known, by comma; all by default."""

    def stages(text: str) -> list[str]:
        found = text.split(",")
        if unknown := [s for s in found if s not in known]:
            raise argparse.ArgumentTypeError(f"no stage {unknown[0]!r}: {', '.join(known)}")
        return found

    parser.add_argument(
        "--stages", type=stages, default=list(known), help=f"by comma: {','.join(known)}"
    )
