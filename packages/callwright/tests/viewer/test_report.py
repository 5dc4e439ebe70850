"""A report's page tells every row, whoever wrote its words, with the script and without, few rows
and many.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from callwright.viewer import (
    Bar,
    Bars,
    Change,
    Changes,
    Item,
    Lines,
    Report,
    Table,
    render_report_page,
)
from callwright.viewer.report import EVIDENCE, ROWS
from tests.browser import CONTRAST, LOOKS, WIDTH, needs_chromium, open_tab

HOSTILE = (
    "</pre></td></script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e"
)


class Page(HTMLParser):
    """The tags of a page, its links, and whether every element that was opened is closed where it
    must be.
    """

    void = frozenset({"meta", "input", "rect"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attributes]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.void or self.open.pop() == tag


def report(text: str = "Oslo", items: int = 3) -> Report:
    evidence = (Lines(text, text), Table(text, [text, ""], [[text, text]], text))
    shown = (
        Changes(
            text, [Change(text, text, f"{text} and more", text), Change("b", None, text)], text
        ),
    )
    rows = [
        Item(f"{text} {n}", n % 2 == 0, "" if n % 2 == 0 else text, text, evidence, shown)
        for n in range(items)
    ]
    parts = [
        Bars(text, text, [Bar(text, 3, "ok", text, 0), Bar("none", 0)], 3, text),
        Bars("empty", "x", [], 0),
    ]
    return Report(text, {text: text}, parts, rows, text)


def test_every_row_stands_there_with_its_verdict_reason_and_evidence() -> None:
    html = render_report_page(report())
    page = Page(html)
    assert page.open == []
    assert page.tags.count("tbody") == 2 + 3 * 3, (
        "of both tables, and of every row with its own two"
    )
    assert html.count('data-verdict="kept"') == 2
    assert html.count('data-verdict="dropped"') == 1
    assert "<del>" not in html, "what both versions say is not marked"
    assert "Oslo<ins> and more</ins>" in html
    assert 'href="#row-0">Oslo</a>' in html
    assert "100.0%" in html


def test_tables_have_heads_and_what_can_be_used_has_a_name() -> None:
    html = render_report_page(report())
    assert html.count("<table") == html.count("<thead>")
    assert not re.search(r"<tbody[^>]*><tr><td>(?!<span class=\"tag)", html), (
        "rows begin with what they are of"
    )
    assert html.count("<label>") == len(re.findall("<select|<input", html))
    headings = [int(level) for level in re.findall(r"<h(\d)>", html)]
    assert headings[0] == 1
    assert headings.count(1) == 1


@pytest.mark.parametrize("text", [HOSTILE, "\x00\ud800", "]]>", "<!--", "' onfocus='x"])
def test_nothing_that_tools_say_becomes_markup(text: str) -> None:
    page = Page(render_report_page(report(text)))
    assert page.tags.count("script") == 1, "ours"
    assert not {"img", "iframe", "link", "object"} & set(page.tags)
    assert all(value.startswith("#") for key, value in page.attributes if key in ("href", "src"))
    assert not any(key.startswith("on") for key, _ in page.attributes)


def test_more_rows_or_evidence_than_a_page_takes_are_left_out_and_that_is_said() -> None:
    rows = [Item(f"row {n}", True, "", "") for n in range(ROWS + 5)]
    html = render_report_page(Report("r", {}, [], rows))
    assert html.count("<tbody id=") == ROWS
    assert f"The first {ROWS:,} of {ROWS + 5:,} rows are listed" in html
    lines = [Lines("all", "x" * 20_000)] * (EVIDENCE // 50_000)
    large = [Item(f"row {n}", True, "", "why", lines) for n in range(5)]
    html = render_report_page(Report("r", {}, [], large))
    assert html.count("<td>why</td>") == 5
    assert "The evidence of 3 rows would make the page too large" in html


@pytest.mark.skipif(
    not (shutil.which("chromium") or shutil.which("google-chrome")),
    reason="no headless Chromium on this machine",
)
def test_in_a_browser_a_hundred_rows_are_shown_and_a_link_leads_to_any(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser is not None
    source = tmp_path / "report.html"
    source.write_text(render_report_page(report(items=250)), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command = [
        browser,
        *flags,
        f"--user-data-dir={tmp_path}/profile",
        "--dump-dom",
        f"{source.as_uri()}#row-203",
    ]
    html = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert "201 to 250 of 250 rows" in html
    bodies = re.findall(r'<tbody id="row-(\d+)"([^>]*)>', html)
    assert [int(n) for n, rest in bodies if "hidden" not in rest] == list(range(200, 250))
    assert re.search(r'<form class="filter" id="filter">', html), (
        "the controls are there where the script runs"
    )
    assert html.count("<details open") == 1, "the row that was asked for shows its evidence"


@needs_chromium
async def test_in_a_browser_the_report_fits_and_can_be_read_in_four_looks(tmp_path: Path) -> None:
    source = tmp_path / "report.html"
    source.write_text(render_report_page(report("Oslo " * 40)), encoding="utf-8")
    heights = "[...document.querySelectorAll('table')].map((one) => one.clientHeight)"
    async with open_tab() as tab:
        for width, dark in LOOKS:
            await tab.look(width, dark=dark)
            await tab.open(source.as_uri())
            assert await tab.run(WIDTH) <= width, "nothing is wider than the window"
            assert await tab.run(CONTRAST) == []
            assert min(await tab.run(heights)) > 20, "no table is cut off"
        assert tab.problems == []
