from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.broken_tools.nested import Nested, NestedWorld, read_nested

TEXT = {"type": "str", "description": "a name"}
FIND = {
    "api_name": "find_dance_partner",
    "api_description": "Find a partner.",
    "parameters": {"age": {"type": "int", "description": "years"}, "city": TEXT},
    "required": ["age"],
    "responses": {"partner": TEXT, "score": {"type": "float", "description": "how well it fits"}},
}
TEACH = {
    "api_name": "teach",
    "api_description": "Teach a dance.",
    "parameters": {
        "partner": TEXT,
        "style": TEXT,
        "indoors": {"type": "bool", "description": "under a roof"},
    },
    "required": ["style", "indoors"],
    "responses": {"steps": TEXT},
}
CALLS = [
    {
        "api_name": "find_dance_partner",
        "parameters": {"age": 28, "city": "Oslo"},
        "responses": ["API_call_0", "API_call_1"],
    },
    {
        "api_name": "teach",
        "parameters": {"partner": "API_call_0", "style": "salsa", "indoors": True},
        "responses": ["API_call_2"],
    },
]


def read(folder: Path, *rows: object, taken: frozenset[str] = frozenset()) -> NestedWorld:
    (folder / "nestools").mkdir()
    (folder / "nestools" / "test_data.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    return read_nested(folder, taken)


def row(number: int = 1, calls: object = CALLS) -> dict[str, object]:
    return {
        "test_id": number,
        "task": "Find me a partner and teach us. ",
        "api": [FIND, TEACH],
        "call": calls,
    }


def only(world: NestedWorld) -> Nested:
    (request,) = world.requests
    return request


def test_what_a_tool_gives_is_what_the_next_one_takes_and_nothing_else_is(tmp_path: Path) -> None:
    world = read(tmp_path, row())
    request, api = only(world), world.apis[0]
    first, second = request.calls.values()
    status, told = api.answer("/find_dance_partner", {"age": first["age"]}, {})  # type: ignore[dict-item]
    assert status == 200
    assert second["partner"] in json.dumps(told)
    assert api.answer("/teach", dict(second), {})[0] == 200  # type: ignore[arg-type]
    made_up = api.answer("/teach", {**second, "partner": "Mary"}, {})  # type: ignore[dict-item]
    assert made_up[0] == 404 or made_up == (200, {"data": None})
    assert request.layers == {"find_dance_partner": 0, "teach": 1}
    assert request.text == "Find me a partner and teach us."


def test_optional_inputs_are_left_out_unless_another_tool_gives_them(tmp_path: Path) -> None:
    first, second = only(read(tmp_path, row())).calls.values()
    assert first == {"age": "28"}
    assert second.keys() == {"partner", "style", "indoors"}


def test_a_twin_gives_the_same_under_a_name_and_a_description_of_its_own(tmp_path: Path) -> None:
    world = read(tmp_path, row())
    assert world.families["nested.find_dance_partner"] == (
        "find_dance_partner",
        "dance_partner_find",
    )
    own, twin = (world.operations[name] for name in world.families["nested.teach"])
    assert (own.about, twin.about) == ("Teach a dance.", "Gives a name.")
    assert own.takes == twin.takes


def test_requests_that_pass_nothing_on_or_share_a_tool_with_another_are_left_out(
    tmp_path: Path,
) -> None:
    plain = [CALLS[0], {**CALLS[1], "parameters": {"style": "salsa", "indoors": True}}]
    world = read(tmp_path, row(1, plain), row(2), row(3))
    assert only(world).id == "nested-2"


def test_tools_whose_name_is_taken_are_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, row(), taken=frozenset({"teach"})).requests == ()


def test_without_the_file_it_is_said_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as told:
        read_nested(tmp_path, frozenset())
    assert "NesTools" in str(told.value.hint)
