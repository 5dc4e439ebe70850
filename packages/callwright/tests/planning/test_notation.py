"""Three ways of writing a plan, read into one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext import parse
from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Tool
from callwright.planning.notation import (
    numbered_steps,
    parse_steps,
    plan_of,
    read_plan,
    serialize_plan,
)

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def tool(name: str, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name, input_schema=schema)


TOOLS = (
    tool("find_place", city=TEXT),
    tool("sun_times", latitude=NUMBER, longitude=NUMBER),
    tool("list_notes"),
)
OSLO = Slot("find_place", "find_place", arguments={"city": "Oslo"})
SUN = Slot(
    "sun_times",
    "sun_times",
    frozenset({"find_place"}),
    arguments={"latitude": "${find_place.latitude}", "longitude": "${find_place.longitude}"},
)


@pytest.mark.parametrize(
    "text",
    [
        (
            '{"steps": [{"step": 1, "tool": "find_place", "after": [], "arguments": {"city":'
            ' "Oslo"}}, {"step": 2, "tool": "sun_times", "after": [1], "arguments": {"latitude":'
            ' "${1.latitude}", "longitude": "$1.longitude"}}]}'
        ),
        (
            'Here is the plan:\n```json\n[{"id": 1, "name": "find_place", "args": {"city":'
            ' "Oslo"}}, {"id": 2, "name": "sun_times", "args": {"latitude": "$1.latitude",'
            ' "longitude": "{{1.longitude}}"}}]\n```'
        ),
        (
            '1. find_place(city="Oslo")\n2. sun_times(latitude=$1.latitude,'
            ' longitude="$1.longitude")\n3. join()'
        ),
        (
            'Thought: first the place.\n1. find_place("Oslo")\n2. sun_times(${1.latitude},'
            " ${1.longitude})\n3. join()<END_OF_PLAN>"
        ),
        (
            '{"nodes": [{"id": "find_place", "tool": "find_place", "arguments": {"city": "Oslo"}},'
            ' {"id": "sun_times", "tool": "sun_times", "arguments": {"latitude":'
            ' "${find_place.latitude}", "longitude": "${find_place.longitude}"}}], "edges":'
            ' [["find_place", "sun_times"]]}'
        ),
    ],
    ids=["json", "fenced-list", "numbered", "positional", "graph"],
)
def test_one_plan_written_in_several_ways_is_one_plan(text: str) -> None:
    assert read_plan(text, TOOLS).slots == (OSLO, SUN)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ('{"DAG": "1->2, 2->3"}', [("find_place", "sun_times"), ("sun_times", "list_notes")]),
        ('```json\n{\n    "DAG": "2->1"\n}\n```', [("sun_times", "find_place")]),
        ("1->2, 1->3", [("find_place", "sun_times"), ("find_place", "list_notes")]),
        ("find_place -> sun_times", [("find_place", "sun_times")]),
        ("1 -> 2 -> 3", [("find_place", "sun_times"), ("sun_times", "list_notes")]),
        ("2", []),
        ("1, 3", []),
    ],
)
def test_the_papers_form_names_tools_by_their_places(
    text: str, edges: list[tuple[str, str]]
) -> None:
    plan = read_plan(text, TOOLS)
    assert [*plan.edges] == edges
    assert plan.problems(t.name for t in TOOLS) == ()
    assert {slot.arguments for slot in plan.slots} == {None}


def test_independent_steps_and_plans_of_one_step_or_none_are_sound() -> None:
    for text in ('{"steps": []}', "3", "1, 2", '{"steps": [{"tool": "list_notes"}]}', "1. join()"):
        assert read_plan(text, TOOLS).problems(t.name for t in TOOLS) == ()


def test_two_calls_of_one_tool_are_two_steps_and_references_know_which() -> None:
    text = (
        '1. find_place("Oslo")\n2. find_place("Rome")\n3. sun_times($2.latitude, $1.longitude)\n'
        '4. list_notes("between $1 and $2 for $20")\n'
    )
    notes = Tool("list_notes", input_schema={"type": "object", "properties": {"about": TEXT}})
    *_, sun, last = read_plan(text, (*TOOLS[:2], notes)).slots
    assert sun.arguments == {
        "latitude": "${find_place#2.latitude}",
        "longitude": "${find_place.longitude}",
    }
    assert last.arguments == {"about": "between ${find_place} and ${find_place#2} for $20"}
    assert sun.after == {"find_place", "find_place#2"}


def test_what_cannot_run_is_read_and_named() -> None:
    names = [t.name for t in TOOLS]
    for text, kind in [
        ("1->2, 2->1", "cycle"),
        ("1->9", "unknown_tool"),
        ('{"steps": [{"tool": "list_notes", "after": [7]}]}', "dangling"),
        ('{"steps": [{"tool": "list_notes", "arguments": {"x": "${7.y}"}}]}', "dangling"),
        (
            '{"steps": [{"id": "a", "tool": "list_notes"}, {"id": "a", "tool": "find_place"}]}',
            "duplicate",
        ),
        ('1. nowhere("x")\n2. join()', "unknown_tool"),
    ]:
        assert kind in {p.kind for p in read_plan(text, TOOLS).problems(names)}, text


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", '{"answer": 42}', "No call: nothing fits", "[]"]
)
def test_a_text_without_a_plan_is_refused_and_told_the_form(text: str) -> None:
    with pytest.raises(PlanError, match="steps"):
        read_plan(text, TOOLS)


def test_a_step_that_was_cut_off_is_left_out() -> None:
    text = (
        '{"steps": [{"tool": "list_notes", "after": []}, {"tool": "find_place", "arguments":'
        ' {"city": "Os'
    )
    assert [slot.tool for slot in read_plan(text, TOOLS).slots] == ["list_notes"]
    assert [s.tool for s in numbered_steps('1. list_notes()\n2. find_place(city="Os', TOOLS)] == [
        "list_notes"
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": [{"tool": "list_notes"}, {"tool": "find_place", "arguments": {"city": "Oslo"}}]',
        '1. list_notes()\n2. find_place(city="Oslo"\n',
    ],
)
def test_a_file_that_breaks_off_is_no_plan(text: str) -> None:
    """A bracket that was lost while it was edited left out a step, without a word."""
    with pytest.raises(PlanError, match="breaks off"):
        read_plan(text, TOOLS, is_whole=True)
    closed = text + ("}" if text.startswith("{") else ")")
    assert len(read_plan(closed, TOOLS, is_whole=True).slots) == 2


def test_no_arguments_for_a_tool_that_needs_some_are_left_open() -> None:
    plan = read_plan(
        '{"steps": [{"tool": "find_place", "arguments": {}}, {"tool": "list_notes"}]}', TOOLS
    )
    assert [slot.arguments for slot in plan.slots] == [None, None]
    assert read_plan("1. list_notes()", TOOLS).slots[0].arguments == {}


def test_what_a_user_says_a_step_comes_after_counts_and_not_the_edges_beside_it() -> None:
    value = serialize_plan(Plan((OSLO, SUN))) | {"edges": [["find_place", "sun_times"]]}
    value["steps"][1] |= {"after": [], "arguments": {"latitude": 1, "longitude": 2}}
    assert plan_of(value, TOOLS).edges == ()


IDS = st.lists(
    st.sampled_from(["a", "b.c", "d e", "find_place", "x#2", "y@1"]), unique=True, min_size=1
)
VALUES = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["$5", "${HOME} sweet", "{{x}} y", "$1,000"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text("kl", min_size=1, max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    slots: list[Slot] = []
    for id_ in draw(IDS):
        before = (
            draw(st.lists(st.sampled_from([s.id for s in slots]), unique=True)) if slots else []
        )
        arguments = draw(
            st.none() | st.dictionaries(st.text("mn", min_size=1, max_size=2), VALUES, max_size=2)
        )
        for number, other in enumerate(before if arguments is not None else ()):
            arguments[f"ref{number}"] = (
                "${" + other + draw(st.sampled_from(["", ".k", "[0].k", ".k[*].l"])) + "}"
            )
        reason = draw(st.sampled_from(["", "needs it"]))
        slots.append(Slot(id_, "list_notes", frozenset(before), reason, arguments=arguments))
    return Plan(tuple(slots))


@given(plans())
def test_a_plan_written_as_json_is_read_back_as_it_was(plan: Plan) -> None:
    assert plan.problems() == ()
    assert plan_of(parse(json.dumps(serialize_plan(plan))), TOOLS) == plan
    assert read_plan(json.dumps(serialize_plan(plan), indent=1), TOOLS) == plan


@given(st.text(max_size=300) | st.text('{}[]"1.>-(),$ \nfind_place', max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        plan = read_plan(text, TOOLS)
    except PlanError:
        return
    plan.problems(t.name for t in TOOLS)


@given(st.sampled_from([0, 1]), st.data())
def test_more_of_a_reply_adds_steps_and_changes_none(form: int, data: st.DataObject) -> None:
    whole = [
        (
            "1. find_place(\"a (b\")\n2. find_place(city='c) d')\n3. sun_times($1.latitude,"
            " ${2.x[0]})\n4. join()\n"
        ),
        (
            '{"steps": [{"step": 1, "tool": "find_place", "after": [], "arguments": {"city":'
            ' "}]"}}, {"step": 2, "tool": "sun_times", "after": [1], "arguments": {"latitude":'
            ' "${1.latitude}", "longitude": 2}}]}'
        ),
    ][form]
    steps = parse_steps(whole, TOOLS)
    cut = parse_steps(whole[: data.draw(st.integers(0, len(whole)))], TOOLS)
    assert cut == steps[: len(cut)]
    assert len(steps) == 3 - form
