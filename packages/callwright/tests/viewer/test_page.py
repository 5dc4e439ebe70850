"""The run page shows the plan and every call raw, edited and executed; nothing in a run can break
out of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import Failure, Violation
from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event, Trace
from callwright.nouns.types import (
    Answer,
    Citation,
    Edit,
    Skip,
    Statement,
    Tool,
    ToolResult,
    to_json,
)
from callwright.viewer import page
from tests.browser import (
    CHOOSE,
    CONTRAST,
    LOOKS,
    SHOWN,
    SUMMARY_TOP,
    WIDTH,
    needs_chromium,
    open_tab,
)

HOSTILE = "</pre><script>alert('x')</script><img src=x onerror=alert(1)>\"'&"


def run_events(text: str = "Oslo") -> list[Event]:
    """A small run with everything in it: an edit, a refusal, a failure, a skip, a cut reply."""
    trace = Trace()
    plan = Plan.from_layers([["find_airport", text], ["distance"]])
    trace.add(
        "run.start",
        query=f"How far is {text}?",
        tools=[Tool("find_airport", text)],
        model="m",
        strategy="layered",
    )
    slots = [{**to_json(s), "reason": "needs the code"} for s in plan.slots]
    trace.add(
        "plan",
        planner="p",
        revision=0,
        slots=slots,
        edges=plan.edges,
        layers=[[s.id for s in x] for x in plan.layers],
    )
    trace.add("layer", index=1, total=2, slots=["find_airport", text])
    trace.add(
        "model",
        purpose="bind",
        mode="text",
        prompt=trace.blob(f"the prompt {text}"),
        reply=trace.blob("the reply"),
        usage={"prompt_tokens": 5, "completion_tokens": 2},
        seconds=0.5,
        discarded=f"Human: {text}",
    )
    trace.add(
        "call.raw", id="r1", tool="find_airport", arguments='{"city": "Oslo",}', slot="find_airport"
    )
    trace.add(
        "call.checked",
        id="r1",
        arguments={"city": text},
        edits=[Edit("/city", text, "Oslo", "enum_case")],
    )
    trace.add(
        "result",
        **to_json(
            ToolResult("r1", "find_airport", {"city": text}, {"iata": text}, slot="find_airport")
        ),
    )
    trace.add("skip", **to_json(Skip(text, "not needed", text)))
    trace.add("layer", index=2, total=2, slots=["distance"])
    trace.add("call.raw", id="r2", tool="distance", arguments={}, slot="distance")
    trace.add(
        "call.refused",
        id="r2",
        violations=[Violation("schema", f"missing {text}").to_dict()],
        edits=[],
    )
    failed = ToolResult(
        "r2", "distance", {"a": 1}, failure=Failure("timeout", text), slot="distance"
    )
    trace.add("result", **to_json(failed))
    statement = Statement(f"{text} is far.", "supported", (Citation("r1", text),), (text,))
    trace.add("answer", **to_json(Answer(f"{text} is far.", (statement,), (text,))))
    trace.add(
        "run.end", status="answered", limit="", cost={"seconds": 1.0, "usage": {}, "repairs": {}}
    )
    return trace.events


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [
            value or ""
            for key, value in attributes
            if key in ("href", "src") or key.startswith("on")
        ]


def test_the_page_shows_raw_edited_executed_and_what_came_back() -> None:
    html = page(run_events())
    for part in (
        "{&quot;city&quot;: &quot;Oslo&quot;,}",
        "enum_case",
        "missing Oslo",
        "timeout",
        "not needed",
        "Layer 2 of 2",
    ):
        assert part in html
    assert 'href="#r1"' in html
    assert "the prompt Oslo" in html
    assert "Cut off and discarded" in html


def test_the_page_says_which_results_no_longer_count_and_who_let_a_call_leave() -> None:
    trace = Trace()
    trace.add("call.raw", id="r1", tool="send", arguments={"to": HOSTILE})
    asked = {
        "id": "r1",
        "why": "it may write",
        "origins": {"/to": f"r0 of {HOSTILE}"},
        "granted": False,
        "by": "user",
    }
    trace.add("approval", tool="send", arguments={}, **asked)
    trace.add("stale", results=["r1"], by="r2", reason=HOSTILE, written=[])
    html = page(trace.events)
    assert ">stale</span>" in html
    assert "it may write; user: not allowed" in html
    assert "/to is not in the request: from r0 of" in html
    assert HOSTILE not in html


@pytest.mark.parametrize("text", [HOSTILE, "\x00\ud800", "]]>", "<!--"])
def test_nothing_from_a_run_becomes_markup(text: str) -> None:
    tags = _Tags()
    tags.feed(page(run_events(text)))
    assert tags.tags.count("script") == 1, "ours"
    assert not {"img", "iframe", "link"} & set(tags.tags)
    assert all(link.startswith("#") for link in tags.links)


MARKUP = (
    '"><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/"><img src=x onerror=alert(1)>\'`'
)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in inner:
        yield from _places(part, (*at, key))


def _put(value: Any, at: tuple[Any, ...], other: Any) -> Any:
    if not at:
        return other
    if isinstance(value, dict):
        return {k: _put(v, at[1:], other) if k == at[0] else v for k, v in value.items()}
    return [_put(v, at[1:], other) if n == at[0] else v for n, v in enumerate(value)]


def test_no_place_of_a_trace_lets_markup_through_or_a_number_stand_unescaped() -> None:
    events, drawn = run_events(), 0
    for number, event in enumerate(events):
        data = json.loads(json.dumps(to_json(event.data)))
        for at in _places(data):
            changed = [*events]
            changed[number] = Event(
                event.kind, event.seq, event.at, _put(data, at, MARKUP if at else {"x": MARKUP})
            )
            try:
                html = page(changed)
            except (
                TypeError,
                KeyError,
                AttributeError,
                ValueError,
            ):  # a text where an object has to be: no trace
                continue
            drawn += 1
            tags = _Tags()
            tags.feed(html)
            assert tags.tags.count("meta") == 4, (event.kind, at)
            assert "img" not in tags.tags, (event.kind, at)
            assert tags.tags.count("script") == 1, (event.kind, at)
    assert drawn > 100


@given(st.integers(0, 14))
def test_a_trace_cut_short_anywhere_still_gives_a_page(keep: int) -> None:
    assert "<h1>" in page(run_events()[:keep])


def timed_events() -> list[Event]:
    """A run of four seconds: a question, two calls at one time, a repair, a retry, a held call and
    the answer.
    """
    now = [0.0]
    trace = Trace(clock=lambda: now[0])

    def add(at: float, kind: str, **data: Any) -> None:
        now[0] = at
        trace.add(kind, **data)

    def ask(at: float, purpose: str, seconds: float) -> None:
        now[0] = at
        texts = {"prompt": trace.blob(f"prompt of {purpose}"), "reply": trace.blob("{}")}
        add(at, "model", purpose=purpose, mode="schema", seconds=seconds, **texts)

    def give(
        at: float, id_: str, tool: str, seconds: float, failure: Failure | None = None
    ) -> None:
        made = ToolResult(id_, tool, {}, "x" * 900, failure, slot=tool, seconds=seconds)
        add(at, "result", **to_json(made))

    plan = Plan.from_layers([["find_airport", "holidays"], ["book"]])
    add(0, "run.start", query="How far? " * 9, tools=[], model="m", began=1_795_498_603.0)
    layers = [[slot.id for slot in layer] for layer in plan.layers]
    add(0, "plan", slots=to_json(plan.slots), edges=plan.edges, layers=layers)
    add(0, "layer", index=1, total=2, slots=["find_airport", "holidays"])
    ask(1, "bind", 1.0)
    for number, tool in enumerate(("find_airport", "holidays"), 1):
        add(1, "call.raw", id=f"r{number}", tool=tool, arguments={"a": "b" * 300}, slot=tool)
        edits = [Edit("/a", 1, 2, "case")] if number == 1 else []
        add(1, "call.checked", id=f"r{number}", arguments={}, edits=edits)
    give(1.5, "r1", "find_airport", 0.5)
    give(2, "r2", "holidays", 1.0, Failure("timeout", "it took too long"))
    ask(2.5, "repair", 0.5)
    give(3, "r2", "holidays", 0.5, Failure("timeout", "again"))
    add(3, "layer", index=2, total=2, slots=["book"])
    add(3, "call.raw", id="r3", tool="book", arguments={}, slot="book")
    asked = {"why": "it may write", "origins": {}, "granted": False, "by": "nobody"}
    add(3, "approval", id="r3", tool="book", arguments={}, **asked)
    ask(4, "answer", 1.0)
    add(4, "answer", **to_json(Answer("It is far.\nVery far.", (), ())))
    add(4, "run.end", status="partial", limit="", cost={"seconds": 4.0})
    return trace.events


PARTS = ("everything", "calls (3)", "questions (3)", "repairs (2)", "failures (1)", "held")


def test_the_summary_says_how_it_ended_what_it_took_and_what_failed() -> None:
    html = page(timed_events())
    summary = html[html.index('id="summary"') : html.index("<main>")]
    for said in (*PARTS, ">partial<", ">It is far.<", "#r2", "timeout", '<dd class="">4.0</dd>'):
        assert said in summary, said
    assert "2026-11-24" in html[: html.index("<main>")], "the date on which it began"


def test_each_kind_of_repair_that_there_was_has_a_figure_of_its_own() -> None:
    events = run_events()[:-1]
    cost = {"seconds": 1.0, "usage": {}, "repairs": {"tier1": 2, "tier2": 0, "repeat": 3}}
    trace = Trace()
    trace.add("run.end", status="answered", limit="", cost=cost)
    text = page([*events, *trace.events])
    assert '<dt>edits</dt><dd class="">2</dd>' in text
    assert '<dt>repeats</dt><dd class="">3</dd>' in text
    assert "<dt>repairs</dt>" not in text


def test_a_trace_without_times_still_lists_its_questions_and_calls() -> None:
    events = [Event(e.kind, e.seq, 0.0, {**e.data, "seconds": None}) for e in timed_events()]
    html = page(events)
    assert "This trace holds no times" in html
    assert 'href="#r1"' in html
    assert "<rect" in html, "of the plan"
    assert 'class="spans"' not in html


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -5.0, 1e300])
def test_times_that_are_none_draw_nothing_outside(odd: float) -> None:
    events = timed_events()
    for number, event in enumerate(events):
        changed = [*events]
        changed[number] = Event(event.kind, event.seq, odd, {**event.data, "seconds": odd})
        html = page(changed)
        places = re.findall(r'x="([-\w.]+)%" width="([-\w.]+)%"', html)
        assert all(float(x) >= 0 and float(x) + float(w) <= 100.01 for x, w in places)


def test_a_page_that_is_served_asks_for_what_is_new_and_no_other_does() -> None:
    events = timed_events()
    assert "connect-src 'self'" in page(events, live=True)
    assert "connect-src" not in page(events)
    assert "fetch(" not in page(events)
    assert ">running<" in page(events[:-1], live=True)
    assert ">unfinished<" in page(events[:-1])


TIMELINE = """[...document.querySelectorAll('.timeline li')].map((row) => {
  const whole = row.querySelector('.spans').getBoundingClientRect();
  const bars = [...row.querySelectorAll('rect')].map((one) => one.getBoundingClientRect());
  const inside = bars.every((b) => b.left >= whole.left - 1 && b.right <= whole.right + 1);
  const part = (x) => Math.round(100 * (x - whole.left) / whole.width);
  return [row.dataset.of, part(bars[0].left), part(bars.at(-1).right), inside && bars[0].width > 1];
})"""
DRAWN = [
    ["question-1", 0, 25, True],
    ["r1", 25, 38, True],
    ["r2", 25, 75, True],
    ["question-2", 50, 63, True],
    ["r3", 75, 76, True],
    ["question-3", 75, 100, True],
]


@needs_chromium
async def test_in_a_browser_the_timeline_is_drawn_to_scale_in_four_looks(tmp_path: Path) -> None:
    source = tmp_path / "run.html"
    source.write_text(page(timed_events()), encoding="utf-8")
    async with open_tab() as tab:
        for width, dark in LOOKS:
            await tab.look(width, dark=dark)
            await tab.open(source.as_uri())
            assert await tab.run(WIDTH) <= width, "nothing is wider than the window"
            assert await tab.run(TIMELINE) == DRAWN
            assert await tab.run(CONTRAST) == []
            await tab.run("scrollTo(0, document.body.scrollHeight)")
            assert await tab.run(SUMMARY_TOP) == 0, "the summary stays in sight"
            assert await tab.run("scrollY") > 300
            assert len(await tab.picture()) > 20_000, "it is not blank"
        assert tab.problems == []


@needs_chromium
async def test_in_a_browser_the_filter_hides_and_a_link_shows_again(tmp_path: Path) -> None:
    source = tmp_path / "run.html"
    source.write_text(page(timed_events()), encoding="utf-8")
    async with open_tab() as tab:
        await tab.look(1280)
        await tab.open(source.as_uri())
        everything = await tab.run(SHOWN)
        assert len(everything) == 6
        assert await tab.run(CHOOSE % ("failure", "")) == ["r2"]
        assert await tab.run("document.querySelector('output').textContent") == "1 of 6 entries"
        rows = "[...document.querySelectorAll('[data-of]')].filter((r) => !r.hidden).length"
        assert await tab.run(rows) == 1, "the timeline follows the filter"
        assert await tab.run(CHOOSE % ("", "PROMPT OF BIND")) == ["question-1"]
        assert await tab.run(CHOOSE % ("question", "no such text")) == []
        await tab.run("document.querySelector('.failures a').focus()")
        await tab.press("Enter")
        await tab.until("location.hash === '#r2' && !document.getElementById('r2').hidden")
        assert await tab.run(SHOWN) == everything, "what a link leads to is never hidden"
        below = "document.getElementById('r2').getBoundingClientRect().top"
        summary = "document.getElementById('summary').getBoundingClientRect().bottom"
        assert await tab.run(f"{below} >= {summary}")
        assert await tab.run("document.querySelector('details.question').open") is False
        await tab.run("location.hash = 'question-1'")
        await tab.until("document.getElementById('question-1').open")
        assert tab.problems == []


@needs_chromium
async def test_in_a_browser_without_scripts_all_of_it_is_there(tmp_path: Path) -> None:
    source = tmp_path / "run.html"
    source.write_text(page(timed_events(), live=True), encoding="utf-8")
    async with open_tab() as tab:
        await tab.look(400, script=False)
        await tab.open(source.as_uri())
        assert await tab.run(TIMELINE) == DRAWN
        assert len(await tab.run(SHOWN)) == 6
        assert (
            await tab.run("getComputedStyle(document.getElementById('filter')).display") == "none"
        )
        assert await tab.run(WIDTH) <= 400


def test_what_was_corrected_in_an_answer_is_in_plain_view() -> None:
    edit = Edit("/statements/0/text", "05:11", "06:11", "answer.value")
    statement = Statement(
        "The sun rises at 06:11.", "mended", (Citation("r1", "06:11"),), ("05:11 is nowhere",)
    )
    trace = Trace()
    trace.add("run.start", query="When does the sun rise?", tools=[], model="m", strategy="layered")
    trace.add("answer", **to_json(Answer("The sun rises at 06:11.", (statement,), (), (edit,))))
    shown = page(trace.events)
    assert "Corrected: 05:11 → 06:11" in shown
    assert shown.index("Corrected:") < shown.index("What each statement rests on")
