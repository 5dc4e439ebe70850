"""A small suite in the shape of AgentDojo's packages, for tests that must not need the real one."""

from __future__ import annotations

import sys
from pathlib import Path


def interpreter(folder: Path) -> Path:
    """A Python that has the invented suite in the place of AgentDojo, also when told to see no
    folders of ours.
    """
    made = folder / "python"
    here = str(Path(__file__).parent)
    seen = f"import runpy, sys; sys.path.insert(0, {here!r}); sys.argv = sys.argv[2:]"
    start = f"{seen}; runpy.run_path(sys.argv[0], None, '__main__')"
    made.write_text(f'#!/bin/sh\nexec {sys.executable} -I -c "{start}" "$@"\n', encoding="utf-8")
    made.chmod(0o755)
    return made
