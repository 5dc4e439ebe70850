"""What is known beyond the documentation is laid over a tool as it was written, adds no parameter,
takes none away, and is not laid over a tool that has changed since.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import READ, Tool
from callwright.tools.overlay import (
    KEYWORDS,
    Overlay,
    OverlayChange,
    ToolOverlay,
    apply_changes,
    documented,
)

WEATHER = Tool(
    "weather",
    "Weather.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "units": True},
        "required": ["city"],
    },
    effects=READ,
)
CHANGES = (
    OverlayChange("", "description", "The weather of a city.", "3 replies"),
    OverlayChange("city", "examples", ["Oslo", "Lima"], "2 calls answered"),
    OverlayChange("days", "maximum", 10, 'it said: "days must be at most 10"'),
    OverlayChange("days", "enum", ["1", "5"]),
    OverlayChange("units", "default", "metric"),
    OverlayChange("", "output_schema", {"type": "object"}),
)


def test_a_tool_is_offered_as_the_changes_say_and_the_tool_itself_is_not_touched() -> None:
    before = WEATHER.digest
    made = apply_changes(WEATHER, CHANGES)
    assert made.description == "The weather of a city."
    assert made.properties == {
        "city": {"type": "string", "examples": ["Oslo", "Lima"]},
        "days": {"type": "integer", "maximum": 10, "enum": [1, 5]},
        "units": {"default": "metric"},
    }
    assert (made.output_schema, made.required, made.effects) == (
        {"type": "object"},
        ("city",),
        READ,
    )
    assert replace(WEATHER).digest == before


@given(
    key=st.sampled_from(["", "city", "days", "units", "country"]),
    change=st.sampled_from(["forbid", "require", "output_schema", *KEYWORDS]),
    declared=st.booleans(),
)
def test_no_change_adds_a_parameter_or_takes_one_away_or_requires_one(
    key: str, change: Any, declared: bool
) -> None:
    tool = replace(WEATHER, output_schema={"type": "string"}) if declared else WEATHER
    try:
        made = apply_changes(tool, [OverlayChange(key, change, {})])
    except ConfigError:
        return
    assert (made.name, made.effects, made.required) == (tool.name, tool.effects, tool.required)
    assert made.properties.keys() == tool.properties.keys()
    assert not declared or made.output_schema == tool.output_schema, (
        "what is declared is not replaced"
    )


@pytest.mark.parametrize(
    ("change", "limit", "kept"),
    [("enum", ["a", "b"], True), ("enum", ["b"], False), ("pattern", "^a$", True), ("pattern", "^[0-9]+$", False),
     ("pattern", "(", True), ("minimum", 3, True)],
)  # fmt: skip
def test_a_default_and_examples_that_a_constraint_refuses_go(
    change: Any, limit: Any, kept: bool
) -> None:
    part = {"type": "string", "default": "a", "examples": ["a", "b", 7]}
    tool = Tool("t", "", {"type": "object", "properties": {"x": part}})
    made = apply_changes(tool, [OverlayChange("x", change, limit)]).properties["x"]
    assert ("default" in made) == kept
    assert ("a" in made.get("examples", ())) == kept


def test_a_file_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "weather.overlay.json"
    entry = ToolOverlay(
        documented(WEATHER), CHANGES, "alive", ("asks for 'country', which is not documented",)
    )
    laid = Overlay({"weather": entry}, {"by": "callwright verify apis"}, str(path))
    laid.write(path)
    assert Overlay.read(path) == laid
    assert list(tmp_path.iterdir()) == [path]


def test_a_tool_that_has_changed_since_is_left_alone_and_that_is_said() -> None:
    laid = Overlay({"weather": ToolOverlay(documented(WEATHER), CHANGES)}, name="w.json")
    other = Tool("moon", "Phase of the moon.")
    changed = replace(WEATHER, description="Weather, and snow.")
    made = laid.apply([WEATHER, other])
    assert (made.tools, made.fitting, made.problem) == (
        (apply_changes(WEATHER, CHANGES), other),
        laid.tools,
        "",
    )
    made = laid.apply([changed])
    assert (made.tools, made.fitting) == ((changed,), {})
    assert (
        made.problem
        == "w.json: nothing in it fits a tool here: 1 of a tool whose documentation has changed"
        " since (weather)"
    )
    returns = replace(WEATHER, output_schema={"type": "string"})
    made = laid.apply([returns])
    assert (made.tools, made.fitting) == ((returns,), {})
    assert "output_schema" in made.problem


def test_what_fits_no_tool_is_said_in_one_sentence_with_counts_and_three_names() -> None:
    there = [Tool(f"tool_{i}", "As it was.") for i in range(4)]
    entries = {tool.name: ToolOverlay(documented(tool)) for tool in there}
    laid = Overlay({**entries, **{f"gone_{i}": ToolOverlay("x") for i in range(5)}}, name="o.json")
    offered = [
        there[0],
        *(replace(tool, description="As it is.") for tool in there[1:3]),
        Tool("other"),
    ]
    made = laid.apply(offered)
    assert list(made.fitting) == ["tool_0"]
    assert (
        made.problem
        == "o.json: 8 of its 9 entries fit no tool here: 6 of tools that are not offered (tool_3,"
        " gone_0, gone_1 and 3 more), 2 of tools whose documentation has changed since (tool_1,"
        " tool_2)"
    )
    assert (
        Overlay({}, name="o.json").apply(offered).problem
        == "o.json: nothing in it fits a tool here: it is empty"
    )


def test_what_a_tool_does_and_returns_is_not_part_of_what_an_overlay_is_keyed_by() -> None:
    assert documented(replace(WEATHER, output_schema={}, source="elsewhere")) == documented(WEATHER)
    assert documented(replace(WEATHER, name="wetter")) != documented(WEATHER)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([], "no overlay"),
        ({"callwright_overlay": 2, "tools": {}}, "format 2"),
        ({"callwright_overlay": 1}, "no overlay"),
        ({"callwright_overlay": 1, "tools": {"w": []}}, "no tool's overlay"),
        ({"callwright_overlay": 1, "tools": {"w": {"changes": []}}}, "no tool's overlay"),
    ],
)
def test_what_is_no_overlay_is_refused_with_its_place(raw: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Overlay.of_json(raw)


@pytest.mark.parametrize(
    ("key", "change", "value"),
    [("city", "forbid", None), ("city", "require", None), ("", "type", "string"), ("", "output_schema", []),
     ("city", "type", "text"), ("city", "enum", []), ("days", "maximum", True), ("city", "output_schema", {}),
     ("city", "description", 5), ("city", "examples", "Oslo")],
)  # fmt: skip
def test_a_change_that_is_not_an_overlays_to_make_is_refused(
    key: str, change: str, value: Any
) -> None:
    one = {"key": key, "change": change, "value": value}
    with pytest.raises(ConfigError, match=f"o: w: .*{change}"):
        Overlay.of_json(
            {"callwright_overlay": 1, "tools": {"w": {"of": "x", "changes": [one]}}}, "o"
        )


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        Overlay.read(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(ConfigError, match="not JSON"):
        Overlay.read(tmp_path / "broken.json")


def test_it_is_written_into_a_folder_of_its_own_or_said(tmp_path: Path) -> None:
    Overlay({}).write(tmp_path / "deep" / "o.json")
    assert Overlay.read(tmp_path / "deep" / "o.json").tools == {}
    for path in (tmp_path / "deep", tmp_path / "deep" / "o.json" / "below.json"):
        with pytest.raises(ConfigError, match="cannot be written"):
            Overlay({}).write(path)


def test_a_file_may_say_what_a_tool_undoes() -> None:
    (change,) = (OverlayChange("", "compensates", "book_room"),)
    raw = Overlay({"weather": ToolOverlay(documented(WEATHER), (change,))}).to_json()
    (made,) = Overlay.of_json(raw).apply([WEATHER]).tools
    assert (made.compensates, made.input_schema) == ("book_room", WEATHER.input_schema)
    assert WEATHER.compensates == ""
    assert made.digest != WEATHER.digest == replace(made, compensates="").digest
    wrong = {"key": "", "change": "compensates", "value": 7}
    raw["tools"]["weather"] = {"of": documented(WEATHER), "changes": [wrong]}
    with pytest.raises(ConfigError, match="compensates"):
        Overlay.of_json(raw)
