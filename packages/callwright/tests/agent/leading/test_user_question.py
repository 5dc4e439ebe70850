"""A question to the user names what is missing; small talk is answered."""

from __future__ import annotations

import pytest

from callwright.agent.leading.user_question import (
    QUESTION,
    QUESTION_OR_REPLY,
    UserQuestion,
)
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import Tool, ToolCall

QUANTITY = {"type": "integer", "description": "Pieces to order."}
PARAMETERS = {
    "type": "object",
    "properties": {"part": {"type": "string"}, "quantity": QUANTITY},
    "required": ["part", "quantity"],
}
ORDER = Tool("create_order", "Orders a part.", PARAMETERS)
HELD = [
    HeldCall(
        ToolCall("c1", "create_order", {"part": "A-100", "quantity": 7}),
        "unstated_value",
        "nothing states 7",
        missing=("quantity",),
    )
]
VAGUE, CLEAR = '{"question": "Could you tell me more?"}', '{"question": "How many pieces?"}'


def asked(text: str) -> UserQuestion:
    return UserQuestion.build(HELD, [ORDER], text, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Please order some of the A-100 for us.", True), ("Good morning! How are you?", False)],
)
def test_where_the_message_is_a_request_only_a_question_is_let_through(
    text: str, expected: bool
) -> None:
    assert asked(text).is_request is expected
    assert asked(text).schema == (QUESTION if expected else QUESTION_OR_REPLY)


@pytest.mark.parametrize(
    ("text", "reply", "told"),
    [
        (
            "Please order some of the A-100 for us.",
            VAGUE,
            "Could you tell me more?\n- quantity (Pieces to order.)",
        ),
        ("Please order some of the A-100 for us.", CLEAR, "How many pieces?"),
        ("Bestelle uns bitte noch ein paar von den A-100.", VAGUE, "Could you tell me more?"),
        ("Good morning! How are you?", '{"reply": "Fine, and you?"}', "Fine, and you?"),
        ("Please order some of the A-100 for us.", "How many?", "How many?\n- quantity"),
        ("Please order some of the A-100 for us.", '{"question": 5}', ""),
    ],
)
def test_what_a_question_does_not_name_follows_it(text: str, reply: str, told: str) -> None:
    said = asked(text).read_reply(reply)
    assert said.startswith(told) if told.endswith("quantity") else said == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Which lamps are on?", "Should this be done as well: create_order(part: A-100)?"),
        (
            "Welche Lampen sind gerade an?",
            "Soll das auch ausgeführt werden: create_order(part: A-100)?",
        ),
        ("哪些灯亮着？", "还要执行以下操作吗：create_order(part: A-100)？"),
    ],
)
def test_a_write_that_may_not_be_asked_for_is_asked_about_in_fixed_words(
    text: str, told: str
) -> None:
    call = ToolCall("c", "create_order", {"part": "A-100"})
    doubted = HeldCall(call, "unasked_write", "the request may not ask for it")
    question = UserQuestion.build([doubted], [ORDER], text, [])
    assert (question.fixed_text, question.open) == (told, ())
    both = UserQuestion.build([*HELD, doubted], [ORDER], text, [])
    assert [one.rule for one in both.open] == ["unstated_value"]
    assert both.read_reply(CLEAR) == f"How many pieces?\n{told}"


def test_of_two_records_the_user_is_asked_which_is_meant() -> None:
    call = ToolCall("c", "create_order", {"part": "A-100"})
    records = ('{"id":"V-2"}', '{"id":"V-3"}')
    other = HeldCall(call, "other_record", "not called", missing=("part",), records=records)
    question = UserQuestion.build([other], [ORDER], "Lösche bitte den Termin.", [])
    assert question.fixed_text == 'Was ist bei create_order gemeint: {"id":"V-2"}; {"id":"V-3"}?'
    assert question.open == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Please order some A-100.", "Which values are meant for create_order: quantity"),
        ("Bestelle uns bitte noch ein paar.", "Welche Werte sind für create_order gemeint: "),
        ("Pide algunas piezas más, por favor.", "¿Qué valores se quieren para create_order: "),
        ("请再订购一些。", "create_order 需要哪些值：quantity"),
        ("اطلب بعض القطع الأخرى من فضلك", "ما القيم المطلوبة من أجل create_order: quantity"),
    ],
)
def test_for_want_of_the_models_words_the_user_is_asked_in_fixed_ones(text: str, told: str) -> None:
    assert asked(text).in_fixed_words.startswith(told)
    assert asked(text).in_fixed_words.endswith(("?", "？", "؟"))
