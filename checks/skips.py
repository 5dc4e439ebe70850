"""Print the skips of a pytest run and fail on one that checks/expected_skips.txt does not list.

    python3 checks/skips.py PYTEST_OUTPUT EXPECTED

A line of the expected file is the beginning of a skip's reason; `#` opens a comment.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SKIP = re.compile(r"^SKIPPED \[(\d+)\] (\S+?):\d*:? (.*)$")


def main(output: str, expected: str) -> int:
    wanted = [line.strip() for line in Path(expected).read_text().splitlines()]
    wanted = [line for line in wanted if line and not line.startswith("#")]
    unexpected = 0
    for line in Path(output).read_text(errors="replace").splitlines():
        if not (found := SKIP.match(line)):
            continue
        reason = found[3].removeprefix("Skipped: ")
        known = any(reason.startswith(start) for start in wanted)
        unexpected += not known
        print(f"{'expected' if known else 'UNEXPECTED'} skip x{found[1]} {found[2]}: {reason}")
    if unexpected:
        print(f"{unexpected} skips are not listed in {expected}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:3]))
