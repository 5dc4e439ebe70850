from __future__ import annotations

import pytest

from callwright.nouns.types import ToolCall
from callwright.parsing import write_calls
from tests.parsing.reading import calls, found, one, rest

TWO = [ToolCall("1", "f", {"a": "<｜tool▁call▁end｜>"}), ToolCall("2", "g", {})]
V3, V31 = write_calls(TWO, "deepseek"), write_calls(TWO, "deepseek_v31")
BOTH = [("f", {"a": "<｜tool▁call▁end｜>"}), ("g", {})]


@pytest.mark.parametrize(("text", "dialect"), [(V3, "deepseek"), (V31, "deepseek_v31")])
def test_both_shapes_are_told_apart(text: str, dialect: str) -> None:
    assert calls(text) == BOTH
    assert {p.dialect for p in found(text)} == {dialect}
    assert rest(text) == ""


@pytest.mark.parametrize("text", [V3, V31])
@pytest.mark.parametrize(("bar", "low"), [("|", "▁"), ("|", "_"), ("｜", "_"), ("|", " ")])
def test_markers_in_plain_characters_are_markers_too(text: str, bar: str, low: str) -> None:
    plain = text.replace("｜", bar).replace("▁", low)
    assert [tool for tool, _ in calls(plain)] == ["f", "g"]


def test_the_outer_markers_and_the_fence_may_be_missing() -> None:
    assert calls('<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n{"a": 1}\n<｜tool▁call▁end｜>') == [
        ("f", {"a": 1})
    ]
    piece = one('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}')
    assert (piece.call.arguments, piece.problems) == ({"a": 1}, ("the closing marker is missing",))


def test_a_call_that_stops_is_truncated() -> None:
    piece = one(V3[: V3.index('"}') - 3])
    assert piece.truncated
    assert isinstance(piece.call.arguments, str)


@pytest.mark.parametrize(
    "text",
    [
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>\n\nwords",
        "<｜tool",
        "<｜tool▁call▁begin｜>f<｜tool▁sep｜>words",
    ],
)
def test_markers_without_a_call_are_text(text: str) -> None:
    assert rest(text) == text
