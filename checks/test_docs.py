"""The README and the docs: their Python runs, their links lead somewhere, generated pages are current,
and no page is longer or harder to read than it may be.
"""

from __future__ import annotations

import ast
import builtins
import pydoc
import re
from pathlib import Path

import pytest
import yaml

import callwright
import draw_pictures
import write_cli_pages
from callwright import tools
from callwright.nouns.model_profile import load_profiles
from docs_site import OUTSIDE, list_pages, rewrite_links

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
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


def list_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.append(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return {
        name if not found[:at].count(name) else f"{name}-{found[:at].count(name)}"
        for at, name in enumerate(found)
    }


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / name for name in OUTSIDE)], ids=lambda p: p.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
        if target.startswith(("http://", "https://")):
            continue
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), target
        if anchor and place.suffix == ".md":
            assert anchor[1:] in list_anchors(place), target + anchor


def test_the_site_shows_every_page_and_leads_to_no_other() -> None:
    def names(part: object) -> list[str]:
        if isinstance(part, dict | list):
            below = part.values() if isinstance(part, dict) else part
            return [name for one in below for name in names(one)]
        return [str(part)]

    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(names(settings["nav"])) == sorted(list_pages().values())


def test_links_out_of_the_docs_become_those_of_the_site() -> None:
    text = "[a](../SECURITY.md#x), [b](../examples/desk), [c](cli.md), [d](https://x.org)\n```\n[e](../y)\n```"
    assert rewrite_links(text, "docs/index.md", "index.md") == (
        "[a](security.md#x), b, [c](cli.md), [d](https://x.org)\n```\n[e](../y)\n```"
    )
    assert rewrite_links("[a](docs/cli/run.md)", "SECURITY.md", "security.md") == "[a](cli/run.md)"


def test_bars_in_code_are_those_of_the_sites_tables() -> None:
    row = r"| `<\|call\|>` | one \| two, `a`, three \| four, `b` |"
    assert rewrite_links(row, "docs/a.md", "a.md") == (
        r"| `<|call|>` | one \| two, `a`, three \| four, `b` |"
    )
    entities = [page.name for page in PAGES if "&#124;" in page.read_text(encoding="utf-8")]
    assert not entities, "an entity in code is shown as it is written"


def test_the_pages_of_the_command_line_are_what_its_parsers_say() -> None:
    stale = write_cli_pages.list_stale(write_cli_pages.write_pages(["train"]))
    assert stale == ["train.md"], "run python checks/write_cli_pages.py"


def test_the_page_of_the_training_commands_is_what_their_parsers_say() -> None:
    pytest.importorskip("torch", reason="extra 'train' is not installed")
    stale = write_cli_pages.list_stale(write_cli_pages.write_pages())
    assert not stale, "run python checks/write_cli_pages.py"


def test_the_pictures_show_what_the_proxy_and_a_run_do() -> None:
    stale = draw_pictures.list_stale(draw_pictures.draw_pictures())
    assert not stale, "run python checks/draw_pictures.py"


def test_every_name_that_is_exported_stands_on_the_page_of_the_python_interface() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    assert not [name for name in named if pydoc.locate(name) is None]
    missing = {*callwright.__all__, *tools.__all__} - {name.rpartition(".")[2] for name in named}
    assert not sorted(missing)


def test_every_file_that_the_paper_map_names_exists() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)+[\w.]*)`", text):
        roots = (
            ROOT,
            ROOT / "packages" / "callwright" / "src" / "callwright",
            ROOT / "packages" / "callwright-lab" / "src",
        )
        assert any((root / name).exists() for root in roots), name


# Pages of research are records: they stay as they were written. Pages of commands have the words of
# the parsers.
RESEARCH = {
    DOCS / f"{name}.md"
    for name in (
        "lab",
        "lab-answer",
        "lab-calls",
        "lab-parts",
        "benchmarks",
        "papers",
        "results",
        "design",
        "releasing",
    )
} | {*(DOCS / "decisions").rglob("*.md"), DOCS / "cli" / "bench.md"}
GENERATED = set((DOCS / "cli").rglob("*.md"))
GUIDES = [
    page for page in PAGES if page not in RESEARCH | GENERATED and page.name != "CONTRIBUTING.md"
]
RULES = re.compile(r"<!-- rules: begin -->.*<!-- rules: end -->", re.DOTALL)  # of the registry
MOST_WORDS = 25
# 1,430 of them are the gateway's three pages, 190 what trains on which card, and adapters, 180 model
# profiles, 250 a refiner behind three commands, and its harm bound, 60 effects that a model proposes
README_WORDS, GUIDE_WORDS = 700, 28_000  # of which the table of all rules is 2,256


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


def read_prose(page: Path) -> str:
    """The text of a page without the lines that the site fills in from docstrings."""
    return re.sub(r"^::: .*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_readme_and_the_guides_can_be_finished() -> None:
    counts = {page: len(read_prose(page).split()) for page in GUIDES}
    assert counts.pop(ROOT / "README.md") <= README_WORDS
    assert sum(counts.values()) <= GUIDE_WORDS, counts


@pytest.mark.parametrize("path", GUIDES, ids=lambda p: p.name)
def test_a_sentence_has_at_most_25_words(path: Path) -> None:
    page = RULES.sub("", read_prose(path))
    words = {one: len(re.findall(r"[^\W_][\w'-]*", one)) for one in list_sentences(page)}
    assert not [one for one, count in words.items() if count > MOST_WORDS]


def test_the_table_of_model_profiles_has_the_numbers_of_the_data() -> None:
    page = (DOCS / "models.md").read_text(encoding="utf-8")
    for name, one in load_profiles().items():
        needs = f"{one.context:,} tokens, {one.parameters:g}B" if one.context else ""
        cells = [needs, f"{one.description_chars}, {one.parameter_chars}", one.listed_tools]
        cells += [one.layer_calls, one.result_chars, one.reply_tokens, one.answer_tokens]
        told = [cell if isinstance(cell, str) else f"{cell:,}" for cell in cells]
        assert " ".join(f"| `{name}` | {' | '.join(told)} |".split()) in page


def test_sentences_are_told_apart() -> None:
    page = "# A\n\nOne two. Three:\n\n- four (`a.b`)\n- five\n\n| six | seven. Eight |\n"
    assert [re.sub(r"^\W+|\W+$", "", one) for one in list_sentences(page) if one.strip(" |")] == [
        "A", "One two", "Three", "four (`a.b", "five", "six", "seven", "Eight",
    ]  # fmt: skip


RETIRED = re.compile(
    r"\b(?:un)?mend(?:s|ed|ing|able)?\b|\banew\b|\bstands? in for\b", re.IGNORECASE
)
LOGS = {"lab.md", "lab-answer.md", "lab-calls.md"}


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in LOGS], ids=lambda p: p.name)
def test_no_page_uses_a_retired_word(page: Path) -> None:
    """Names in code, which may be stored, are exempt."""
    prose = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    assert not RETIRED.findall(prose)
