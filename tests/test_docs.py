"""Every Python block of the README and the docs runs, and every file they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_python_in_the_docs_runs(block: str, tmp_path: Path) -> None:
    """As a module of its own: tools read their annotations from where they are defined."""
    import importlib.util

    path = tmp_path / "example.py"
    path.write_text(block, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("example", path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith(("http://", "https://")) or (page.parent / target).exists(), target


def test_every_file_that_the_paper_map_names_exists() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)+[\w.]*)`", text):
        roots = (ROOT, ROOT / "src" / "callwright")
        assert any((root / name).exists() for root in roots), name
