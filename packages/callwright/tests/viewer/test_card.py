"""The card of a run in a notebook: what it shows, and that texts of others stay texts."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from callwright import Orchestrator, TypedRun
from callwright.nouns.errors import Failure
from callwright.nouns.types import READ_LOCAL, Answer, ToolResult
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.viewer.card import render_card

OWN = {"div", "b", "p", "details", "summary", "ul", "li", "code"}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)


@given(st.text(), st.text())
def test_no_text_of_a_model_or_a_tool_is_markup(text: str, more: str) -> None:
    attack = f"<script>{text}</script><img src=x onerror={more}>"
    results = (
        ToolResult("r1", attack, {attack: attack}, {attack: attack}),
        ToolResult("r2", "t", {}, None, Failure("tool_error", attack)),
    )
    card = render_card(attack, Answer(attack), results, {})
    seen = Tags()
    seen.feed(card)
    assert seen.tags == OWN
    assert "<script" not in card


async def test_a_run_shows_its_outcome_answer_calls_and_repairs() -> None:
    tool = FakeTool("people", {"year": {"type": "integer"}}, output=7, effects=READ_LOCAL)
    script = {
        "bind": {"calls": [{"tool": "people", "arguments": {"year": "2026"}}], "later": []},
        "answer": {"statements": [{"text": "7 people.", "results": ["r1"]}], "missing": []},
        "answer.output": {"value": 7},
    }
    made = Orchestrator([fake_source(tool)], model=ScriptedModel(script))
    done = await made.run("How many people in 2026?", output_type=int)
    assert isinstance(done, TypedRun)
    card = done._repr_html_()
    for part in (
        "answered",
        "7 people.",
        "1 calls, 1 edits, 0 repairs",
        "people {&quot;year&quot;:2026}",
    ):
        assert part in card


def test_long_values_are_cut() -> None:
    card = render_card("answered", Answer("x"), (ToolResult("r1", "t", {}, "y" * 5000),), {})
    assert len(card) < 1000
