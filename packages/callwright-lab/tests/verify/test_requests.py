"""Requests are read in every form, with the tools that are offered for each; what cannot be read is
named.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.verify.requests import read_requests

CATALOGUE = (Tool("weather", "Weather."), Tool("rooms", "Rooms."))
TOOLBENCH = {
    "api_list": [
        {"category_name": "Data", "tool_name": "Car Data", "api_name": "Cars", "api_description": "cars",
         "required_parameters": [{"name": "page", "type": "NUMBER", "default": "0"}], "optional_parameters": []},
        {"category_name": "Data", "tool_name": "Car Data", "api_name": "Makes", "api_description": "makes",
         "required_parameters": [], "optional_parameters": []},
    ],
    "query": "List all cars.",
    "relevant APIs": [["Car Data", "Cars"], ["Car Data", "Gone"]],
    "query_id": 7,
}  # fmt: skip


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_a_row_names_its_tools_describes_them_or_is_offered_all(tmp_path: Path) -> None:
    described = {"type": "function", "function": {"name": "moon", "parameters": {"type": "object"}}}
    path = lines(
        tmp_path / "r.jsonl",
        {"id": "a", "query": "Rain in Oslo?", "tools": ["weather", "gone"], "needed": ["weather"]},
        {"query": "Moon?", "tools": [described, "rooms"]},
        {"query": "Anything?", "gold_calls": [{"tool": "rooms"}, {"tool": "moon"}]},
    )
    a, b, c = read_requests(path, CATALOGUE)
    assert (a.id, [t.name for t in a.tools], a.needed, a.unknown) == (
        "a",
        ["weather"],
        ("weather",),
        ("gone",),
    )
    assert (b.id, [t.name for t in b.tools], b.needed) == ("2", ["moon", "rooms"], ())
    assert ([t.name for t in c.tools], c.needed, c.unknown) == (
        ["weather", "rooms"],
        ("rooms",),
        ("moon",),
    )
    assert len({a.key, b.key, c.key}) == 3


def test_toolbenchs_files_bring_their_own_tools_and_say_which_are_needed(tmp_path: Path) -> None:
    (tmp_path / "G1.json").write_text(json.dumps([TOOLBENCH]))
    (one,) = read_requests(tmp_path)
    assert (one.id, one.group, one.query) == ("G1/7", "G1", "List all cars.")
    assert [t.name for t in one.tools] == ["cars_for_car_data", "makes_for_car_data"]
    assert (one.needed, one.unknown) == (("cars_for_car_data",), ("Car Data Gone",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]x", "is not JSON"),
        ('[{"id": 1}]', 'row 1 of .* has no text "query"'),
        ('["hello"]', "row 1"),
        ("[]", "there is no request in"),
        ('[{"query": "a", "tools": [{"description": "no name"}]}]', "row 1 .*name"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_requests(path)


def test_a_folder_without_requests_and_a_file_that_is_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no"):
        read_requests(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot read .*gone"):
        read_requests(tmp_path / "gone.json")


def test_the_line_that_is_no_json_is_named_and_a_byte_order_mark_is_passed_over(
    tmp_path: Path,
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('\ufeff{"query": "Which?"}\n\n{"query": \n')
    with pytest.raises(ConfigError, match=r"line 3 of .*rows\.jsonl is not JSON"):
        read_requests(file)
    file.write_text('\ufeff{"query": "Which?"}\n')
    assert [one.query for one in read_requests(file)] == ["Which?"]


def test_any_file_may_hold_lines_and_one_that_is_not_json_may_hold_text(tmp_path: Path) -> None:
    for name in ("rows.json", "rows.ndjson", "rows"):
        (tmp_path / name).write_text('{"query": "Which?"}\r\n{"query": "Who?"}\r\n')
        assert [one.query for one in read_requests(tmp_path / name)] == ["Which?", "Who?"]
    (tmp_path / "asked.txt").write_text('Which?\n\n{"query": "Who?", "id": "w"}\n')
    assert [(one.id, one.query) for one in read_requests(tmp_path / "asked.txt")] == [
        ("1", "Which?"),
        ("w", "Who?"),
    ]
    (tmp_path / "asked.txt").write_text('Which?\n{"query": \n')
    with pytest.raises(ConfigError, match=r"line 2 of .*asked\.txt is not JSON"):
        read_requests(tmp_path / "asked.txt")
