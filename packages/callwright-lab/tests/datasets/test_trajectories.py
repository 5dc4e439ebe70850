"""What agents called, step by step: order, not dependency."""

from __future__ import annotations

import json
from pathlib import Path

from callwright.nouns.types import Tool
from callwright_lab.datasets.trajectories import (
    dta_example,
    read_stabletoolbench_runs,
    steps_example,
)

SYSTEM = (
    "You are AutoGPT, you can use many tools(functions) to do the following task.\nSpecifically,"
    " you have access to the following APIs: [{'name': 'find_for_shop', 'description': 'Finds',"
    " 'parameters': {'type': 'object', 'properties': {'q': {'type': 'string'}}, 'required': ['q',"
    " ''], 'optional': []}}, {'name': 'price_for_shop', 'description': 'Prices', 'parameters':"
    " {'type': 'object', 'properties': {}}}, {'name': 'spare_for_shop', 'description': '',"
    " 'parameters': {}}, {'name': 'Finish', 'description': 'ends', 'parameters': {}}]"
)


def dta_row(*turns: tuple[str, str]) -> dict[str, object]:
    told = [{"from": who, "value": text} for who, text in turns]
    return {
        "id": "how much is a kettle?",
        "conversations": [{"from": "system", "value": SYSTEM}, *told],
    }


def test_every_assistant_turn_of_dta_tool_is_one_layer_of_parallel_calls() -> None:
    row = dta_row(
        ("user", "\nhow much is a kettle?\nBegin!\n"),
        ("assistant", "Thought: look\nFunction Call: [{'name': 'find_for_shop', 'arguments': {'q': 'kettle'}}, "
                      "{'name': 'price_for_shop', 'arguments': {}}]"),
        ("function", "{}"),
        ("function", "{}"),
        ("assistant", 'Thought: done\nFunction Call: [{"name": "Finish", "arguments": {}}]'),
    )  # fmt: skip
    made = dta_example("dta-0", row)
    assert made is not None
    assert made.kind == "sequence"
    assert made.query == "how much is a kettle?"
    assert made.layers == {"find_for_shop": 0, "price_for_shop": 0}
    assert {t.name for t in made.tools} == {"find_for_shop", "price_for_shop", "spare_for_shop"}
    assert {t.name: t.required for t in made.tools}["find_for_shop"] == ("q",)


def test_a_later_turn_is_a_later_layer_and_an_unreadable_one_is_skipped() -> None:
    row = dta_row(
        ("user", "q"),
        ("assistant", "Thought: a\nFunction Call: [{'name': 'find_for_shop', 'arguments': {}}]"),
        ("assistant", "Function Call: [{'name': broken"),
        ("assistant", "Thought: b\nFunction Call: {'name': 'price_for_shop', 'arguments': {}}"),
    )
    made = dta_example("dta-1", row)
    assert made is not None
    assert made.layers == {"find_for_shop": 0, "price_for_shop": 1}


def test_a_trajectory_without_calls_is_no_example() -> None:
    assert (
        dta_example("dta-2", dta_row(("user", "q"), ("assistant", "I give up and restart"))) is None
    )
    assert steps_example("x", "s", "q", [Tool("a")], [["Finish"], ["unknown"]]) is None


def test_a_tool_called_again_later_keeps_its_first_step() -> None:
    made = steps_example("x", "s", "q", [Tool("a"), Tool("b")], [["a"], ["b"], ["a"]])
    assert made is not None
    assert made.layers == {"a": 0, "b": 1}
    assert made.several == {"a"}


def test_react_runs_are_read_in_the_order_of_their_calls(tmp_path: Path) -> None:
    def node(role: str, message: str, *after: object) -> dict[str, object]:
        return {"role": role, "message": message, "next": list(after)}

    last = node("tool", "{'name': 'b_for_x', 'arguments': '{}', 'resp")
    first = node("tool", "{'name': 'a_for_x', 'arguments': '{}', 'response': '{\"error\": ", last)
    run = {
        "query": "q",
        "available_tools": [
            {"name": n, "parameters": {}} for n in ("b_for_x", "a_for_x", "c_for_x", "Finish")
        ],
        "answer": {"answer_details": [node("system", "", node("user", "q", first))]},
    }
    folder = tmp_path / "stabletoolbench" / "gpt35_react_runs"
    folder.mkdir(parents=True)
    for part in ("G1_category", "G1_instruction", "G1_tool", "G2_instruction"):
        (folder / f"{part}.json").write_text(json.dumps({"1": run} if part == "G1_tool" else {}))
    (made,) = read_stabletoolbench_runs(tmp_path)
    assert made.layers == {"a_for_x": 0, "b_for_x": 1}
    assert len(made.tools) == 3


def test_calls_are_read_as_json_and_as_python_and_nothing_is_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    written = [
        '[{"name": "find_for_shop", "arguments": {"all": true}}]',
        "[{'name': 'find_for_shop', 'arguments': {'all': True}}]",
        f"[{{'name': 'find_for_shop', 'arguments': __import__('os').mkdir({str(made)!r})}}]",
    ]
    found = [
        dta_example("x", dta_row(("user", "q"), ("assistant", f"Function Call: {call}")))
        for call in written
    ]
    assert [one is not None for one in found] == [True, True, False]
    assert not made.exists()
