"""ToolEval's answer files, cut as they are published, and ToolBench's own searches."""

from __future__ import annotations

from typing import Any

from callwright_lab.transcripts import FORMATS, Transcript, read_record, write
from callwright_lab.transcripts.tooleval import toolbench_tool
from tests.transcripts.trajectories import EXAMPLE

SPEC = {
    "name": "f",
    "description": "",
    "parameters": {"properties": {"q": {"type": "string"}}, "required": ["", "q"], "optional": []},
}
FINISH = {"name": "Finish", "parameters": {"properties": {}}}


def _nest(*nodes: tuple[str, str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for role, message in reversed(nodes):
        made = [{"role": role, "message": message, "next": made}]
    return made


def _record(*nodes: tuple[str, str], final: str = "") -> dict[str, Any]:
    details = _nest(("system", ""), ("user", "q…"), *nodes)
    answer = {
        "method": "CoT",
        "total_steps": len(nodes) + 1,
        "final_answer": final,
        "answer_details": details,
    }
    return {"query": "query", "available_tools": [SPEC, FINISH], "answer": answer}


def test_a_call_and_its_reply_stand_in_one_node_and_finish_is_the_ending() -> None:
    node = repr(
        {"name": "f", "arguments": '{"q": "x"}', "response": '{"error": "", "response": "y"}'}
    )
    ending = repr(
        {
            "name": "Finish",
            "arguments": '{"return_type": "give_answer", "final_answer": "Y."}',
            "response": "",
        }
    )
    t = read_record(_record(("assistant", "look"), ("tool", node), ("tool", ending),
                            final='{"return_type": "give_answer", "final_answer": "Y."}')).trajectory  # fmt: skip
    assert (t.query, t.answer, t.given_up, [tool.name for tool in t.tools]) == (
        "query",
        "Y.",
        False,
        ["f"],
    )
    assert (t.steps[0].thought, t.calls[0].arguments, t.results[0].content) == (
        "look",
        {"q": "x"},
        {"error": "", "response": "y"},
    )


def test_a_cut_message_keeps_what_is_whole_and_says_that_it_is_cut() -> None:
    node = repr(
        {
            "name": "f",
            "arguments": '{"q": "x"}',
            "response": '{"error": "", "response": "' + "y" * 90,
        }
    )[:100]
    torn = repr({"name": "f", "arguments": '{"q": "' + "x" * 100 + '"}', "response": ""})[:100]
    found = read_record(_record(("tool", node), ("tool", torn)))
    first, second = found.trajectory.calls
    assert (first.arguments, isinstance(second.arguments, str)) == ({"q": "x"}, True)
    assert (found.trajectory.results, found.cut) == ((), frozenset({0, 1}))


def test_giving_up_and_an_answer_without_a_call_of_finish_are_endings() -> None:
    up = read_record(_record(final='{"return_type": "give_up_and_restart"}')).trajectory
    assert (up.given_up, up.answer) == (True, None)
    assert read_record(_record(final="plain words")).trajectory.answer == "plain words"
    assert read_record(_record()).trajectory.answer is None


def test_required_names_without_a_parameter_are_dropped() -> None:
    assert toolbench_tool(SPEC).required == ("q",)


def test_parallel_calls_are_written_one_after_another() -> None:
    again = read_record(write(Transcript(EXAMPLE), FORMATS["tooleval"])).trajectory
    assert [len(s.calls) for s in again.steps] == [1, 1, 1]
    assert [c.tool for c in again.calls] == [c.tool for c in EXAMPLE.calls]


def test_a_search_is_its_last_chain_of_messages_or_the_branch_it_tried_last() -> None:
    chain = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "look",
            "function_call": {"name": "f", "arguments": '{"q": "x"}'},
        },
        {"role": "function", "name": "f", "content": '{"error": "", "response": "y"}'},
    ]
    generated = {
        "query": "q",
        "function": [SPEC, FINISH],
        "final_answer": '{"return_type": "give_up_and_restart"}',
    }
    t = read_record({"answer_generation": {**generated, "train_messages": [[], chain]}}).trajectory
    assert (t.steps[0].thought, t.results[0].content["response"], t.given_up) == ("look", "y", True)
    leaf = {
        "node_type": "Action Input",
        "description": '{"q": "x"}',
        "observation": "{}",
        "children": [],
    }
    tree = {"tree": {"children": [{"node_type": "Action", "description": "f", "children": [leaf]}]}}
    t = read_record({"answer_generation": generated, "tree": tree}).trajectory
    assert [(c.tool, c.arguments) for c in t.calls] == [("f", {"q": "x"})]
