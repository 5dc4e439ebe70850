from __future__ import annotations

import pytest

from callwright.nouns.types import Json
from callwright.parsing.formats.objects import read_object


@pytest.mark.parametrize(
    "value",
    [
        {"name": "f", "arguments": {"a": 1}},
        {"name": "f", "parameters": {"a": 1}},
        {"name": "f", "args": {"a": 1}, "id": "x"},
        {"tool": "f", "args": {"a": 1}},
        {"tool_name": "f", "tool_input": {"a": 1}},
        {"action": "f", "action_input": {"a": 1}},
        {"function": "f", "arguments": {"a": 1}},
        {"function": {"name": "f", "arguments": {"a": 1}}, "type": "function"},
        {"recipient_name": "functions.f", "parameters": {"a": 1}},
        {"tool_calls": [{"name": "f", "arguments": {"a": 1}}]},
        {"calls": [{"tool": "f", "arguments": {"a": 1}}]},
        [{"name": "f", "arguments": {"a": 1}}],
        {"f": {"a": 1}},
    ],
)
def test_every_spelling_of_a_call_is_the_same_call(value: Json) -> None:
    found = read_object(value, {"f"})
    assert found is not None
    assert [(c.tool, c.arguments) for c in found.calls] == [("f", {"a": 1})]


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ada"},
        {"name": "Ada", "age": 36},
        {"a": 1},
        [1, 2],
        [],
        [{"name": "f", "arguments": {}}, {"a": 1}],
        {"g": {"a": 1}},
        "f",
        None,
        {"tool_calls": [{"id": 1}]},
    ],
)
def test_other_values_mean_something_else(value: Json) -> None:
    assert read_object(value, {"f"}) is None


def test_a_known_name_alone_is_a_call_without_arguments() -> None:
    found = read_object({"name": "f"}, {"f"})
    assert found is not None
    assert [(c.tool, c.arguments) for c in found.calls] == [("f", {})]


@pytest.mark.parametrize(
    ("given", "after"), [('{"a": 1}', {"a": 1}), (None, {}), ([1], "[1]"), (5, "5"), ("x", "x")]
)
def test_arguments_that_hold_no_object_stay_for_the_gate_to_judge(given: Json, after: Json) -> None:
    found = read_object({"name": "f", "arguments": given})
    assert found is not None
    assert [(c.tool, c.arguments) for c in found.calls] == [("f", after)]


def test_an_empty_list_is_a_decision_and_its_reason_is_kept() -> None:
    found = read_object({"calls": [], "reason": "nothing fits"})
    assert found is not None
    assert (found.calls, found.reason) == ([], "nothing fits")
    found = read_object({"no_call": "nothing fits"})
    assert found is not None
    assert found.reason == "nothing fits"


def test_several_names_of_one_result_are_one_label() -> None:
    value = {"api_name": "f", "parameters": {}, "responses": ["API_call_0", "API_call_1"]}
    found = read_object(value, ["f"])
    assert found is not None
    assert found.calls[0].slot == "API_call_0 API_call_1"
