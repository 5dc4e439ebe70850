"""Which steps are explored, and what the learner is asked there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from callwright.nouns.trajectory import Step
from callwright.nouns.types import Reply, ToolCall
from callwright_lab.reflection.learner import (
    Point,
    build_learner_request,
    infer_form,
    parse_action,
    sample_points,
)


def test_points_are_chosen_by_chance_and_the_same_for_the_same_seed(world: Any) -> None:
    many = [replace(world.trajectory, id=f"t{n}") for n in range(40)]
    first = [(p.trajectory.id, p.at) for p in sample_points(many, 1, 7)]
    assert first == [(p.trajectory.id, p.at) for p in sample_points(many[::-1], 1, 7)][::-1]
    assert first != [(p.trajectory.id, p.at) for p in sample_points(many, 1, 8)]
    assert {at for _, at in first} == {0, 1}
    assert [p.at for p in sample_points(many[:1], 9, 0)] == [0, 1]


def test_only_rounds_that_came_back_well_are_points(world: Any) -> None:
    t = world.trajectory
    failed = replace(t, steps=(Step("", (ToolCall("x", "news", {}),)), Step("a thought"), *t.steps))
    assert [p.at for p in sample_points([failed], 9, 0)] == [2, 3]
    text = replace(t, steps=(replace(t.steps[0], calls=(ToolCall("c1", "find_airport", "Oslo"),)),))
    assert list(sample_points([text], 9, 0)) == []
    coded = replace(text, steps=(replace(text.steps[0], code="print(find_airport(city=c))"),))
    assert [p.at for p in sample_points([coded], 9, 0)] == [0], (
        "a program can be run to know what it calls"
    )
    assert list(sample_points([coded], 9, 0, "calls")) == []


def test_the_learner_sees_what_came_before_and_nothing_of_what_came_after(world: Any) -> None:
    request = build_learner_request(Point(world.trajectory, 1), "calls", "schema", 0.7, 3)
    text = "\n".join(m.content for m in request.messages)
    assert '"iata":"OSL"' in text
    assert "snow" not in text
    assert (request.temperature, request.seed, request.purpose) == (0.7, 3, "explore")
    assert request.schema is not None
    first = build_learner_request(Point(world.trajectory, 0), "calls", "text", 0.7, 3)
    assert "OSL" not in "\n".join(m.content for m in first.messages)


def test_a_program_is_asked_for_where_the_trajectory_has_programs(world: Any) -> None:
    t = world.trajectory
    coded = replace(
        t, steps=tuple(replace(s, code="print(find_airport(city='Oslo'))") for s in t.steps)
    )
    assert (infer_form(t), infer_form(coded)) == ("calls", "code")
    odd = replace(coded, tools=(replace(t.tools[0], name="find-airport"),))
    assert infer_form(odd) == "calls", "no program can call it"
    request = build_learner_request(Point(coded, 1), "code", "schema", 1.0, 0)
    assert request.schema is None
    assert [m.role for m in request.messages][-2:] == ["assistant", "user"]
    assert "<execute>" in request.messages[-2].content
    assert "OSL" in request.messages[-1].content


def test_a_reply_is_read_in_the_form_that_was_asked_for(world: Any) -> None:
    point = Point(world.trajectory, 1)
    native = Reply("", (ToolCall("z", "news", {"city": "Oslo"}),))
    assert [(c.id, c.tool) for c in parse_action(native, point, "calls", "native").calls] == [
        ("w1", "news")
    ]
    assert parse_action(Reply("{"), point, "calls", "schema").none
    two = (
        "<thought>t</thought><execute>a = news(city='Oslo')\nprint(forecast(iata='OSL',"
        " day=str(1)))</execute>"
    )
    made = parse_action(Reply(two), point, "code", "text")
    assert (made.thought, made.runs, made.calls, made.none) == ("t", True, (), "")
    assert "day=str(1)" in made.code
    plain = parse_action(
        Reply("<execute>print(news(city='Oslo'))</execute>"), point, "code", "text"
    )
    assert ([c.tool for c in plain.calls], plain.runs) == (["news"], False)
    assert parse_action(Reply("<final_answer>Cold.</final_answer>"), point, "code", "text").none
    half = Reply("<execute>print(news(city='Os", finish_reason="length")
    assert parse_action(half, point, "code", "text").none == "its reply was cut off"


def test_samples_that_say_the_same_are_one_action_however_they_are_written(world: Any) -> None:
    point = Point(world.trajectory, 1)

    def key(code: str) -> str:
        return parse_action(Reply(f"<execute>{code}</execute>"), point, "code", "text").key

    assert key("print(news(city='Oslo'))") == key('news( city = "Oslo" )')
    assert key("print(news(city='Oslo'))") != key("print(news(city='Rome'))")
    assert key("x = news(city=a)") != key("x = news(city=b)")
