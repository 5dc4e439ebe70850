"""Every Python block of the README and the docs runs, and every file they name exists."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1
    )
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


def undefined(blocks: list[str]) -> list[str]:
    """Names that blocks of Python use and neither they nor those before them, nor Python,
    define.
    """
    known, unknown = {*dir(builtins)}, []
    for block in blocks:
        tree = compile(block, "block", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                known.add(node.id)
            elif isinstance(node, ast.alias):
                known.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                known.add(node.name)
        names = [
            n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        ]
        unknown += [name for name in names if name not in known]
    return unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_no_example_uses_a_name_that_nothing_on_its_page_defines(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert undefined(blocks) == []


def test_a_name_that_nothing_defines_is_found() -> None:
    first, second = (
        "import a.b as c\ndef f(x):\n    return c, x, y",
        "z = [i for i in f(1)]\nawait later()",
    )
    assert undefined([first, second]) == ["y", "later"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith(("http://", "https://")) or (page.parent / target).exists(), target


def test_every_file_that_the_paper_map_names_exists() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)+[\w.]*)`", text):
        roots = (
            ROOT,
            ROOT / "packages" / "callwright" / "src" / "callwright",
            ROOT / "packages" / "callwright-lab" / "src",
        )
        assert any((root / name).exists() for root in roots), name


PLAIN_PAGES = ("concepts",)
MOST_WORDS = 25


def list_sentences(page: str) -> list[str]:
    """The sentences of a page in Markdown, those of list items and of cells of tables too."""
    text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\. ))|\s\|\s", text)
    return [
        " ".join(sentence.split())
        for block in blocks
        for sentence in re.split(r"(?<=[.:;?!])\s+(?=\W*[A-Z`])", block)
    ]


@pytest.mark.parametrize("name", PLAIN_PAGES)
def test_a_sentence_has_at_most_25_words(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    words = {one: len(re.findall(r"[^\W_][\w'-]*", one)) for one in list_sentences(page)}
    assert not [one for one, count in words.items() if count > MOST_WORDS]


def test_sentences_are_told_apart() -> None:
    page = "# A\n\nOne two. Three:\n\n- four (`a.b`)\n- five\n\n| six | seven. Eight |\n"
    assert [re.sub(r"^\W+|\W+$", "", one) for one in list_sentences(page) if one.strip(" |")] == [
        "A", "One two", "Three", "four (`a.b", "five", "six", "seven", "Eight",
    ]  # fmt: skip


RETIRED = re.compile(
    r"\b(?:un)?mend(?:s|ed|ing|able)?\b|\banew\b|\bstands? in for\b", re.IGNORECASE
)
LOGS = {"lab.md", "lab-answer.md", "lab-calls.md"}  # a record stays as it was written


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in LOGS], ids=lambda p: p.name)
def test_no_page_uses_a_retired_word(page: Path) -> None:
    """Names in code, which may be stored, are exempt."""
    prose = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    assert not RETIRED.findall(prose)
