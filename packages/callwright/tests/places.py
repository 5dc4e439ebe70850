"""Folders that tests read: of this repository, and of the data sets beside it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
SUITE = Path(__file__).resolve().parent / "suite"
DATA = Path(os.environ.get("CALLWRIGHT_DATA") or ROOT.parent / "shared" / "data")
