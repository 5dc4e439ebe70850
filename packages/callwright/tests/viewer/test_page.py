"""The run page shows the plan and every call raw, edited and executed; nothing in a run can break
out of it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
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
    assert not {"script", "img", "iframe", "link"} & set(tags.tags)
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
    assert drawn > 100


@given(st.integers(0, 14))
def test_a_trace_cut_short_anywhere_still_gives_a_page(keep: int) -> None:
    assert "<h1>" in page(run_events()[:keep])


@pytest.mark.skipif(
    not (shutil.which("chromium") or shutil.which("google-chrome")),
    reason="no headless Chromium on this machine",
)
def test_chromium_renders_the_plan_and_the_calls(tmp_path: Path) -> None:
    """Real layout in a real browser: the graph's boxes do not overlap and the screenshot is not
    blank.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser is not None
    source, picture = tmp_path / "run.html", tmp_path / "run.png"
    source.write_text(page(run_events()), encoding="utf-8")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--hide-scrollbars",
    ]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command = [browser, *flags, f"--user-data-dir={tmp_path}/profile", "--window-size=1200,1400"]
    subprocess.run(
        [*command, f"--screenshot={picture}", source.as_uri()],
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert picture.stat().st_size > 20_000


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
