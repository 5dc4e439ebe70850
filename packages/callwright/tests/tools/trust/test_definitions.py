"""A changed definition is shown so that a person sees what changed, whatever stands in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.trust import escape_terminal_text, find_changes, render_changes
from callwright.tools.trust.definitions import WIDTH

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
DEFINITION = st.dictionaries(st.text(), JSON, max_size=4)


def test_a_new_tool_and_a_missing_one_are_no_change() -> None:
    assert find_changes({"a": {"x": 1}}, {"b": {"x": 2}}) == ()
    assert find_changes({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}) == ()
    assert [c.tool for c in find_changes({"a": {"x": 1}, "b": {}}, {"a": {"x": 2}, "b": {}})] == [
        "a"
    ]


def test_what_changed_is_shown_by_its_place_with_both_sides() -> None:
    before = {
        "description": "A. " * 40 + "Reads.",
        "inputSchema": {"properties": {"x": {"type": "string"}}},
    }
    after = {
        "description": "A. " * 40 + "Sends.",
        "inputSchema": {"properties": {"x": {"type": "string"}, "key": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    }
    assert render_changes(find_changes({"note": before}, {"note": after})) == [
        "note",
        "  /description",
        "    - …A. A. A. A. A. A. A. A. Reads.",
        "    + …A. A. A. A. A. A. A. A. Sends.",
        "  /inputSchema/properties/key/type",
        "    + string",
        "  /annotations/readOnlyHint",
        "    + true",
    ]


def test_what_is_left_out_is_counted() -> None:
    found = find_changes(
        {"t": {str(n): 0 for n in range(50)}}, {"t": {str(n): 1 for n in range(50)}}
    )
    shown = render_changes(found, 10)
    assert shown[10:] == ["… 141 more lines"]


@given(DEFINITION, DEFINITION)
def test_whatever_changed_is_shown_on_narrow_lines_that_steer_no_terminal(
    before: dict, after: dict
) -> None:  # type: ignore[type-arg]
    found = find_changes({"t": before}, {"t": after})
    lines = render_changes(found, 1_000_000)
    assert bool(lines) == bool(found)
    assert all(len(line) <= WIDTH and escape_terminal_text(line) == line for line in lines)
    if found:
        assert len(lines) > 1


def test_controls_and_turned_letters_are_escaped() -> None:
    assert (
        escape_terminal_text("a\x1b[2J\u202eb\n\tc\ud800  é中")
        == "a\\u001b[2J\\u202eb\\n\\tc\\ud800  é中"
    )
