"""The proxy's page shows what was done to each request, as it comes, whoever wrote its words."""

from __future__ import annotations

import json

import aiohttp

from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import Edit, ToolCall
from callwright.proxy.server.app import Observers
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.counters import Counters
from callwright.proxy.server.page import (
    Shown,
    render_front,
    render_page,
    render_row,
)
from callwright.proxy.session.guarding import Guarding
from callwright.proxy.session.record import Led, Record
from callwright.serving.access import Access
from callwright.serving.own_pages import render_login
from tests.browser import (
    CHOOSE,
    CONTRAST,
    LOOKS,
    SHOWN,
    SUMMARY_TOP,
    WIDTH,
    Tab,
    needs_chromium,
    open_tab,
)
from tests.proxy.playbook import JSON, body, whole
from tests.proxy.upstream import Reply, proxy, upstream

NOW = 1_795_498_603


def shown(*records: Record, upstream: str = "http://h/v1", more: str = "") -> Shown:
    counters = Counters(Budget(kept_requests=50))
    for record in records:
        counters.add(record)
    return Shown(counters, upstream, NOW, more)


def test_the_page_shows_raw_parsed_edits_and_sent_escaped() -> None:
    record = Record(
        "1", "/v1/messages", model="<m>", outcome="edited", raw="<script>alert(1)</script>"
    )
    record.parsed, record.sent = (
        (ToolCall("a", "Get", {"x": 1}),),
        (ToolCall("a", "get", {"x": 1}),),
    )
    record.edits.append(Edit("/0/name", "Get", "get", "case"))
    record.notes.append("a note")
    made = render_page([render_row(record, NOW)], shown(record))
    assert made.count("<script>") == 1, "ours"
    assert "&lt;script&gt;alert(1)" in made
    for said in ("Raw", "Parsed", "Edits", "Sent", "a note", "&lt;m&gt;", "http://h/v1", "case"):
        assert said in made


def test_a_page_without_requests_says_so() -> None:
    assert "No request" in render_page([], shown())


def test_the_front_page_says_what_to_enter_where() -> None:
    made = render_front("localhost:8787", "http://h/v1")
    assert "http://localhost:8787/v1" in made
    assert 'href="/callwright"' in made


def test_nothing_of_a_request_becomes_markup_wherever_it_stands() -> None:
    hostile = (
        '"><meta http-equiv=refresh content="0;url=http://evil.example/"><script>alert(1)</script>'
    )
    call = ToolCall(hostile, hostile, {hostile: hostile})
    record = Record(hostile, hostile, model=hostile, outcome="edited", raw=hostile, dialect=hostile)
    record.parsed, record.sent = (call,), (call,)
    record.edits.append(Edit(hostile, hostile, hostile, hostile))
    record.notes.append(hostile)
    record.led = Led((hostile,), (hostile,))
    record.guarding = Guarding("act", [HeldCall(call, hostile, hostile)])
    for made in (
        render_page([render_row(record, NOW)], shown(record, upstream=hostile, more=hostile)),
        render_front(hostile, hostile),
        render_login(hostile, hostile, Access()),
    ):
        assert made.count("<meta") == 4, "ours"
        assert made.count("<script") == ("<main>" in made), "ours, where there are requests"
        assert "default-src 'none'" in made


def test_the_page_shows_what_the_engine_did_and_what_the_guard_held() -> None:
    order = ToolCall("a", "place_order", {"code": "A-100"})
    record = Record("1", "/x", outcome="edited", guided=True)
    record.led = Led(("select", "layers"), ("chosen: place_order", "offered: a > place_order"))
    record.guarding = Guarding("act", [HeldCall(order, "repeated_write", "It was made already.")])
    made = str(render_row(record, NOW))
    for said in (
        "guided: select, layers",
        "guard: act",
        "1 kept back",
        "chosen: place_order",
        "offered: a &gt; place_order",
        "kept back (repeated_write): place_order",
        "It was made already.",
    ):
        assert said in made
    record.guarding = Guarding("report", [HeldCall(order, "repeated_write", "why", is_sent=True)])
    made = str(render_row(record, NOW))
    assert "1 reported" in made
    assert "sent, only reported (repeated_write): place_order" in made
    assert "Guard" not in str(render_row(Record("1", "/x"), NOW))


def test_the_summary_counts_and_a_request_says_how_long_ago_it_was() -> None:
    good = Record("a-1", "/v1/chat/completions", outcome="untouched", seconds=1.5, created=NOW - 65)
    bad = Record("a-2", "/v1/messages", outcome="failed", questions=2, created=NOW - 3)
    made = render_page([render_row(bad, NOW), render_row(good, NOW)], shown(good, bad))
    for said in (
        '<dt>requests</dt><dd class="">2</dd>',
        '<dt>failed</dt><dd class="failed">1</dd>',
        "everything (2)",
        "failures (1)",
        "with questions (1)",
        ">3 s ago<",
        ">1 min ago<",
        'data-kinds="failed question failure"',
    ):
        assert said in made, said


LONG = json.dumps({"city": "P" + "a" * 400 + "ris"})
HERMES = f'<tool_call>\n{{"name": "get_weather", "arguments": {LONG}}}\n</tool_call>'


async def ask(address: str, model: str) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{address}/v1/chat/completions", json=body(False, model=model)) as answer,
    ):
        assert answer.status == 200


async def check_looks(tab: Tab, address: str) -> None:
    """Check the page at two widths in light and dark: nothing overflows, all can be read, and the
    summary stays.
    """
    for width, dark in LOOKS:
        await tab.look(width, dark=dark)
        await tab.open(address)
        await tab.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert await tab.run(WIDTH) <= width, "nothing is wider than the window"
        assert await tab.run(CONTRAST) == []
        await tab.run("scrollTo(0, document.body.scrollHeight)")
        assert await tab.run(SUMMARY_TOP) == 0, "the summary stays in sight"
        assert await tab.run("scrollY") > 100


@needs_chromium
async def test_in_a_browser_new_requests_appear_and_nothing_of_the_reader_s_is_lost() -> None:
    reply = Reply([whole(f"Sure. {HERMES}")], headers=JSON)
    lines: list[str] = []
    async with (
        upstream(lambda asked: reply) as up,
        proxy(up.url, observers=Observers(log=lines.append)) as (address, _),
        open_tab() as tab,
    ):
        for number in range(6):
            await ask(address, f"small-{number}")
        await check_looks(tab, f"{address}/callwright")
        await tab.until("document.getElementById('live').textContent === 'live'")
        await tab.run("document.querySelectorAll('details')[2].open = true")
        first = (await tab.run(SHOWN))[0]
        below = f"document.getElementById('{first}').getBoundingClientRect().top"
        await tab.run("scrollTo(0, 120)")
        top = await tab.run(below)
        await tab.run(CHOOSE % ("", "small"))
        await ask(address, "small-new")
        await ask(address, "other")
        await tab.until("document.querySelectorAll('[data-kinds]').length === 8")
        ids = await tab.run(SHOWN)
        assert len(ids) == 7, "the filter holds for what is new"
        assert ids[1] == first
        assert abs(await tab.run(below) - top) < 2, "what is read stays in its place"
        assert await tab.run("document.querySelectorAll('details')[4].open") is True
        assert await tab.run("document.querySelector('dd').textContent") == "8"
        assert tab.problems == []
    pages = [line for line in lines if line.startswith("GET /callwright ")]
    assert len(pages) == len(LOOKS), "an open page asks every second, and that is not logged"
