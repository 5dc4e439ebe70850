"""Reports the progress of long runs."""

from __future__ import annotations

import sys


def print_progress(line: str) -> None:
    """One line of progress, on standard error."""
    sys.stderr.write(line + "\n")
