"""Syntax trees of whole packages. All of ours are a million objects, so who reads them lets them go
again.
"""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def parse_modules(folder: Path) -> dict[Path, ast.Module]:
    """Return the tree of every module below a folder. A tree holds no garbage: while they are made,
    the collector does not look for any in them again and again.
    """
    paths = sorted(folder.rglob("*.py"))
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    finally:
        gc.enable()
