"""The environment of the peers: made once, in the cache folder, from ``peers.txt``; made anew when
that changes.
"""

from __future__ import annotations

from pathlib import Path

from callwright_lab.benchmarks.comparison.side import side_python

WANTED = Path(__file__).with_name("peers.txt")


def python_of_peers() -> str:
    """The Python that has the peers. The first time this takes a minute, and a package index."""
    lines = (
        line.partition("#")[0].strip() for line in WANTED.read_text(encoding="utf-8").splitlines()
    )
    return str(side_python("speed-peers", [line for line in lines if line]))
