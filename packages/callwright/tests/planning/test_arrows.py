"""Plans as dependency strings over numbered tools: what is written is read back, and nothing else
is read.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.grammar import reduce_schema
from callwright.nouns.plan import Plan, Problem, Slot
from callwright.nouns.types import Tool
from callwright.planning.arrows import (
    build_question,
    build_schema,
    edges_by_tool,
    is_connected,
    number_lines,
    read_arrows,
    read_reply,
    render_tools,
    write_arrows,
    write_reply,
)

TOOLS = [Tool(name) for name in ("find", "look", "pay", "tell", "ask")]


def violations(wanted: dict[str, Any], value: object) -> list[str]:
    return [e.message for e in jsonschema_rs.validator_for(wanted).iter_errors(value)]


def plan_of(text: str) -> Plan:
    plan = read_arrows(text, TOOLS)
    assert isinstance(plan, Plan)
    return plan


def test_the_papers_form_is_read() -> None:
    plan = plan_of("1->2, 2->3, 2->4")
    assert [s.tool for s in plan.slots] == ["find", "look", "pay", "tell"]
    assert edges_by_tool(plan) == {("find", "look"), ("look", "pay"), ("look", "tell")}
    assert plan.problems([t.name for t in TOOLS]) == ()


@pytest.mark.parametrize(
    "text", ["1->2,2->3", " 1 -> 2 , 2 -> 3 ", "1->2->3", "2->3, 1->2, 1->2", "1->2, 2->3,"]
)
def test_spaces_chains_and_repetition_say_the_same(text: str) -> None:
    assert edges_by_tool(plan_of(text)) == {("find", "look"), ("look", "pay")}


def test_a_bare_number_is_a_tool_without_arrows() -> None:
    plan = plan_of("1->2, 4")
    assert {s.tool for s in plan.slots} == {"find", "look", "tell"}
    assert write_arrows(plan, TOOLS) == "1->2, 4"
    assert [s.tool for s in plan_of("3").slots] == ["pay"]


def test_calls_of_one_tool_after_each_other_are_no_edge_between_tools() -> None:
    slots = (
        Slot("find", "find"),
        Slot("find#2", "find", frozenset({"find"})),
        Slot("pay", "pay", frozenset({"find#2"})),
    )
    assert edges_by_tool(Plan(slots)) == {("find", "pay")}


@pytest.mark.parametrize(
    "text", ["", " ", ",", "find->look", "1->", "->2", "1-2", "1->2; 2->3", "1->2, 2->x", "1.2"]
)
def test_what_is_no_list_of_arrows_is_a_problem_of_syntax(text: str) -> None:
    found = read_arrows(text, TOOLS)
    assert isinstance(found, Problem)
    assert found.kind == "syntax"


def test_unknown_numbers_and_cycles_are_read_and_are_problems_of_the_plan() -> None:
    names = [t.name for t in TOOLS]
    assert [p.kind for p in plan_of("1->9").problems(names)] == ["unknown_tool"]
    assert [p.kind for p in plan_of("0->1").problems(names)] == ["unknown_tool"]
    assert [p.kind for p in plan_of("1->2, 2->1").problems(names)] == ["cycle"]
    assert [p.kind for p in plan_of("1->1").problems(names)] == ["cycle"]


@pytest.mark.parametrize(
    "reply",
    [
        '{"DAG": "1->2"}',
        '```json\n{\n    "DAG": "1->2"\n}\n```',
        '<think>first find</think>\n\n{"DAG": "1->2"}',
        '{"intent": "to look", "DAG": "1->2"}',
    ],
)
def test_a_reply_is_json_fenced_or_bare_with_thoughts_before_it(reply: str) -> None:
    assert read_reply(reply, TOOLS) == plan_of("1->2")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "```",
        "1->2",
        '["1->2"]',
        'So: {"DAG": "1->2"}',
        '{"DAG": "1->2"',
        '{"dag": "1->2"}',
        '{"DAG": ["1->2"]}',
        '{"DAG": ""}',
        "<think>{}",
    ],
)
def test_any_other_reply_is_a_problem_of_syntax(reply: str) -> None:
    found = read_reply(reply, TOOLS)
    assert isinstance(found, Problem)
    assert found.kind == "syntax"


def test_arrows_are_written_in_execution_order() -> None:
    plan = Plan.from_edges(
        ["tell", "find", "pay", "look"], [("pay", "tell"), ("look", "find"), ("find", "tell")]
    )
    assert write_arrows(plan, TOOLS) == "2->1, 3->4, 1->4"
    assert write_reply(plan, TOOLS) == '{"DAG": "2->1, 3->4, 1->4"}'


def test_a_plan_is_connected_if_its_arrows_join_all_of_it() -> None:
    assert is_connected(plan_of("1->2, 3->2"))
    assert is_connected(plan_of("3"))
    assert not is_connected(plan_of("1->2, 3"))
    assert not is_connected(plan_of("1->2, 3->4"))
    assert is_connected(plan_of("1->2, 2->1"))


def test_lines_are_numbered_from_one() -> None:
    assert number_lines(["a", "b"]) == "1. a\n2. b"


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    order = draw(st.permutations([t.name for t in TOOLS]))[: draw(st.integers(1, len(TOOLS)))]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return Plan.from_edges(
        order, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else ()
    )


@given(plans())
def test_what_is_written_is_read_back_whole(plan: Plan) -> None:
    back = read_reply(write_reply(plan, TOOLS), TOOLS)
    assert isinstance(back, Plan)
    assert edges_by_tool(back) == edges_by_tool(plan)
    assert {s.tool for s in back.slots} == {s.tool for s in plan.slots}
    assert write_arrows(back, TOOLS) == write_arrows(plan, TOOLS), "one graph has one written form"


@given(st.text(alphabet="0123456789->, x\n", max_size=30))
def test_reading_never_raises(text: str) -> None:
    assert isinstance(read_arrows(text, TOOLS), Plan | Problem)
    assert isinstance(read_reply(text, TOOLS), Plan | Problem)


@pytest.mark.parametrize("count", [1, 2, 4, 6, 7, 9, 10, 16, 17, 200])
def test_the_decoding_schema_takes_what_is_written_and_survives_the_reduction_for_decoders(
    count: int,
) -> None:
    made = build_schema(count, "intent")
    assert list(made["properties"]) == ["intent", "DAG"], "the thought comes before the arrows"
    assert reduce_schema(made)["properties"]["DAG"]["pattern"]
    right = [f"{count}", *([f"1->{count}", f"1->{count}, {count}"] if count > 1 else [])]
    assert all(violations(made, {"intent": "x", "DAG": text}) == [] for text in right)
    endless = ", ".join(["1"] * (max(count, count * (count - 1) // 2) + 1))
    for text in (
        "",
        "0",
        "1->",
        "1,2",
        "1->2->3",
        "x",
        *([endless] if count <= 9 else []),
        *(["1->1"] if 1 < count <= 6 else []),
    ):
        assert violations(made, {"intent": "x", "DAG": text})
    assert count > 16 or violations(made, {"intent": "x", "DAG": f"{count + 1}"})


def test_the_question_shows_numbered_tools_and_the_request() -> None:
    tool = Tool(
        "find_hotel",
        "Finds a hotel.\n" + "word " * 100,
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "stars": {}},
            "required": ["city"],
        },
        {"type": "object", "properties": {"hotel_id": {}}},
    )
    asked = build_question("A hotel in Oslo, please.", [tool, Tool("pay")])
    text = asked.messages[-1].content
    assert "1. find_hotel(city: string, stars?) -> hotel_id: Finds a hotel. word" in text
    assert "2. pay()" in text
    assert text.endswith("Request: A hotel in Oslo, please.")
    assert len(render_tools([tool]).splitlines()) == 1
    assert len(render_tools([tool])) < 300
