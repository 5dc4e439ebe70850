"""A plan asked of a model: sent back while it is unsound, a few times; its sound part taken in the
end.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.grammar import reduce_schema
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, Tool
from callwright.planning.dag import (
    ROUNDS,
    Asked,
    Draft,
    build_question,
    keep_sound_part,
    plan_dialogue,
    plan_schema,
)
from callwright.schema.compiled import compiled_for

TOOLS = tuple(
    Tool(
        name,
        input_schema={"type": "object", "properties": {"x": {"type": kind}}, "required": ["x"]},
    )
    for name, kind in (("find", "string"), ("count", "integer"))
)
ASKED = Asked("How many?", TOOLS, "- find(x: string)\n- count(x: integer)")
SOUND = '{"steps": [{"step": 1, "tool": "find", "after": [], "arguments": {"x": "a"}}]}'


def played(
    *replies: str, asked: Asked = ASKED, rounds: int = ROUNDS
) -> tuple[Draft, list[ChatRequest]]:
    dialogue, asked_for = plan_dialogue(asked, rounds), []
    try:
        request = next(dialogue)
        for reply in replies:
            asked_for.append(request)
            request = dialogue.send(Reply(reply))
    except StopIteration as done:
        return done.value, asked_for
    raise AssertionError("it asks once more")


def test_a_sound_plan_is_one_question() -> None:
    draft, requests = played(SOUND)
    assert draft == Draft(Plan((Slot("find", "find", arguments={"x": "a"}),)))
    assert [r.purpose for r in requests] == ["plan"]


def test_what_is_wrong_is_sent_back_with_the_reply_and_the_whole_plan_is_asked_for_again() -> None:
    draft, (first, second) = played('{"steps": [{"tool": "seek"}]}', SOUND)
    assert [slot.tool for slot in draft.plan.slots] == ["find"] if draft.plan else False
    assert second.messages[: len(first.messages)] == first.messages
    assert [m.role for m in second.messages[len(first.messages) :]] == ["assistant", "user"]
    assert "there is no tool 'seek'; the tools are find, count" in second.messages[-1].content


def test_a_circle_a_dangling_reference_and_a_text_without_a_plan_are_sent_back() -> None:
    for wrong, told in [
        ("1->2, 2->1", "wait for each other"),
        ('{"steps": [{"tool": "find", "arguments": {"x": "${8.y}"}}]}', "there is no such step"),
        ("I would search first.", "no plan"),
    ]:
        draft, requests = played(wrong, SOUND)
        assert told in requests[1].messages[-1].content
        assert draft.problems == ()


def test_independent_steps_and_an_empty_plan_are_never_sent_back() -> None:
    for text in ('{"steps": []}', "1, 2", "2"):
        draft, requests = played(text)
        assert (draft.problems, len(requests)) == ((), 1)


def test_it_is_sent_back_a_bounded_number_of_times_and_the_sound_part_is_taken() -> None:
    wrong = (
        '{"steps": [{"step": 1, "tool": "seek"}, {"step": 2, "tool": "find", "after": [1],'
        ' "arguments": {"x": "a"}}]}'
    )
    draft, requests = played(*[wrong] * (ROUNDS + 1))
    assert len(requests) == ROUNDS + 1
    assert draft.plan == Plan((Slot("find", "find", arguments={"x": "a"}),))
    assert draft.problems


def test_replies_that_never_hold_a_plan_end_without_one() -> None:
    draft, _ = played(*["no"] * (ROUNDS + 1))
    assert draft.plan is None


def test_a_later_plan_may_refer_to_steps_that_have_finished() -> None:
    text = '{"steps": [{"tool": "count", "arguments": {"x": "${find.n}"}}]}'
    draft, _ = played(text, asked=Asked("q", TOOLS, "", finished=frozenset({"find"})))
    assert draft.plan is not None
    assert draft.plan.slots[0].arguments == {"x": "${find.n}"}


def test_the_question_holds_tools_request_what_is_known_and_the_conversation() -> None:
    asked = Asked(
        "How many?", TOOLS, "- find(x)", known="An order", conversation=(Message("user", "before"),)
    )
    schema, text = (
        build_question(asked),
        build_question(Asked("How many?", TOOLS, "- find(x)", mode="native")),
    )
    assert [m.role for m in schema.messages] == ["system", "user", "user"]
    assert all(
        part in schema.messages[-1].content
        for part in ("- find(x)", "An order", "How many?", "JSON")
    )
    assert schema.schema is not None
    assert text.schema is None
    assert not text.tools
    assert "join()" in text.messages[-1].content


def test_the_decoding_schema_takes_values_and_references_of_known_tools_and_nothing_else() -> None:
    schema = compiled_for(Tool("plan", input_schema=plan_schema(TOOLS)))
    assert "pattern" in str(reduce_schema(plan_schema(TOOLS))), (
        "decoders keep the form of a reference"
    )

    def takes(tool: str, x: object) -> bool:
        return schema.accepts(
            {"steps": [{"step": 1, "tool": tool, "after": [], "arguments": {"x": x}}]}
        )

    assert takes("find", "any text, ${1.a} too")
    assert takes("count", 3)
    assert takes("count", "${1.items[0].n}")
    assert not takes("count", "three")
    assert not takes("seek", "x")


@pytest.mark.parametrize("narrow", [{"anyOf": [{"const": "a"}]}, {"not": {"const": "b"}}])
def test_a_text_that_takes_few_values_may_be_a_reference_instead(narrow: dict[str, Any]) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string", "minLength": 1, **narrow}}}
    schema = plan_schema([Tool("pick", "", inner)])
    (step,) = schema["properties"]["steps"]["items"]["anyOf"]
    assert "pattern" in step["properties"]["arguments"]["properties"]["x"]["anyOf"][1]


SLOTS = st.lists(
    st.builds(
        lambda id_, tool, after, ref: Slot(
            id_, tool, frozenset(after), arguments={"x": "${" + ref + ".k}"} if ref else None
        ),
        st.sampled_from("abcd"),
        st.sampled_from(["find", "count", "seek"]),
        st.lists(st.sampled_from("abcdz"), max_size=3),
        st.sampled_from(["", "a", "b", "z"]),
    ),
    max_size=6,
)


@given(SLOTS)
def test_the_sound_part_of_any_plan_is_sound_and_of_a_sound_plan_all_of_it(
    slots: list[Slot],
) -> None:
    plan = Plan(tuple(slots)).wired()
    part = keep_sound_part(plan, {"find", "count"})
    assert part.problems(["find", "count"]) == ()
    if not plan.problems(["find", "count"]):
        assert part == plan


@given(SLOTS, st.sets(st.sampled_from("abz")))
def test_the_sound_part_of_any_plan_goes_on_behind_what_has_finished(
    slots: list[Slot], finished: set[str]
) -> None:
    before = Plan(tuple(Slot(id_, "find") for id_ in sorted(finished)))
    part = keep_sound_part(Plan(tuple(slots)).wired(), {"find", "count"}, finished)
    assert before.revised(finished, part).problems(["find", "count"]) == ()


def test_a_step_that_refers_to_itself_does_not_mean_an_earlier_one_of_its_name() -> None:
    again = Plan((Slot("find", "find", frozenset({"find"}), arguments={"x": "${find.k}"}),))
    (slot,) = keep_sound_part(again, {"find"}, {"find"}).slots
    assert (slot.after, slot.arguments) == (frozenset(), None)


def test_a_step_behind_a_cycle_is_none_of_it_and_still_waits() -> None:
    """It was named among those that wait for each other, and lost what it waited for."""
    last = Slot("c", "count", frozenset("a"), arguments={"x": "${a.v}"})
    first, second = Slot("a", "find", frozenset("b")), Slot("b", "find", frozenset("a"))
    plan = Plan((last, first, second))
    assert [p.slots for p in plan.problems()] == [("a", "b")]
    assert keep_sound_part(plan, {"find", "count"}).slots[0] == last
